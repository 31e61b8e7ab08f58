// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxDepth is the deepest nesting of the tree, the cap that browsers share.
	// Deeper elements hang on the deepest allowed one, so that their text is
	// kept; html.Parse of golang.org/x/net refuses such pages altogether.
	maxDepth = 512
	// maxNodes bounds the memory and time of a tree: a million nodes are 45 MiB, and
	// no page of 10 MiB that a person wrote has a quarter of it.
	maxNodes = 1 << 20
	// maxOpen bounds the stack of open elements beyond maxDepth. Elements above
	// it are kept but not nested.
	maxOpen = 1 << 17
	// maxSearch bounds how far down the stack an end tag looks for its element.
	// The deepest pages of large collections nest 60 elements.
	maxSearch = 128
	// maxAttrValue bounds what is kept of one attribute: longer values are
	// data, not words (a data: address, a serialised state).
	maxAttrValue = 16 << 10
	// maxFrame is the longest srcdoc that is read: it is a page of its own.
	maxFrame = 1 << 20
	// maxOther and maxOthers bound the attributes of an element that are kept
	// only for the selectors of style sheets, in bytes and in number.
	maxOther  = 64
	maxOthers = 8
	// maxReopen is how many formatting elements are reopened at most, so that a
	// run of unclosed ones cannot multiply.
	maxReopen = 4
)

// open is an entry of the stack of open elements. A dead entry is a formatting
// element that ended before the blocks inside it.
type open struct {
	node  int32
	tag   atom.Atom
	class class
	dead  bool
}

// builder turns the tokens of a page into a tree. It follows the tree
// construction of the HTML standard (WHATWG 13.2.6) where pages depend on it:
// implied end tags, tables, misnested formatting, head and body. Every step is
// bounded, so the time is linear in the page.
type builder struct {
	t       *tree
	z       *html.Tokenizer
	text    strings.Builder
	stack   []open
	count   map[atom.Atom]int // open elements by tag: most searches end here
	reopen  []int32           // formatting elements to open again, oldest first
	foreign int               // open svg and math elements
	// foreignAt is the place of the outermost of them in the stack.
	foreignAt int
	body      bool // the body has begun
}

// parse reads a whole page. It never fails: what cannot be understood is
// treated as browsers treat it, and what passes a limit is left out (tree.cut).
func parse(page string) *tree {
	b := &builder{t: &tree{nodes: make([]node, 0, 64+len(page)/24)}, count: map[atom.Atom]int{}}
	b.z = html.NewTokenizer(strings.NewReader(page))
	b.text.Grow(len(page) / 2)
	b.add(none, node{tag: atom.Html})
	b.add(rootNode, node{tag: atom.Head})
	b.add(rootNode, node{tag: atom.Body})
	b.stack = append(b.stack, open{node: headNode, tag: atom.Head, class: special})
	for b.step() {
	}
	b.t.text = b.text.String()
	return b.t
}

func (b *builder) step() bool {
	switch b.z.Next() {
	case html.ErrorToken:
		return false
	case html.TextToken:
		b.addText(b.z.Text())
	case html.StartTagToken:
		b.startTag(false)
	case html.SelfClosingTagToken:
		b.startTag(true)
	case html.EndTagToken:
		name, _ := b.z.TagName()
		b.endTag(atom.Lookup(name), name)
	}
	if len(b.t.nodes) >= maxNodes {
		b.t.cut = true
		return false
	}
	return true
}

func (b *builder) top() open { return b.stack[len(b.stack)-1] }

// add appends n as the last child of parent and gives its index.
func (b *builder) add(parent int32, n node) int32 {
	i := int32(len(b.t.nodes))
	n.parent, n.first, n.last, n.next = parent, none, none, none
	b.t.nodes = append(b.t.nodes, n)
	if parent == none {
		return i
	}
	p := &b.t.nodes[parent]
	if p.last == none {
		p.first = i
	} else {
		b.t.nodes[p.last].next = i
	}
	p.last = i
	return i
}

// place is the node that new children hang on: the innermost open element, or
// the one at the depth cap.
func (b *builder) place() int32 {
	if len(b.stack) > maxDepth {
		return b.stack[maxDepth-1].node
	}
	return b.top().node
}

// store keeps bytes in the text of the tree.
func (b *builder) store(s []byte) (off, size uint32) {
	off = uint32(b.text.Len())
	b.text.Write(s)
	return off, uint32(len(s))
}

func (b *builder) addText(s []byte) {
	blank := isBlankBytes(s)
	if !b.body && b.top().node == headNode {
		if blank {
			return
		}
		b.beginBody()
	}
	if !blank {
		b.reconstruct()
	}
	if tag := b.top().tag; tag == atom.Script || tag == atom.Style {
		b.addRaw(tag, s)
		return
	}
	n := node{kind: textNode}
	if needsCleaning(s) {
		n.off, n.size = b.store([]byte(b.clean(string(s))))
	} else {
		n.off, n.size = b.store(s)
	}
	parent := b.top().node
	b.add(parent, n)
}

// clean removes invisible characters and counts them.
func (b *builder) clean(s string) string {
	s, removed := cleanInvisible(s)
	for what, n := range removed {
		if b.t.invisible == nil {
			b.t.invisible = map[string]int{}
		}
		b.t.invisible[what] += n
	}
	return s
}

// addRaw keeps the text of scripts that hold data and of style sheets, and
// counts the rest.
func (b *builder) addRaw(tag atom.Atom, s []byte) {
	if tag == atom.Script {
		b.t.scriptBytes += len(s)
		if !b.holdsData(b.top().node) {
			return
		}
	}
	off, size := b.store(s)
	b.add(b.top().node, node{kind: textNode, off: off, size: size})
}

// holdsData reports whether a script element is data rather than a program:
// JSON-LD, state of an application, or TeX.
func (b *builder) holdsData(i int32) bool {
	n := &b.t.nodes[i]
	for _, a := range b.t.attrs[n.attrs : n.attrs+int32(n.nattr)] {
		v := b.text.String()[a.off : a.off+a.size]
		switch {
		case a.key == keyType && (strings.Contains(v, "json") || strings.HasPrefix(v, "math/")),
			a.key == keyID && strings.HasPrefix(v, "__"):
			return true
		}
	}
	return false
}

// needsCleaning reports whether s may hold something that cleanInvisible
// removes; plain ASCII text never does.
func needsCleaning(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f' || c == 0x7f {
			return true
		}
	}
	return false
}

func isBlankBytes(s []byte) bool {
	for _, c := range s {
		if !isBlank(c) {
			return false
		}
	}
	return true
}

// isBlank reports whether c is ASCII whitespace as HTML means it.
func isBlank(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}
