// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// style is a set of ways in which a run of text is set.
type style uint16

const (
	strong style = 1 << iota
	em
	del
	sup
	sub
	code

	styleKinds = 6
)

func styleOf(tag atom.Atom) style {
	switch tag {
	case atom.B, atom.Strong:
		return strong
	case atom.I, atom.Em, atom.Cite, atom.Dfn, atom.Var:
		return em
	case atom.S, atom.Del, atom.Strike:
		return del
	case atom.Sup:
		return sup
	case atom.Sub:
		return sub
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		return code
	}
	return 0
}

// run is a piece of inline content that is set alike. Its text is a range of
// the buffer of the inline that holds it.
type run struct {
	from, to int32
	kind     runKind
	style    style
	link     int32
	ref      int32 // image: index into linker.images
	span     int32 // the outermost styled element, to tell two of a kind apart
}

type runKind uint8

const (
	plainRun runKind = iota
	breakRun         // a line break that the page asked for
	imageRun         // the text is the alternative text
	rawRun           // written as it stands: mathematics, marks of our own
)

// inline gathers inline content. White space is collapsed as it comes in
// (CSS Text 4.1.1): one blank for any run of it, none at the edges.
type inline struct {
	buf   []byte
	runs  []run
	blank bool // a blank waits for more text
	wide  bool // a block ended here: a break waits for more content
	apart bool // the text ends with the words of an image
}

func (p *inline) reset() {
	p.buf, p.runs, p.blank, p.wide, p.apart = p.buf[:0], p.runs[:0], false, false, false
}

// push appends a run, or extends the last one where it is set alike.
func (p *inline) push(r run) {
	if k := len(p.runs) - 1; k >= 0 && r.kind == plainRun {
		l := &p.runs[k]
		if l.kind == plainRun && l.style == r.style && l.link == r.link && l.span == r.span && l.to == r.from {
			l.to = r.to
			return
		}
	}
	p.runs = append(p.runs, r)
}

// caption adds the words of an image in its place. An image is no letter: its
// words do not grow together with those beside it.
func (p *inline) caption(s string, set run) {
	p.apart = true
	p.text(s, set)
	p.apart = true
}

// part puts a blank between the words of an image and a word beside them.
func (p *inline) part(s string) {
	before, _ := utf8.DecodeLastRune(p.buf)
	after, _ := utf8.DecodeRuneInString(s)
	p.blank = p.blank || isWordRune(before) && isWordRune(after)
	p.apart = false
}

// text adds text as it stands in the page.
func (p *inline) text(s string, set run) {
	for len(s) > 0 {
		n := blankPrefix(s)
		if n > 0 {
			p.blank = p.blank || len(p.runs) > 0
			s = s[n:]
			continue
		}
		for n < len(s) && blankPrefix(s[n:]) == 0 {
			n++
		}
		if p.apart {
			p.part(s)
		}
		p.wait(set)
		set.from = int32(len(p.buf))
		p.buf = append(p.buf, s[:n]...)
		set.to = int32(len(p.buf))
		p.push(set)
		s = s[n:]
	}
}

// blankPrefix gives the length of the white space that s begins with, 0 for
// none. A no-break space counts: outside code it is layout.
func blankPrefix(s string) int {
	switch {
	case isBlank(s[0]):
		return 1
	case s[0] == 0xc2 && len(s) > 1 && s[1] == 0xa0:
		return 2
	}
	return 0
}

// wait adds the break or the blank that waited for more content. The blank
// takes the style that it shares with what stands on both sides, so that no
// emphasis begins or ends with one.
func (p *inline) wait(next run) {
	if len(p.runs) == 0 {
		p.blank, p.wide = false, false
		return
	}
	l := p.runs[len(p.runs)-1]
	between := run{from: int32(len(p.buf)), style: next.style & l.style, link: same(next.link, l.link), span: l.span}
	if next.span != l.span {
		between.style = 0
	}
	switch {
	case l.kind == breakRun:
	case p.wide:
		between.kind, between.to = breakRun, between.from
		p.runs = append(p.runs, between)
	case p.blank:
		p.buf = append(p.buf, ' ')
		between.to = between.from + 1
		p.push(between)
	}
	p.blank, p.wide = false, false
}

func same(a, b int32) int32 {
	if a == b {
		return a
	}
	return 0
}

// line adds a line break.
func (p *inline) line(style style, link int32) {
	p.blank, p.wide, p.apart = false, false, false
	at := int32(len(p.buf))
	p.runs = append(p.runs, run{from: at, to: at, kind: breakRun, style: style, link: link})
}

