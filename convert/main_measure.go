// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"unicode"

	"golang.org/x/net/html/atom"
)

// stat is what a node shows, with all that is inside it.
type stat struct {
	letters int32 // letters and digits of visible text
	linked  int32 // those of them that stand in links
	links   int32 // links with text
	blocks  int32 // paragraphs and other pieces of running text
}

// density is the share of a text that stands in links.
func (s stat) density() float64 {
	if s.letters == 0 {
		return 0
	}
	return float64(s.linked) / float64(s.letters)
}

// own is how many letters stand outside of links.
func (s stat) own() int32 { return s.letters - s.linked }

// measure counts what every node shows and marks blocks and nodes that show
// anything. It is one loop backwards: children stand after their parents.
func measure(t *tree) []stat {
	stats := make([]stat, len(t.nodes))
	for i := int32(len(stats) - 1); i >= 0; i-- {
		n := t.node(i)
		if n.mark&markHidden != 0 {
			continue
		}
		s := &stats[i]
		switch n.kind {
		case textNode:
			text := t.content(i)
			s.letters = int32(countLetters(text))
			if s.letters > 0 || !isBlankText(text) {
				n.mark |= markText
			}
		case elementNode:
			if isBlock(n.tag) {
				n.mark |= markBlock
			}
			if showsSomething(t, i) {
				n.mark |= markText
			}
			switch {
			case n.tag == atom.A && t.has(i, keyHref):
				s.linked = s.letters
				s.links++
			case isRunning(n.tag) && s.letters > 0:
				s.blocks++
			}
		}
		if n.parent == none {
			continue
		}
		p := &stats[n.parent]
		p.letters += s.letters
		p.linked += s.linked
		p.links += s.links
		p.blocks += s.blocks
		t.nodes[n.parent].mark |= n.mark & (markText | markBlock)
	}
	return stats
}

// showsSomething reports whether an element is content although it holds no text.
func showsSomething(t *tree, i int32) bool {
	switch t.nodes[i].tag {
	case atom.Img:
		return t.get(i, keyAlt) != "" || t.has(i, keySrc) || t.has(i, keySrcset) || t.has(i, keyDataSrc)
	case atom.Iframe, atom.Video, atom.Audio, atom.Hr, atom.Math, atom.Script:
		return true
	case atom.Input:
		return t.isWord(i, keyType, "checkbox")
	}
	return false
}

func isRunning(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Pre, atom.Blockquote, atom.Dd:
		return true
	}
	return false
}

// countLetters counts letters and digits. A character of a script without
// blanks between words says as much as two letters of another.
func countLetters(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r < 0x80:
			if r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' {
				n++
			}
		case r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 2
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			n++
		}
	}
	return n
}

func isBlankText(s string) bool {
	for len(s) > 0 {
		n := blankPrefix(s)
		if n == 0 {
			return false
		}
		s = s[n:]
	}
	return true
}
