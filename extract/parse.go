// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// kind tells the atoms of a document apart.
type kind uint8

const (
	heading kind = iota
	prose        // a sentence of a paragraph or of a quotation
	item         // a list item, or one sentence of a long one
	row          // one row of a table
	code         // a whole code block
)

// atom is the smallest part of a document that is shown or left out: a sentence,
// a list item, a table row, a whole code block.
type atom struct {
	start, end int // byte offsets into Markdown
	kind       kind
	joined     bool  // continues the paragraph or item of the atom before it
	section    int32 // index into outline, -1 before the first heading
	lead       int32 // the atom that introduces this one, -1 for none
	fence      int32 // of a piece of a divided code block: one more than its index into fences
}

// fence holds the lines that open and close a code block.
type fence struct{ open, close string }

// Limits of the split.
const (
	// maxAtom is where text without any sentence end is cut, in bytes: a page may
	// be one line of megabytes.
	maxAtom = 1500
	// minSentence is the length below which a sentence stays with the one after it.
	minSentence = 40
	// maxHeading bounds how much of a heading's line is read as its title.
	maxHeading = 300
)

// parsed is a document taken apart.
type parsed struct {
	text     string
	fences   []fence // of code blocks that were divided
	host     string  // of the page, for links
	sections []Section
	atoms    []atom
}

// parse takes a document apart. Sections come from the document's outline, or
// from its headings where it has none. A code block of more than wholeCode bytes
// is divided, a smaller one stays whole.
func parse(d Doc, wholeCode int) *parsed {
	p := &parser{wholeCode: wholeCode, parsed: parsed{text: d.Markdown, host: hostOf(d.URL), sections: d.Sections}, own: len(d.Sections) == 0, lead: -1, table: -1}
	if !p.own && !slices.IsSortedFunc(p.sections, byStart) {
		p.sections = slices.SortedStableFunc(slices.Values(p.sections), byStart)
	}
	p.section = -1
	for p.at < len(p.text) {
		p.block()
	}
	p.close(len(p.text))
	return &p.parsed
}

func byStart(a, b Section) int { return cmp.Compare(a.Start, b.Start) }

type parser struct {
	parsed
	at        int // byte offset of the line that is read next
	own       bool
	wholeCode int
	section   int32
	open      []int32 // indexes of the open sections, outermost first
	lead      int32   // last paragraph's last atom: introduces the list or table after it
	items     []level // the open list items, outermost first
	table     int32   // first atom of the open table, -1 outside
}

type level struct {
	indent int
	atom   int32
}

// line gives the line at offset i without its end, and the offset of the next.
func line(s string, i int) (string, int) {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return s[i : i+n], i + n + 1
	}
	return s[i:], len(s)
}

// block reads one block that begins at p.at.
func (p *parser) block() {
	l, next := line(p.text, p.at)
	body := strings.TrimLeft(l, " \t>")
	indent := len(l) - len(strings.TrimLeft(l, " \t"))
	if p.isTableLine(body) {
		p.row(p.at, p.at+len(l), next)
		return
	}
	p.table = -1
	switch {
	case strings.TrimSpace(body) == "":
		p.at = next
	case fenceOf(body) != "":
		p.fence(l, next, fenceOf(body))
	case isHeading(body):
		p.heading(p.at, p.at+len(strings.TrimRight(l, " \t\r")), body)
		p.at = next
	default:
		p.lines(indent, body)
	}
}

func (p *parser) isTableLine(body string) bool {
	return strings.HasPrefix(body, "|") && strings.Count(body, "|") > 1
}

// fenceOf gives the marks that open a code block, "" for none.
func fenceOf(body string) string {
	for _, c := range []string{"`", "~"} {
		n := len(body) - len(strings.TrimLeft(body, c))
		if n >= 3 && (c == "~" || !strings.Contains(body[n:], "`")) {
			return body[:n]
		}
	}
	return ""
}

func isHeading(body string) bool {
	n := len(body) - len(strings.TrimLeft(body, "#"))
	return n >= 1 && n <= 6 && (len(body) == n || body[n] == ' ' || body[n] == '\t')
}

// fence reads a whole code block.
func (p *parser) fence(open string, next int, mark string) {
	start, end := p.at, p.at+len(open)
	inside, last := next, next // what stands between the fences
	for next < len(p.text) {
		l, after := line(p.text, next)
		last, end, next = next, next+len(l), after
		body := strings.TrimSpace(strings.TrimLeft(l, " \t>"))
		if strings.HasPrefix(body, mark) && strings.Trim(body, mark[:1]) == "" {
			break
		}
		last = end // not closed yet
	}
	lead := p.introduction(len(open) - len(strings.TrimLeft(open, " \t")))
	if end-start <= p.wholeCode {
		p.add(atom{start: start, end: end, kind: code, lead: lead})
	} else {
		before := open[:strings.Index(open, mark)]
		p.fences = append(p.fences, fence{strings.TrimRight(open, " \t\r\n"), before + mark})
		p.pieces(min(inside, last), last, lead)
	}
	p.at = next
}