// gap notes that a block begins or ends.
func (p *inline) gap() { p.wide = p.wide || len(p.runs) > 0 }

// put adds a run that is not plain text.
func (p *inline) put(kind runKind, s string, r run) {
	p.apart = false
	p.wait(r)
	r.kind, r.from = kind, int32(len(p.buf))
	p.buf = append(p.buf, s...)
	r.to = int32(len(p.buf))
	p.runs = append(p.runs, r)
}

// settle drops breaks at both edges and reports whether anything is left. An
// inline that holds nothing is reset.
func (p *inline) settle() bool {
	for len(p.runs) > 0 && p.runs[len(p.runs)-1].kind == breakRun {
		p.runs = p.runs[:len(p.runs)-1]
	}
	first := 0
	for first < len(p.runs) && p.runs[first].kind == breakRun {
		first++
	}
	p.runs = append(p.runs[:0], p.runs[first:]...)
	if len(p.runs) == 0 {
		p.reset()
	}
	return len(p.runs) > 0
}

func (p *inline) at(k int) string { return string(p.buf[p.runs[k].from:p.runs[k].to]) }

// plain gives the text without any marks.
func (p *inline) plain() string {
	var out []byte
	for _, r := range p.runs {
		if r.kind == breakRun {
			out = append(out, ' ')
		}
		out = append(out, p.buf[r.from:r.to]...)
	}
	return string(out)
}

// text adds text of the page to the paragraph.
func (w *writer) text(s string, c context) {
	w.para.text(s, run{style: c.style &^ w.mute, link: w.live(c.link), span: c.span})
}

// live is the link unless it ended already.
func (w *writer) live(link int32) int32 {
	if link == w.dead {
		return 0
	}
	return link
}

func (w *writer) inlineElement(i int32, tag atom.Atom, c context) {
	mute, dead := w.mute, w.dead
	switch tag {
	case atom.Br:
		if w.mode == inHeading {
			w.text(" ", c)
			return
		}
		w.lineBreak(c)
	case atom.Wbr:
	case atom.A:
		w.anchor(i, c)
	case atom.Q:
		w.text("“", c)
		w.children(i, c)
		w.text("”", c)
	case atom.Rt:
		w.text("(", c)
		w.children(i, c)
		w.text(")", c)
	case atom.Input:
		w.checkbox(i, c)
	case atom.Button:
		w.button(i, c)
	case atom.Object, atom.Applet:
	case atom.Sup:
		if !w.noteMark(i, c) {
			w.children(i, c.with(i, sup))
		}
	default:
		w.children(i, c.with(i, styleOf(tag)))
	}
	w.mute, w.dead = mute, dead
}

// lineBreak writes a br. Two of them make an empty line: a new paragraph.
func (w *writer) lineBreak(c context) {
	if k := len(w.para.runs); w.mode == inParagraph && k > 0 && w.para.runs[k-1].kind == breakRun {
		w.flush()
		return
	}
	w.para.line(c.style, c.link)
}

// checkbox writes the box of a task at the start of a list item; other fields
// of forms are left out.
func (w *writer) checkbox(i int32, c context) {
	if !w.t.isWord(i, keyType, "checkbox") || !w.fresh || len(w.para.runs) > 0 || !w.t.hasAncestor(i, atom.Li) {
		return
	}
	box := "[ ]"
	if w.t.has(i, keyChecked) {
		box = "[x]"
	}
	w.para.put(rawRun, box, run{})
	w.para.blank = true
}

// isTitle reports whether a button is the title of what it unfolds: the text of
// a heading or a summary.
func (w *writer) isTitle(i int32) bool {
	p := w.t.nodes[i].parent
	for p != none && !isHeading(w.t.nodes[p].tag) && !w.t.is(p, atom.Summary) {
		if isBlock(w.t.nodes[p].tag) && !w.t.is(p, atom.Div) {
			return false
		}
		p = w.t.nodes[p].parent
	}
	return p != none && 5*countLetters(w.t.shownText(i, 400)) > 4*countLetters(w.t.shownText(p, 400))
}

// longButton is how many letters make a button a text that a reader wants: an
// entry that can be clicked as a whole, not a command.
const longButton = 60

// button keeps the words of a button where it stands for a title (a fold's
// head) or holds a whole entry; other buttons are commands.
func (w *writer) button(i int32, c context) {
	if w.isTitle(i) || w.t.node(i).mark&markBlock != 0 ||
		countLetters(w.t.shownText(i, 4*longButton)) >= longButton {
		w.children(i, c)
	}
}
