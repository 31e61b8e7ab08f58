// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mode says where inline content is written.
type mode uint8

const (
	inParagraph mode = iota
	inHeading        // one line
	inCell           // one line, pipes escaped, breaks as <br>
	inTerm           // one line of its own
)

// emitter writes the runs of one inline as Markdown. Styles nest: what stays
// open longest is opened first, and a style that must go on when one around it
// ends is closed and opened again.
type emitter struct {
	w      *writer
	p      *inline
	mode   mode
	dst    []byte
	start  int       // where the content of the line begins in dst
	ends   [][]int32 // per run and style: index of the first run after it without the style
	linkTo []int32   // per run: index of the first run after it with another link
	open   []opened
	closed int // len(dst) after the last closing star, to keep two apart
	marks  escapes
}

// opened is a style or link that is open in the Markdown written so far.
type opened struct {
	style style // 0 for a link
	link  int32
	close string
	at    int // len(dst) right after it was opened
}

// render appends the gathered inline content to dst.
func (w *writer) render(dst []byte, m mode) []byte {
	e := &emitter{w: w, p: &w.para, mode: m, dst: dst, start: len(dst), closed: -1}
	e.survey()
	for k := range e.p.runs {
		e.run(k)
	}
	e.closeAll()
	return e.dst
}

// survey computes how far every style reaches and what text needs escapes.
func (e *emitter) survey() {
	runs := e.p.runs
	n := len(runs)
	e.ends = make([][]int32, styleKinds)
	var all style
	var links int32
	for _, r := range runs {
		all |= r.style
		links |= r.link
	}
	for s := range styleKinds {
		if all&(1<<s) == 0 {
			continue
		}
		e.ends[s] = make([]int32, n)
		for k := n - 1; k >= 0; k-- {
			if e.ends[s][k] = int32(k + 1); k+1 < n && runs[k+1].style&(1<<s) != 0 {
				e.ends[s][k] = e.ends[s][k+1]
			}
		}
	}
	if links != 0 {
		e.linkTo = make([]int32, n)
	}
	for k := n - 1; links != 0 && k >= 0; k-- {
		if e.linkTo[k] = int32(k + 1); k+1 < n && runs[k+1].link == runs[k].link {
			e.linkTo[k] = e.linkTo[k+1]
		}
	}
	e.marks = findEscapes(e.p, all, e.w.opt.Links == LinksEnd)
}

func (e *emitter) run(k int) {
	r := e.p.runs[k]
	e.closeFor(r)
	if e.autolink(k) {
		return
	}
	e.openFor(k)
	switch {
	case r.kind == breakRun:
		e.lineBreak()
	case r.kind == rawRun:
		e.raw(e.p.at(k))
	case r.kind == imageRun:
		e.image(k)
	case r.style&code != 0:
		e.code(string(e.p.buf[r.from:r.to]))
	default:
		e.dst = e.marks.write(e.dst, e.p, k, e.mode, e.atStart() && (e.mode == inParagraph || e.mode == inTerm))
	}
}

// atStart reports whether the next byte is the first of a line.
func (e *emitter) atStart() bool { return len(e.dst) == e.start }

func (e *emitter) lineBreak() {
	switch e.mode {
	case inHeading, inTerm:
		e.dst = append(e.dst, ' ')
	case inCell:
		e.dst = append(e.dst, "<br>"...)
	default:
		e.dst = append(e.dst, "  \n"...)
		e.dst = append(e.dst, e.w.prefix...)
		e.start = len(e.dst)
	}
}

// closeFor closes what r does not have, and what was opened inside that.
func (e *emitter) closeFor(r run) {
	keep := len(e.open)
	for k, o := range e.open {
		if o.style != 0 && r.style&o.style == 0 || o.style == 0 && o.link != r.link {
			keep = k
			break
		}
	}
	e.closeTo(keep)
}

func (e *emitter) closeAll() { e.closeTo(0) }

func (e *emitter) closeTo(n int) {
	for len(e.open) > n {
		o := e.open[len(e.open)-1]
		e.open = e.open[:len(e.open)-1]
		e.dst = append(e.dst, o.close...)
		if strings.HasSuffix(o.close, "*") || strings.HasSuffix(o.close, "~") {
			e.closed = len(e.dst)
		}
	}
}

// openFor opens what run k has and what is not open yet, the longest first.
func (e *emitter) openFor(k int) {
	r := e.p.runs[k]
	var have style
	link := int32(0)
	for _, o := range e.open {
		have |= o.style
		link = max(link, o.link)
	}
	for {
		var next style
		end := int32(-1)
		if r.link != 0 && link != r.link {
			end = e.linkTo[k]
		}
		for s := styleKinds - 1; s >= 0; s-- { // elements before signs: these need words beside them
			if bit := style(1 << s); bit != code && r.style&bit != 0 && have&bit == 0 && e.ends[s][k] > end {
				next, end = bit, e.ends[s][k]
			}
		}
		switch {
		case next != 0:
			have |= next
			e.openStyle(next, k, int(end))
		case end >= 0:
			link = r.link
			e.openLink(k, int(end))
		default:
			return
		}
	}
}

