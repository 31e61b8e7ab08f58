// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

// maxColumns and maxSpan keep a small table with large spans from growing into
// gigabytes; both are above what a table that people read uses. A wider one is
// written cell by cell.
const (
	maxColumns = 400
	maxSpan    = 64
)

// cell is one cell of a table, or the place that a spanned one covers.
type cell struct {
	node int32 // none for a covered place
	head bool
}

type row struct {
	cells []cell
	head  bool // in thead
}

// grid is a table as rows of cells, with the other things found in it.
type grid struct {
	rows    []row
	caption int32
	others  []int32 // what browsers move before the table
	columns int
	headed  bool // has a header cell somewhere
}

func (w *writer) table(i int32, c context) {
	if w.mode != inParagraph {
		w.flatTable(i, c)
		return
	}
	w.flush()
	g := readGrid(w.t, i)
	for _, o := range g.others {
		w.walk(o, c)
	}
	w.flush()
	switch {
	case w.codeTable(i, g):
	case len(g.rows) == 0 || g.columns == 0:
		w.caption(g, c)
	case w.isLayout(i, g):
		w.caption(g, c)
		w.unfold(g, c)
	default:
		w.caption(g, c)
		w.pipes(g, c)
	}
}

func (w *writer) caption(g *grid, c context) {
	if g.caption != none {
		w.remember(g.caption)
		w.box(g.caption, c)
	}
}

// readGrid lays the cells of a table out in rows and columns (WHATWG 4.9.12):
// a spanned cell stands in its first place, the rest of its places stay empty.
func readGrid(t *tree, i int32) *grid {
	g := &grid{caption: none}
	var below []int // rows that a cell of an earlier row still covers, by column
	g.section(t, i, false, &below, 0)
	// Columns that no cell begins in are only the reach of a wide one.
	for _, r := range g.rows {
		for at, c := range r.cells {
			if c.node != none {
				g.columns = max(g.columns, at+1)
			}
		}
	}
	for k := range g.rows {
		g.rows[k].cells = g.rows[k].cells[:min(len(g.rows[k].cells), g.columns)]
	}
	return g
}

func (g *grid) section(t *tree, i int32, head bool, below *[]int, depth int) {
	var loose []int32 // cells without a row
	for ch := t.nodes[i].first; ch != none; ch = t.nodes[ch].next {
		n := t.node(ch)
		if n.mark&(markHidden|markLeftOut) != 0 {
			continue
		}
		switch n.tag {
		case atom.Tr:
			g.row(t, ch, cellsOf(t, ch), head, below)
		case atom.Thead, atom.Tbody, atom.Tfoot:
			*below = (*below)[:0]
			if depth == 0 {
				g.section(t, ch, n.tag == atom.Thead, below, 1)
			}
		case atom.Caption:
			g.caption = ch
		case atom.Td, atom.Th:
			loose = append(loose, ch)
		default:
			if n.mark&markText != 0 {
				g.others = append(g.others, ch)
			}
		}
	}
	if len(loose) > 0 {
		g.row(t, i, loose, head, below)
	}
}

func cellsOf(t *tree, tr int32) (cells []int32) {
	for ch := t.nodes[tr].first; ch != none; ch = t.nodes[ch].next {
		n := t.node(ch)
		if n.mark&(markHidden|markLeftOut) == 0 && (n.tag == atom.Td || n.tag == atom.Th || n.mark&markText != 0) {
			cells = append(cells, ch)
		}
	}
	return cells
}

