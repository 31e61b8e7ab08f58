// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"

	"golang.org/x/net/html/atom"
)

const (
	// maxPrefix bounds the nesting of quotes and lists that is shown, so that a
	// line never costs more than a few dozen bytes of signs. Deeper ones
	// continue at the deepest shown level.
	maxPrefix = 24
	// maxAnchors and maxSections bound what a document remembers about places.
	maxAnchors  = 20_000
	maxSections = 10_000
	maxLinks    = 20_000
)

// writer turns the marked tree into CommonMark with the tables, task lists,
// footnotes and strikethrough of GFM. It walks the tree once. Inline content is gathered in
// para until a block begins or ends; then it is written as one paragraph,
// heading or cell.
type writer struct {
	t       *tree
	opt     Options
	ownText int  // letters that the page itself shows
	framed  bool // inside the text of an inline frame
	links   *linker
	notes   notes

	out       []byte
	prefix    []byte // what every further line of the open containers begins with
	levels    int    // number of open containers
	fresh     bool   // a container has just been opened: the next block begins on this line
	tight     bool   // in an item of a list without blank lines
	defined   bool   // in the meaning of a term
	lineStart int    // offset of the current line
	cut       bool   // MaxText was reached

	para inline
	mode mode  // other than inParagraph: blocks become breaks in para
	mute style // styles that ended inside an element that goes on
	dead int32 // a link that ended inside an element that goes on
	last int   // len(out) after the last list, to keep two lists apart
	sign byte  // its bullet or delimiter

	ids      []string // anchors that wait for the next block
	anchors  map[string]int
	sections []Section
}

// context is what an inline element hands down to what is inside it.
type context struct {
	style style
	link  int32 // index into linker.refs plus 1; 0 is none
	span  int32 // the outermost styled element
}

// with adds the style of an element. Code knows no other styles inside it.
func (c context) with(i int32, s style) context {
	if c.style == 0 && s != 0 {
		c.span = i
	}
	if c.style&code == 0 {
		c.style |= s
	}
	return c
}

func newWriter(t *tree, opt Options, links *linker) *writer {
	if opt.MaxText <= 0 {
		opt.MaxText = DefaultMaxText
	}
	return &writer{t: t, opt: opt, links: links, fresh: true, last: -1, anchors: map[string]int{}}
}

// write gives the Markdown of a subtree, ending with a newline.
func (w *writer) write(root int32) []byte {
	w.notes = findNotes(w.t)
	w.walk(root, context{})
	w.flush()
	w.linkList()
	w.land()
	if len(w.out) > 0 {
		w.out = append(bytes.TrimRight(w.out, "\n "), '\n')
	}
	return w.out
}

func (w *writer) full() bool {
	if len(w.out)+len(w.para.buf) < w.opt.MaxText {
		return false
	}
	w.cut = true
	return true
}

// walk writes one node. The depth of the tree is capped, so recursion is safe.
func (w *writer) walk(i int32, c context) {
	n := w.t.node(i)
	if n.mark&(markHidden|markLeftOut) != 0 || w.full() {
		return
	}
	switch n.kind {
	case textNode:
		w.text(w.t.content(i), c)
	case endNode:
		w.end(int32(n.off))
	default:
		w.element(i, n.tag, c)
	}
}

func (w *writer) children(i int32, c context) {
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		w.walk(ch, c)
	}
}

// element writes an element by what it is.
func (w *writer) element(i int32, tag atom.Atom, c context) {
	w.remember(i)
	switch label := w.notes.items[i]; {
	case w.notes.back[i]:
	case label != "" && tag != atom.Li && w.mode == inParagraph:
		w.note(i, label, c)
	case isHeading(tag):
		w.heading(i, headingLevel(tag), c)
	case isList(tag):
		w.list(i, c)
	case w.blockElement(i, tag, c), w.mediaElement(i, tag, c), w.mathElement(i, tag, c):
	case isBlock(tag):
		w.box(i, c)
	default:
		w.inlineElement(i, tag, c)
	}
}

