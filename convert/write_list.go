// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

// lister writes the items of one list.
type lister struct {
	ordered bool
	number  int
	step    int
	sign    byte // bullet, or the delimiter after a number
	loose   bool // blank lines between the items
	more    string
}

func (w *writer) list(i int32, c context) {
	if w.mode != inParagraph {
		w.flatList(i, c)
		return
	}
	w.flush()
	l := w.newLister(i)
	outer := w.tight
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		n := w.t.node(ch)
		if n.mark&(markHidden|markLeftOut) != 0 || n.mark&markText == 0 && n.tag != atom.Li {
			continue
		}
		switch {
		case n.tag == atom.Li && w.notes.items[ch] != "":
			w.remember(ch)
			w.note(ch, w.notes.items[ch], c)
		case n.tag == atom.Li:
			w.item(l, ch, c)
		default:
			w.beside(l, ch, c)
		}
	}
	w.tight = outer
	w.flush()
	w.last, w.sign = len(w.out), l.sign
}

// newLister chooses sign and spacing of a list. A list right after another one
// takes the other sign: with the same one Markdown would join them.
func (w *writer) newLister(i int32) *lister {
	l := &lister{ordered: w.t.is(i, atom.Ol), step: 1, number: 1, sign: '-'}
	other := byte('*')
	if l.ordered {
		l.sign, other = '.', ')'
		if v, err := strconv.Atoi(strings.TrimSpace(w.t.get(i, keyStart))); err == nil && v >= 0 && v < 1e9 {
			l.number = v
		}
		if w.t.has(i, keyReversed) {
			l.step = -1
			if !w.t.has(i, keyStart) {
				l.number = w.countItems(i)
			}
		}
	}
	if w.last == len(w.out) && !w.fresh && w.sign == l.sign {
		l.sign = other
	}
	l.loose = w.isLoose(i)
	return l
}

func (w *writer) countItems(i int32) (n int) {
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		if w.t.is(ch, atom.Li) {
			n++
		}
	}
	return n
}

// item writes one item.
func (w *writer) item(l *lister, i int32, c context) {
	sign := string(l.sign) + " "
	if l.ordered {
		if v, err := strconv.Atoi(strings.TrimSpace(w.t.get(i, keyValue))); err == nil && v >= 0 && v < 1e9 {
			l.number = v
		}
		sign = strconv.Itoa(max(0, l.number)) + sign
		l.number += l.step
	}
	// Between items: no blank line in a tight list, nor before the first one
	// where the list continues a tight item.
	tight := !l.loose
	if l.more == "" {
		// Only a list that begins with 1 can follow a line of text at once
		// (CommonMark 5.3).
		tight = w.tight && (!l.ordered || l.number-l.step == 1)
	}
	l.more = strings.Repeat(" ", len(sign))
	outer := w.tight
	w.tight = !l.loose
	w.remember(i)
	w.inside(tight, sign, l.more, func() { w.children(i, c) })
	w.tight = outer
}

// beside writes what stands in a list but in no item: it hangs under the item
// before.
func (w *writer) beside(l *lister, i int32, c context) {
	outer := w.tight
	if l.more != "" && w.levels < maxPrefix {
		w.tight = !l.loose
		w.prefix = append(w.prefix, l.more...)
		defer func() { w.prefix = w.prefix[:len(w.prefix)-len(l.more)] }()
	}
	if w.t.nodes[i].kind == elementNode && !isBlock(w.t.nodes[i].tag) && w.holdsItems(i) {
		w.remember(i)
		w.children(i, c)
	} else {
		w.walk(i, c)
	}
	w.flush()
	w.tight = outer
}

// holdsItems reports whether an element between a list and its items is only a
// wrapper.
func (w *writer) holdsItems(i int32) bool {
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		if w.t.is(ch, atom.Li) {
			return true
		}
	}
	return false
}

// strayItem writes an item that stands in no list.
func (w *writer) strayItem(i int32, c context) {
	if w.mode != inParagraph {
		w.box(i, c)
		return
	}
	w.flush()
	outer := w.tight
	tight := w.last == len(w.out) && w.sign == '-'
	w.tight = true
	w.inside(tight, "- ", "  ", func() { w.children(i, c) })
	w.tight = outer
	w.last, w.sign = len(w.out), '-'
}

// flatList writes a list into a cell or heading, one line an item.
func (w *writer) flatList(i int32, c context) {
	number := 1
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		if w.t.node(ch).mark&markText == 0 {
			continue
		}
		w.gap()
		if w.t.is(i, atom.Ol) && w.t.is(ch, atom.Li) {
			w.text(strconv.Itoa(number)+". ", c)
			number++
		}
		if w.t.is(ch, atom.Li) {
			w.remember(ch)
			w.children(ch, c)
		} else {
			w.walk(ch, c)
		}
		w.gap()
	}
}