func (g *grid) row(t *tree, tr int32, cells []int32, head bool, below *[]int) {
	r := row{head: head}
	fill := func() { // places covered from above
		for len(r.cells) < len(*below) && (*below)[len(r.cells)] > 0 {
			(*below)[len(r.cells)]--
			r.cells = append(r.cells, cell{node: none})
		}
	}
	for _, ch := range cells {
		fill()
		isHead := t.is(ch, atom.Th)
		g.headed = g.headed || isHead || head
		wide, tall := span(t, ch, keyColspan), span(t, ch, keyRowspan)
		for k := 0; k == 0 || k < wide && len(r.cells) < maxColumns; k++ {
			at := len(r.cells)
			for len(*below) <= at {
				*below = append(*below, 0)
			}
			(*below)[at] = tall - 1
			covered := cell{node: none, head: isHead}
			if k == 0 {
				covered.node = ch
			}
			r.cells = append(r.cells, covered)
		}
	}
	fill()
	for len(r.cells) < len(*below) {
		if at := len(r.cells); (*below)[at] > 0 {
			(*below)[at]--
		}
		r.cells = append(r.cells, cell{node: none})
	}
	for len(r.cells) > 0 && r.cells[len(r.cells)-1].node == none && len(r.cells) > len(cells) && !spansTo(t, r.cells) {
		r.cells = r.cells[:len(r.cells)-1]
	}
	if rowShows(t, cells) {
		g.rows = append(g.rows, r)
	}
}

// spansTo reports whether the last places of a row are covered by a cell of
// the row itself.
func spansTo(t *tree, cells []cell) bool {
	for k := len(cells) - 1; k >= 0; k-- {
		if cells[k].node != none {
			return k+span(t, cells[k].node, keyColspan) >= len(cells)
		}
	}
	return false
}

func rowShows(t *tree, cells []int32) bool {
	for _, ch := range cells {
		if t.node(ch).mark&markText != 0 {
			return true
		}
	}
	return false
}

func span(t *tree, i int32, key attrKey) int {
	v, err := strconv.Atoi(strings.TrimSpace(t.get(i, key)))
	if err != nil || v < 1 {
		return 1
	}
	return min(v, maxSpan)
}

// isLayout reports whether a table only places blocks on the page.
func (w *writer) isLayout(i int32, g *grid) bool {
	if role := w.t.get(i, keyRole); strings.EqualFold(role, "presentation") || strings.EqualFold(role, "none") {
		return true
	}
	if len(g.rows) == 1 && len(g.rows[0].cells) == 1 && !g.headed {
		return true
	}
	if g.columns == 1 && !g.headed && g.caption == none || g.columns > maxColumns || w.holdsLayout(g) {
		return true
	}
	return false
}

// holdsLayout reports whether the cells hold what no cell of data holds: a
// heading, a table with rows of its own, a section of a page.
func (w *writer) holdsLayout(g *grid) bool {
	if g.headed {
		return false
	}
	for _, r := range g.rows {
		for _, c := range r.cells {
			if c.node != none && w.t.node(c.node).mark&markBlock != 0 && w.t.any(c.node, nearby, w.isPagePart) {
				return true
			}
		}
	}
	return false
}

func (w *writer) isPagePart(i int32) bool {
	switch tag := w.t.nodes[i].tag; tag {
	case atom.Article, atom.Section, atom.Main:
		return true
	case atom.Table:
		rows := 0
		return w.t.any(i, nearby, func(j int32) bool {
			if w.t.is(j, atom.Tr) {
				rows++
			}
			return rows > 1
		})
	default:
		return isHeading(tag)
	}
}

// unfold writes the cells of a layout table one after the other; a row of
// short cells makes one line.
func (w *writer) unfold(g *grid, c context) {
	for _, r := range g.rows {
		for _, x := range r.cells {
			if x.node == none {
				continue
			}
			w.remember(x.node)
			if w.t.node(x.node).mark&markBlock != 0 && w.holdsBlocks(x.node) {
				w.flush()
				w.children(x.node, c)
				w.flush()
			} else {
				w.para.blank = len(w.para.runs) > 0
				w.children(x.node, c)
			}
		}
		w.flush()
	}
}

func (w *writer) holdsBlocks(i int32) bool {
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		if w.t.node(ch).mark&(markBlock|markText) == markBlock|markText {
			return true
		}
	}
	return false
}