func (w *writer) blockElement(i int32, tag atom.Atom, c context) bool {
	switch tag {
	case atom.Hr:
		if w.mode != inParagraph {
			w.gap()
			return true
		}
		w.flush()
		if len(w.out) == 0 {
			return true // what it would set off was left out
		}
		w.leaf()
		w.out = append(w.out, "---"...)
	case atom.Pre, atom.Xmp, atom.Listing, atom.Plaintext:
		w.pre(i, c)
	case atom.Blockquote:
		w.quote(i, c)
	case atom.Li:
		w.strayItem(i, c)
	case atom.Dl:
		w.definitions(i, c)
	case atom.Table:
		w.table(i, c)
	case atom.Summary:
		w.summary(i, c)
	default:
		return false
	}
	return true
}

// box writes a block without a sign of its own.
func (w *writer) box(i int32, c context) {
	w.gap()
	if hasWord(w.t.get(i, keyClass), "admonition-title", "callout-title", "alert-title") {
		c = c.with(i, strong)
	}
	w.children(i, c)
	w.gap()
}

// gap ends the paragraph before or after a block.
func (w *writer) gap() {
	if w.mode != inParagraph {
		w.para.gap()
		return
	}
	w.flush()
}

// flush writes the gathered inline content as a paragraph.
func (w *writer) flush() {
	if w.mode != inParagraph || !w.para.settle() {
		return
	}
	w.leaf()
	w.out = w.render(w.out, inParagraph)
	w.para.reset()
}

// leaf begins a block that holds text: the anchors that waited stand here.
func (w *writer) leaf() {
	w.begin(false)
	w.land()
}

// begin starts a block on a line of its own, after a blank line unless tight.
func (w *writer) begin(tight bool) {
	if w.fresh {
		w.fresh = false
		return
	}
	w.out = append(w.out, '\n')
	if !tight {
		w.out = append(w.out, bytes.TrimRight(w.prefix, " ")...)
		w.out = append(w.out, '\n')
	}
	w.lineStart = len(w.out)
	w.out = append(w.out, w.prefix...)
}

// newline continues the open block on the next line.
func (w *writer) newline() {
	w.out = append(w.out, '\n')
	w.lineStart = len(w.out)
	w.out = append(w.out, w.prefix...)
}

// inside opens a container: sign stands on its first line, more on the others.
// A container that stays empty leaves no trace. It reports whether something
// was written.
func (w *writer) inside(tight bool, sign, more string, write func()) bool {
	if w.levels >= maxPrefix {
		write()
		w.flush()
		return true
	}
	mark, fresh, start, prefix := len(w.out), w.fresh, w.lineStart, len(w.prefix)
	w.begin(tight)
	w.out = append(w.out, sign...)
	w.prefix = append(w.prefix, more...)
	w.fresh = true
	w.levels++
	write()
	w.flush()
	w.levels--
	w.prefix = w.prefix[:prefix]
	if w.fresh {
		w.out, w.fresh, w.lineStart = w.out[:mark], fresh, start
		return false
	}
	return true
}

func (w *writer) quote(i int32, c context) {
	if w.mode != inParagraph {
		w.box(i, c)
		return
	}
	w.flush()
	tight := w.tight
	w.tight = false
	w.inside(false, "> ", "> ", func() { w.children(i, c) })
	w.tight = tight
}

// summary is the label of a fold; it is set off from what is folded.
func (w *writer) summary(i int32, c context) {
	w.gap()
	if !w.holdsHeading(i) {
		c = c.with(i, strong)
	}
	w.children(i, c)
	w.gap()
}

func (w *writer) holdsHeading(i int32) bool {
	return w.t.any(i, nearby, func(j int32) bool { return isHeading(w.t.nodes[j].tag) })
}

// end mutes the style or link of a formatting element that ended here while
// blocks inside it go on.
func (w *writer) end(i int32) {
	w.mute |= styleOf(w.t.nodes[i].tag)
	if w.t.is(i, atom.A) {
		w.dead = w.links.index[i]
	}
}
