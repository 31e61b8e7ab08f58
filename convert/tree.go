// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// The tree of a page is one flat array of nodes in document order, a parent
// always before its children, with all text in one string. That makes three
// things cheap that a tree of pointers makes dear: sums over subtrees are one
// loop backwards, marks that are inherited one loop forwards, and a page with
// a million elements is a handful of allocations.

type nodeKind uint8

const (
	elementNode nodeKind = iota
	textNode
	// endNode stands where a formatting element ended although a block inside
	// it goes on: <b><p>bold</b> not bold</p>. Its ref is the element.
	endNode
)

// none is the index of no node.
const none = int32(-1)

// Fixed places in every tree.
const (
	rootNode = int32(0)
	headNode = int32(1)
	bodyNode = int32(2)
)

type node struct {
	tag                       atom.Atom // 0 for text and for names the atom table does not know
	parent, first, last, next int32
	off, size                 uint32 // text of a text node, name of an element with tag 0
	attrs                     int32  // index of the first attribute
	nattr                     uint16
	kind                      nodeKind
	mark                      mark
}

// mark holds what the passes over the tree found out about a node.
type mark uint8

const (
	markHidden  mark = 1 << iota // not shown, and nothing inside it
	markCounted                  // the outermost hidden element of hidden text
	markLeftOut                  // boilerplate outside the main content
	markBlock                    // a block, or an element with a block inside
	markText                     // shows a letter, a digit or an image
)

type attr struct {
	key       attrKey
	off, size uint32
}

// tree is a page. It is not changed after parse except for the marks.
type tree struct {
	nodes []node
	attrs []attr
	text  string

	cut         bool           // nodes or text were left out because of a limit
	invisible   map[string]int // what cleanInvisible removed, by class
	scriptBytes int            // of scripts in the page, and 1 for each script elsewhere
}

func (t *tree) node(i int32) *node { return &t.nodes[i] }

func (t *tree) is(i int32, tag atom.Atom) bool { return i >= 0 && t.nodes[i].tag == tag }

// content is the text of a text node.
func (t *tree) content(i int32) string {
	n := &t.nodes[i]
	return t.text[n.off : n.off+n.size]
}

// name is the name of an element in lower case.
func (t *tree) name(i int32) string {
	n := &t.nodes[i]
	if n.tag != 0 {
		return n.tag.String()
	}
	return t.text[n.off : n.off+n.size]
}

// attr gives an attribute and whether it is there. The value may have been cut
// at maxAttrValue.
func (t *tree) attr(i int32, key attrKey) (string, bool) {
	n := &t.nodes[i]
	for _, a := range t.attrs[n.attrs : n.attrs+int32(n.nattr)] {
		if a.key == key {
			return t.text[a.off : a.off+a.size], true
		}
	}
	return "", false
}

// get is attr for callers to whom an empty value and none are the same.
func (t *tree) get(i int32, key attrKey) string {
	v, _ := t.attr(i, key)
	return v
}

func (t *tree) has(i int32, key attrKey) bool {
	_, ok := t.attr(i, key)
	return ok
}

// isWord reports whether an attribute is the given word, in any case.
func (t *tree) isWord(i int32, key attrKey, word string) bool {
	return strings.EqualFold(strings.TrimSpace(t.get(i, key)), word)
}

// hasAncestor reports whether an element with the tag is above i.
func (t *tree) hasAncestor(i int32, tag atom.Atom) bool {
	for i = t.nodes[i].parent; i != none; i = t.nodes[i].parent {
		if t.nodes[i].tag == tag {
			return true
		}
	}
	return false
}

// walk visits the subtree of i in document order, i itself first. visit
// returns false to leave out what is inside a node.
func (t *tree) walk(i int32, visit func(i int32) bool) {
	at := i
	for {
		if visit(at) && t.nodes[at].first != none {
			at = t.nodes[at].first
			continue
		}
		for at != i && t.nodes[at].next == none {
			at = t.nodes[at].parent
		}
		if at == i {
			return
		}
		at = t.nodes[at].next
	}
}

// any reports whether match holds for a node in the subtree of i that is shown,
// i included. It looks at no more than limit nodes.
func (t *tree) any(i int32, limit int, match func(i int32) bool) bool {
	return t.scan(i, limit, markHidden, match)
}

// scan is any for nodes without the marks in skip.
func (t *tree) scan(i int32, limit int, skip mark, match func(i int32) bool) bool {
	at := i
	for ; limit > 0; limit-- {
		shown := t.nodes[at].mark&skip == 0
		if shown && match(at) {
			return true
		}
		if shown && t.nodes[at].first != none {
			at = t.nodes[at].first
			continue
		}
		for at != i && t.nodes[at].next == none {
			at = t.nodes[at].parent
		}
		if at == i {
			return false
		}
		at = t.nodes[at].next
	}
	return false
}

// nearby is how many nodes are looked at to learn what a part is like. It keeps
// the time linear where parts are nested.
const nearby = 400

// shownText gives the visible text below i with blanks collapsed, at most
// limit bytes. Only the nodes nearby are looked at.
func (t *tree) shownText(i int32, limit int) string { return t.textWithin(i, limit, 8*nearby+limit/4) }

// textWithin is shownText that looks at so many nodes.
func (t *tree) textWithin(i int32, limit, nodes int) string {
	var b strings.Builder
	gap := false
	t.any(i, nodes, func(j int32) bool {
		n := t.node(j)
		switch {
		case n.kind == textNode:
			if gap {
				b.WriteByte(' ')
				gap = false
			}
			s := t.content(j)
			b.WriteString(s[:min(len(s), limit)])
		case n.tag == atom.Br || isBlock(n.tag):
			gap = true
		}
		return b.Len() >= limit
	})
	s := strings.Join(strings.Fields(b.String()), " ")
	return strings.ToValidUTF8(s[:min(len(s), limit)], "")
}

// rawText gives all text below i, hidden or not, as it stands, at most limit
// bytes.
func (t *tree) rawText(i int32, limit int) string {
	var b strings.Builder
	t.scan(i, 8*nearby+limit/4, 0, func(j int32) bool {
		if t.nodes[j].kind == textNode {
			s := t.content(j)
			b.WriteString(s[:min(len(s), limit-b.Len())])
		}
		return b.Len() >= limit
	})
	return strings.ToValidUTF8(b.String(), "")
}