// isLoose reports whether any item holds more than one block besides the lists
// in it, so that blank lines are needed.
func (w *writer) isLoose(i int32) bool {
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		if w.t.is(ch, atom.Li) && w.t.node(ch).mark&(markHidden|markLeftOut) == 0 {
			s := spacing{t: w.t}
			s.scan(ch, 0)
			if s.blocks > 1 {
				return true
			}
		}
	}
	return false
}

// spacing counts the blocks of a list item.
type spacing struct {
	t      *tree
	blocks int
	open   bool // a line of inline content is open
}

func (s *spacing) scan(i int32, depth int) {
	for ch := s.t.nodes[i].first; ch != none && s.blocks < 2; ch = s.t.nodes[ch].next {
		n := s.t.node(ch)
		if n.mark&(markHidden|markLeftOut) != 0 || n.mark&markText == 0 {
			continue
		}
		switch {
		case n.kind == elementNode && isList(n.tag):
			s.open = false
		case n.mark&markBlock == 0:
			if !s.open {
				s.blocks++
			}
			s.open = true
		case isLeafBlock(n.tag) || depth > 8:
			s.blocks++
			s.open = false
		default:
			if isBlock(n.tag) {
				s.open = false
			}
			s.scan(ch, depth+1)
			if isBlock(n.tag) {
				s.open = false
			}
		}
	}
}

func isLeafBlock(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Pre, atom.Table, atom.Blockquote, atom.Hr, atom.Dl:
		return true
	}
	return isHeading(tag)
}

// definitions writes a definition list: every term on a line, then its
// meanings behind a colon.
func (w *writer) definitions(i int32, c context) {
	if w.mode != inParagraph {
		w.box(i, c)
		return
	}
	w.flush()
	outer := w.tight
	w.tight = false
	w.terms(i, c, false)
	w.tight = outer
	w.flush()
}

// terms writes the children of a definition list, or of a div that groups
// them. It reports whether the last thing written was a term.
func (w *writer) terms(i int32, c context, afterTerm bool) bool {
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		n := w.t.node(ch)
		if n.mark&(markHidden|markLeftOut) != 0 {
			continue
		}
		switch n.tag {
		case atom.Dt:
			if w.remember(ch); w.term(ch, c, afterTerm) {
				afterTerm = true
			}
		case atom.Dd:
			w.remember(ch)
			w.meaning(ch, c, afterTerm)
			afterTerm = false
		case atom.Div:
			w.remember(ch)
			afterTerm = w.terms(ch, c, afterTerm)
		default:
			w.walk(ch, c)
		}
	}
	return afterTerm
}

// term writes a term; a second one for the same meaning stands on the next line.
func (w *writer) term(i int32, c context, afterTerm bool) bool {
	w.flush()
	if w.holdsHeading(i) {
		w.children(i, c)
		w.flush()
		return false
	}
	w.collect(i, c, inHeading)
	if !w.para.settle() {
		w.para.reset()
		return afterTerm
	}
	w.begin(afterTerm)
	w.land()
	w.out = w.render(w.out, inTerm)
	w.para.reset()
	return true
}

// meaning writes what a term means. Nested definition lists are not indented
// further: four blanks would make code of them.
func (w *writer) meaning(i int32, c context, afterTerm bool) {
	w.flush()
	more := "  "
	if w.defined {
		more = ""
	}
	outer := w.defined
	w.defined = true
	if w.opensWithText(i) && w.levels < maxPrefix {
		w.inside(afterTerm, ": ", more, func() { w.children(i, c) })
	} else {
		w.prefix = append(w.prefix, more...)
		w.children(i, c)
		w.flush()
		w.prefix = w.prefix[:len(w.prefix)-len(more)]
	}
	w.defined = outer
}

// opensWithText reports whether the first thing in a block is a paragraph, so
// that a sign can stand before it.
func (w *writer) opensWithText(i int32) bool {
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		n := w.t.node(ch)
		if n.mark&markText == 0 || n.mark&(markHidden|markLeftOut) != 0 {
			continue
		}
		switch {
		case n.mark&markBlock == 0 || n.tag == atom.P:
			return true
		case isList(n.tag) || isLeafBlock(n.tag):
			return false
		}
		return w.opensWithText(ch)
	}
	return false
}

// collect gathers the inline content of an element for one line.
func (w *writer) collect(i int32, c context, m mode) {
	outer := w.mode
	w.mode = m
	w.children(i, c)
	w.mode = outer
}