// codePiece is the size from which a piece of a large code block ends at the next
// line that begins an entry, in bytes.
const codePiece = 300

// pieces divides a code block that is too large to be shown whole: at blank
// lines, or where the indent falls back to that of the piece's first line.
func (p *parser) pieces(start, end int, lead int32) {
	first, indent := start, -1
	for at := start; at < end; {
		l, next := line(p.text[:end], at)
		blank := strings.TrimSpace(l) == ""
		in := len(l) - len(strings.TrimLeft(l, " \t"))
		if indent < 0 && !blank {
			indent = in
		}
		if n := at - first; n >= codePiece && (blank || in <= indent && !onlyCloses(l)) || n >= maxAtom {
			p.addPiece(first, at, lead)
			first, indent = at, in
			if blank {
				indent = -1
			}
		}
		for next-first > 2*maxAtom {
			n := softCut(p.text[first:next], maxAtom)
			p.addPiece(first, first+n, lead)
			first += n
		}
		at = next
	}
	p.addPiece(first, end, lead)
}

// onlyCloses reports whether a line of code holds nothing but closing brackets: it
// belongs to what stands before it.
func onlyCloses(l string) bool { return strings.Trim(l, " \t\r}])>;,") == "" }

func (p *parser) addPiece(start, end int, lead int32) {
	t := p.text[start:end]
	end = start + len(strings.TrimRight(t, " \t\r\n"))
	start += len(t) - len(strings.TrimLeft(t, "\r\n"))
	switch n, f := len(p.atoms), int32(len(p.fences)); {
	case start >= end:
	case end-start < minSentence && n > 0 && p.atoms[n-1].fence == f:
		p.atoms[n-1].end = end // a closing bracket says nothing by itself
	default:
		p.add(atom{start: start, end: end, kind: code, lead: lead, fence: f})
	}
}

// heading opens a section. With an outline, the section is found by its offset.
func (p *parser) heading(start, end int, body string) {
	p.lead, p.items = -1, nil
	if p.own {
		p.addSection(start, body)
	} else {
		p.enter(start)
	}
	p.add(atom{start: start, end: end, kind: heading, lead: -1})
}

func (p *parser) addSection(start int, body string) {
	n := len(body) - len(strings.TrimLeft(body, "#"))
	p.closeTo(n, start)
	title := plain(strings.TrimRight(strings.Trim(clip(body[n:], maxHeading), " \t\r"), "# "))
	path := []string{title}
	if k := len(p.open); k > 0 {
		path = append(slices.Clone(p.sections[p.open[k-1]].Path), title)
	}
	p.sections = append(p.sections, Section{Title: title, Level: n, Start: start, End: len(p.text), Path: path})
	p.section = int32(len(p.sections) - 1)
	p.open = append(p.open, p.section)
}

// closeTo ends the open sections of level n and deeper at offset end.
func (p *parser) closeTo(n, end int) {
	for k := len(p.open); k > 0 && p.sections[p.open[k-1]].Level >= n; k-- {
		p.sections[p.open[k-1]].End = end
		p.open = p.open[:k-1]
	}
}

func (p *parser) close(end int) {
	if p.own {
		p.closeTo(0, end)
	}
}

// enter moves to the last section that begins at or before offset at.
func (p *parser) enter(at int) {
	for int(p.section)+1 < len(p.sections) && p.sections[p.section+1].Start <= at {
		p.section++
	}
}

// introduction finds the atom that introduces a block of the given indent: the
// list item it is part of, else the paragraph before it.
func (p *parser) introduction(indent int) int32 {
	for k := len(p.items) - 1; k >= 0; k-- {
		if p.items[k].indent < indent {
			return p.items[k].atom
		}
	}
	return p.lead
}

// row reads one row of a table; the first row leads the others.
func (p *parser) row(start, end, next int) {
	a := atom{start: start, end: end, kind: row, lead: p.table}
	if p.table < 0 {
		a.lead = p.lead
		p.table = int32(len(p.atoms))
		if l, after := line(p.text, next); isRule(l) { // the line of dashes belongs to the header
			a.end, next = next+len(l), after
		}
	}
	p.add(a)
	p.at = next
}

func isRule(l string) bool {
	l = strings.TrimLeft(l, " \t>")
	return strings.HasPrefix(l, "|") && strings.Contains(l, "-") && strings.Trim(l, "|-: \t\r") == ""
}

// lines reads a paragraph or a list item: lines up to a blank one or to another kind of block.
func (p *parser) lines(indent int, body string) {
	start, marker := p.at, itemMarker(body)
	_, p.at = line(p.text, p.at)
	for p.at < len(p.text) {
		l, next := line(p.text, p.at)
		b := strings.TrimLeft(l, " \t>")
		if strings.TrimSpace(b) == "" || strings.HasPrefix(b, ": ") || itemMarker(b) > 0 || p.isTableLine(b) || isHeading(b) || fenceOf(b) != "" {
			break
		}
		p.at = next
	}
	end := start + len(strings.TrimRight(p.text[start:p.at], " \t\r\n"))
	if marker == 0 {
		p.paragraph(start, end, indent)
		return
	}
	for k := len(p.items); k > 0 && p.items[k-1].indent >= indent; k-- {
		p.items = p.items[:k-1]
	}
	lead := p.introduction(indent)
	p.items = append(p.items, level{indent, int32(len(p.atoms))})
	p.sentences(start, end, item, lead)
}

