// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// notes knows the footnotes of a page: marks in the text, the notes they lead
// to and the links that lead back.
type notes struct {
	marks map[int32]string // a element in the text → label
	items map[int32]string // element with the text of the note → label
	back  map[int32]bool   // links back to the text, and the label of a note beside its text
}

// maxNotes bounds the footnotes of a page.
const maxNotes = 5000

// findNotes looks for links that are the mark of a note on the same page. A
// mark whose note is not shown stays an ordinary link.
func findNotes(t *tree) notes {
	n := notes{marks: map[int32]string{}, items: map[int32]string{}, back: map[int32]bool{}}
	marks, labels := map[string][]int32{}, map[string]string{}
	var order []string // ids of notes as the text first leads to them
	places := map[string]int32{}
	t.walk(bodyNode, func(i int32) bool {
		if t.nodes[i].mark&(markHidden|markLeftOut) != 0 {
			return false
		}
		if t.nodes[i].kind != elementNode {
			return true
		}
		if id := t.get(i, keyID); id != "" && canHoldNote(t, i) && len(places) < maxNotes {
			places[id] = i
		}
		if id, label, ok := noteMark(t, i); ok && len(marks) < maxNotes {
			if labels[id] == "" {
				labels[id], order = label, append(order, id)
			}
			marks[id] = append(marks[id], i)
		}
		return true
	})
	used := map[string]bool{}
	for _, id := range order {
		place, ok := places[id]
		if !ok {
			continue
		}
		label := labels[id]
		if used[label] {
			label = noteLabel(id)
		}
		if label == "" || used[label] {
			continue
		}
		used[label] = true
		n.items[place] = label
		for _, i := range marks[id] {
			n.marks[i] = label
		}
	}
	n.findBackLinks(t)
	return n
}

// canHoldNote reports whether an element can be the text of a footnote.
func canHoldNote(t *tree, i int32) bool {
	switch t.nodes[i].tag {
	case atom.Li:
		return true
	case atom.Div, atom.Aside, atom.P, atom.Section:
		return t.isWord(i, keyRole, "doc-footnote") || hasWord(t.get(i, keyClass), "footnote", "footnote-item", "footnote-definition")
	}
	return false
}

// noteMark reports whether a link is a footnote's mark, with the id it leads
// to and its label.
func noteMark(t *tree, i int32) (id, label string, ok bool) {
	href := t.get(i, keyHref)
	if !t.is(i, atom.A) || len(href) < 2 || href[0] != '#' {
		return "", "", false
	}
	parent := t.nodes[i].parent
	marked := t.is(parent, atom.Sup) || t.nodes[i].first != none && t.is(t.nodes[i].first, atom.Sup) ||
		t.isWord(i, keyRole, "doc-noteref") || hasWord(t.get(i, keyClass), "footnote-reference", "footnote-ref", "footnote")
	if !marked {
		return "", "", false
	}
	label = noteLabel(strings.Trim(t.shownText(i, 32), "[]() "))
	return href[1:], label, label != ""
}

// noteLabel keeps a text that can be a label: short, letters and digits.
func noteLabel(s string) string {
	for _, r := range s {
		if !isWordRune(r) && r != '-' && r != '_' && r != '.' {
			return ""
		}
	}
	if len(s) > 40 {
		return ""
	}
	return s
}

// findBackLinks notes the links inside the notes that lead back to the marks.
func (n *notes) findBackLinks(t *tree) {
	places := map[string]bool{} // ids of the marks and of what is around them
	for i := range n.marks {
		for range 3 {
			if id := t.get(i, keyID); id != "" {
				places[id] = true
			}
			if i = t.nodes[i].parent; i == none || isBlock(t.nodes[i].tag) {
				break
			}
		}
	}
	for item := range n.items {
		t.walk(item, func(i int32) bool {
			if t.is(i, atom.Span) && t.nodes[i].parent == item && hasWord(t.get(i, keyClass), "label", "backrefs") {
				n.back[i] = true
				return false
			}
			if href := t.get(i, keyHref); t.is(i, atom.A) && strings.HasPrefix(href, "#") {
				text := strings.TrimSpace(t.shownText(i, 32))
				if places[href[1:]] || letters(text) == "" || len(text) == 1 || t.isWord(i, keyRole, "doc-backlink") ||
					hasWord(t.get(i, keyClass), "footnote-backref", "footnote-back", "reversefootnote", "backref") {
					n.back[i] = true
				}
			}
			return true
		})
	}
}

// noteMark writes the sup around a footnote's mark without the sup.
func (w *writer) noteMark(i int32, c context) bool {
	marks := 0
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		switch {
		case w.notes.marks[ch] != "":
			marks++
		case w.t.nodes[ch].kind == textNode && letters(w.t.content(ch)) == "":
		default:
			return false
		}
	}
	if marks == 0 {
		return false
	}
	for ch := w.t.nodes[i].first; ch != none; ch = w.t.nodes[ch].next {
		if w.notes.marks[ch] != "" {
			w.walk(ch, c)
		}
	}
	return true
}

// note writes the text of a footnote.
func (w *writer) note(i int32, label string, c context) {
	w.flush()
	tight := w.tight
	w.tight = false
	w.inside(false, "[^"+label+"]: ", "    ", func() { w.children(i, c) })
	w.tight = tight
}