// openStyle opens a style that holds for the runs from k to end. Where the
// flanking rules (CommonMark 6.2) would keep its signs from opening or closing,
// the element itself is written.
func (e *emitter) openStyle(s style, k, end int) {
	sign, tag := "", ""
	switch s {
	case strong:
		sign, tag = "**", "strong"
	case em:
		sign, tag = "*", "em"
	case del:
		sign, tag = "~~", "del"
	case sup:
		tag = "sup"
	case sub:
		tag = "sub"
	}
	before, first, last := e.before(), e.first(k), e.last(end-1)
	if other := e.otherSign(s, e.p.runs[k].style); other != 0 {
		first = other
	}
	if other := e.otherSign(s, e.p.runs[end-1].style); other != 0 {
		last = other
	}
	if sign != "" && e.closed != len(e.dst) && flanks(before, first) && flanks(e.after(end), last) &&
		!(flanks(first, before) && e.signOpen(sign[0])) {
		e.dst = append(e.dst, sign...)
		e.open = append(e.open, opened{style: s, close: sign, at: len(e.dst)})
		return
	}
	e.dst = append(e.dst, "<"+tag+">"...)
	e.open = append(e.open, opened{style: s, close: "</" + tag + ">"})
}

// otherSign gives the first sign of another kind that stands between the sign
// of s and the text of a run with the styles, 0 for none.
func (e *emitter) otherSign(s, styles style) rune {
	for _, o := range e.open {
		styles &^= o.style
	}
	switch {
	case styles&(sup|sub) != 0:
		return '<'
	case s == del && styles&(strong|em) != 0:
		return '*'
	case s != del && styles&del != 0:
		return '~'
	}
	return 0
}

// signOpen reports whether a style is open that the sign could close instead of
// opening another. One that was opened just here is part of the same run.
func (e *emitter) signOpen(sign byte) bool {
	for _, o := range e.open {
		if o.close != "" && o.close[0] == sign && o.at != len(e.dst) {
			return true
		}
	}
	return false
}

// flanks reports whether a sign between the outer and the inner rune can open
// (or, mirrored, close).
func flanks(outer, inner rune) bool {
	return !unicode.IsSpace(inner) && (!punctuation(inner) || unicode.IsSpace(outer) || punctuation(outer))
}

func punctuation(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// before is the rune before the cursor, a blank at the start of a line.
func (e *emitter) before() rune {
	if e.atStart() || len(e.dst) == 0 {
		return ' '
	}
	r, _ := utf8.DecodeLastRune(e.dst)
	if r == '*' && len(e.open) > 0 && len(e.dst) > 1 {
		// The sign just opened belongs to the same run of signs.
		b := len(e.dst)
		for b > e.start && e.dst[b-1] == '*' {
			b--
		}
		if b == e.start {
			return ' '
		}
		r, _ = utf8.DecodeLastRune(e.dst[:b])
	}
	return r
}

// first is the rune that run k begins with in the Markdown, apart from stars.
func (e *emitter) first(k int) rune {
	r := e.p.runs[k]
	switch {
	case r.kind == imageRun:
		return '!'
	case r.kind == breakRun:
		return ' '
	case r.link != 0 && !e.linkOpen(r.link):
		return '['
	case r.style&code != 0:
		return '`'
	}
	c, _ := utf8.DecodeRune(e.p.buf[r.from:r.to])
	return c
}

// last is the rune that run k ends with in the Markdown, apart from stars.
func (e *emitter) last(k int) rune {
	r := e.p.runs[k]
	switch {
	case r.kind == imageRun, r.link != 0 && !e.linkOpen(r.link):
		return ')'
	case r.kind == breakRun:
		return ' '
	case r.style&code != 0:
		return '`'
	case r.style&(sup|sub) != 0:
		return '>'
	}
	c, _ := utf8.DecodeLastRune(e.p.buf[r.from:r.to])
	return c
}

// after is the rune that follows the runs before end.
func (e *emitter) after(end int) rune {
	if end >= len(e.p.runs) {
		return ' '
	}
	r, l := e.p.runs[end], e.p.runs[end-1]
	switch {
	case r.kind == breakRun && e.mode != inCell:
		return ' '
	case r.kind == breakRun, l.link != 0 && l.link != r.link && e.linkOpen(l.link):
		return ']'
	case r.style&^l.style&(sup|sub) != 0:
		return '<'
	}
	return e.first(end)
}

func (e *emitter) linkOpen(link int32) bool {
	for _, o := range e.open {
		if o.link == link {
			return true
		}
	}
	return false
}

// code writes a code span (CommonMark 6.1): the fence is a run of backticks
// that does not stand inside, with a blank where the content needs one.
func (e *emitter) code(s string) {
	fence := strings.Repeat("`", freeRun(s, '`', 1))
	pad := ""
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		pad = " "
	}
	if e.mode == inCell {
		s = strings.ReplaceAll(s, "|", "\\|")
	}
	if n := len(e.dst); n > 0 && e.dst[n-1] == '`' && !e.atStart() {
		e.dst = append(e.dst, ' ') // two spans would become one
	}
	e.dst = append(e.dst, fence+pad+s+pad+fence...)
}

// freeRun gives the smallest length of at least low for which s holds no run
// of exactly so many bytes c.
func freeRun(s string, c byte, low int) int {
	seen := map[int]bool{}
	for k := 0; k < len(s); {
		n := 0
		for k+n < len(s) && s[k+n] == c {
			n++
		}
		if n > 0 {
			seen[n] = true
		}
		k += max(n, 1)
	}
	for seen[low] {
		low++
	}
	return low
}

func (e *emitter) raw(s string) {
	if e.mode == inCell {
		s = strings.ReplaceAll(s, "|", "\\|")
	}
	e.dst = append(e.dst, s...)
}