func (p *parser) paragraph(start, end, indent int) {
	if indent == 0 {
		p.items = nil
	}
	lead, meaning := int32(-1), strings.HasPrefix(p.text[start:], ": ") // a meaning follows its term
	if indent > 0 || meaning {
		lead = p.introduction(max(indent, 1))
	}
	p.sentences(start, end, prose, lead)
	if indent == 0 && !meaning {
		p.lead = int32(len(p.atoms) - 1)
	}
}

// itemMarker gives the length of a list marker with the blank after it, 0 for none.
func itemMarker(body string) int {
	n := len(body) - len(strings.TrimLeft(body, "0123456789"))
	switch {
	case n > 0 && n <= 9 && len(body) > n+1 && (body[n] == '.' || body[n] == ')') && body[n+1] == ' ':
		return n + 2
	case n == 0 && len(body) > 1 && strings.IndexByte("-*+", body[0]) >= 0 && (body[1] == ' ' || body[1] == '\t'):
		return 2
	}
	return 0
}

// sentences adds the sentences of a block as atoms that belong together.
func (p *parser) sentences(start, end int, k kind, lead int32) {
	first := true
	for _, cut := range p.cuts(start, end) {
		if cut <= start {
			continue // it lies among the blanks that were jumped over
		}
		p.add(atom{start: start, end: start + len(strings.TrimRight(p.text[start:cut], " \t\r\n")), kind: k, joined: !first, lead: lead})
		start = cut + len(p.text[cut:end]) - len(strings.TrimLeft(p.text[cut:end], " \t\r\n"))
		first = false
	}
}

// cuts gives the offsets at which the text between start and end is divided; the
// last is end. No sentence end is believed after an abbreviation, inside a code
// span, or before minSentence.
func (p *parser) cuts(start, end int) []int {
	s := p.text[start:end]
	if len(s) < 2*minSentence {
		return []int{end}
	}
	var out []int
	last, at, ticks := 0, 0, 0
	for part := range eachSentence(s) {
		at += len(part)
		ticks += strings.Count(part, "`")
		for at-last > maxAtom {
			n := softCut(s[last:at], maxAtom)
			last += n
			out = append(out, start+last)
		}
		if at-last < minSentence && !strings.ContainsAny(part, "。！？") || ticks%2 == 1 || !ends(s[last:at]) || inTarget(s[last:at]) {
			continue
		}
		last = at
		out = append(out, start+at)
		ticks = 0
	}
	if len(out) == 0 || out[len(out)-1] < end {
		out = append(out, end)
	}
	return out
}

// splitPiece is how much text is divided into sentences at a time, in bytes: the
// rules of UAX 29 look ahead over signs without end, which makes them quadratic.
const splitPiece = 2 * maxAtom

// eachSentence gives the sentences of s, in order and without a gap.
func eachSentence(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			n := len(s)
			if n > splitPiece {
				n = softCut(s, splitPiece)
			}
			for it := sentences.FromString(s[:n]); it.Next(); {
				if !yield(it.Value()) {
					return
				}
			}
			s = s[n:]
		}
	}
}

// softCut finds a place to cut s at or before n bytes: after a blank, else
// between characters.
func softCut(s string, n int) int {
	if i := strings.LastIndexAny(s[n/2:n], " \t\n,;"); i >= 0 {
		return n/2 + i + 1
	}
	for n > 1 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// inTarget reports whether s ends inside the target of a link.
func inTarget(s string) bool {
	i := strings.LastIndex(s, "](")
	return i >= 0 && !strings.ContainsAny(s[i:], ") \n")
}

// ends reports whether s ends a sentence: not at the end of a mere line, nor
// after the full stop of an abbreviation.
func ends(s string) bool {
	s = strings.TrimRight(s, " \t\r\n")
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "*_`\"'”’»)]）」』"))
	if !strings.ContainsRune(".!?。！？…．", r) {
		return false
	}
	if !strings.HasSuffix(s, ".") {
		return true
	}
	w := strings.ToLower(strings.Trim(s[strings.LastIndexAny(s, " \t\n([")+1:], "*_."))
	switch w {
	case "e.g", "i.e", "cf", "vs", "etc", "fig", "eq", "sec", "ch", "no", "nos", "vol", "p", "pp", "dr", "mr", "mrs", "ms",
		"prof", "st", "jr", "sr", "inc", "ltd", "co", "corp", "dept", "ed", "eds", "al", "approx", "resp", "viz", "ca", "ver", "min", "max":
		return false
	}
	return len(w) != 1 || w[0] < 'a' || w[0] > 'z'
}

func (p *parser) add(a atom) {
	p.enter(a.start)
	a.section = p.section
	p.atoms = append(p.atoms, a)
}