// pipes writes a table of data in the form of GFM.
func (w *writer) pipes(g *grid, c context) {
	lines := make([][]string, 0, len(g.rows))
	first := -1
	for k, r := range g.rows {
		line := make([]string, g.columns)
		for col, x := range r.cells {
			if x.node != none && !w.full() {
				line[col] = w.cell(x.node, c)
			}
		}
		if k > 0 && strings.Join(line, "") == "" {
			continue // images without words, or spacing
		}
		lines = append(lines, line)
		if first < 0 && (r.head || allHead(r)) {
			first = k
		}
	}
	if first > 0 { // rows above the header row belong to the body
		first = -1
	}
	w.leaf()
	if first == 0 {
		w.pipeRow(lines[0])
		lines = lines[1:]
	} else {
		w.pipeRow(make([]string, g.columns))
	}
	w.newline()
	w.out = append(w.out, "|"+strings.Repeat(" --- |", g.columns)...)
	for _, line := range lines {
		if w.full() {
			return
		}
		w.newline()
		w.pipeRow(line)
	}
}

func allHead(r row) bool {
	for _, c := range r.cells {
		if c.node != none && !c.head {
			return false
		}
	}
	return true
}

func (w *writer) pipeRow(cells []string) {
	w.out = append(w.out, '|')
	for _, s := range cells {
		if s != "" {
			w.out = append(w.out, ' ')
			w.out = append(w.out, s...)
		}
		w.out = append(w.out, " |"...)
	}
}

// cell gives the content of a cell on one line.
func (w *writer) cell(i int32, c context) string {
	w.remember(i)
	if w.t.is(i, atom.Td) || w.t.is(i, atom.Th) {
		w.collect(i, c, inCell)
	} else {
		outer := w.mode
		w.mode = inCell
		w.walk(i, c)
		w.mode = outer
	}
	if !w.para.settle() {
		w.para.reset()
		return ""
	}
	s := string(w.render(nil, inCell))
	w.para.reset()
	return s
}

// flatTable writes a table inside a cell: a line for each row.
func (w *writer) flatTable(i int32, c context) {
	w.gap()
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		switch w.t.nodes[ch].tag {
		case atom.Thead, atom.Tbody, atom.Tfoot:
			w.flatTable(ch, c)
		case atom.Tr:
			w.gap()
			for _, x := range cellsOf(w.t, ch) {
				w.text(" ", c)
				w.children(x, c)
			}
			w.gap()
		default:
			w.walk(ch, c)
		}
	}
	w.gap()
}

// codeTable writes a table that only sets line numbers beside code as the code.
func (w *writer) codeTable(i int32, g *grid) bool {
	if len(g.rows) == 0 || g.columns > 3 {
		return false
	}
	var lines []string
	language := int32(none)
	numbered := false
	for _, r := range g.rows {
		place := int32(none)
		for _, x := range r.cells {
			switch {
			case x.node == none:
			case isNumberCell(w.t, x.node):
				numbered = true
			case place != none:
				return false
			default:
				place = x.node
			}
		}
		if place == none || !isCodeCell(w.t, place) {
			return false
		}
		language = place
		lines = append(lines, w.codeText(place))
	}
	if !numbered {
		return false
	}
	lang := ""
	w.t.any(language, nearby, func(j int32) bool {
		if w.t.nodes[j].kind == elementNode {
			lang = languageOf(w.t, j)
		}
		return lang != ""
	})
	for at, k := i, 0; lang == "" && k < 4 && at != none; k++ {
		lang = languageOf(w.t, at)
		at = w.t.nodes[at].parent
	}
	w.fence(strings.TrimRight(strings.Join(lines, "\n"), "\n"), lang)
	return true
}

func isNumberCell(t *tree, i int32) bool {
	text := t.rawText(i, 1<<16)
	return strings.Trim(text, "0123456789 \t\r\n\u00a0") == "" && (text != "" || t.has(i, keyDataLine))
}

// isCodeCell reports whether a cell beside line numbers holds code.
func isCodeCell(t *tree, i int32) bool {
	if hasWord(t.get(i, keyClass), "code", "blob-code", "hljs-ln-code", "rouge-code", "line-content", "blob-code-inner") {
		return true
	}
	return t.any(i, nearby, func(j int32) bool { return t.is(j, atom.Pre) })
}
