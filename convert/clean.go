// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"
	"unicode/utf8"
)

// maxMarks is how many combining marks one base keeps. Vietnamese needs two,
// Hebrew and Tibetan up to five; longer stacks only hide their neighbours.
const maxMarks = 8

// Clean readies text for a model or a terminal. Code points that show nothing
// go, except where a script or an emoji needs them; blanks of all widths become
// spaces; terminal sequences go; marks that imitate the conversation's own are
// broken by a space, visibly, and nothing around them is dropped.
//
// The result is valid UTF-8, Clean of it changes nothing more, and the time is
// linear. What was done comes back as warnings of the contract, nil for none.
func Clean(s string) (string, []Removed) {
	s, counts := cleanInvisible(s)
	s, marks := breakMarks(s)
	removed := invisibleWarnings(counts)
	if r, ok := counted(CodeMarks, marks); ok {
		removed = append(removed, r)
	}
	return s, removed
}

// invisibleWarnings words the counts of cleanInvisible.
func invisibleWarnings(counts map[string]int) (removed []Removed) {
	for _, code := range []string{CodeInvisible, CodePrivateUse} {
		if r, ok := counted(code, counts[code]); ok {
			removed = append(removed, r)
		}
	}
	return removed
}

// cleanInvisible is the part of Clean that needs no look at words. The counts
// are by warning code: characters removed. Blanks that become spaces are not
// counted, nor is a carriage return before a newline.
func cleanInvisible(s string) (string, map[string]int) {
	i := firstSpecial(s)
	if i < 0 {
		return s, nil
	}
	c := cleaner{in: s, pos: i}
	c.out.Grow(len(s))
	c.out.WriteString(s[:i])
	if i > 0 { // ASCII, so one byte
		c.note(rune(s[i-1]))
	}
	for c.pos < len(c.in) {
		c.step()
	}
	return c.out.String(), c.counts
}

// firstSpecial is the offset of the first byte that is not printable ASCII,
// tab or newline, -1 for none: most text ends here.
func firstSpecial(s string) int {
	for i := range len(s) {
		if b := s[i]; b < ' ' && b != '\n' && b != '\t' || b >= 0x7F {
			return i
		}
	}
	return -1
}

// A cleaner walks text once. It remembers the last runes that it kept, because
// joiners and selectors are judged by what stands before them.
type cleaner struct {
	in     string
	pos    int
	out    strings.Builder
	counts map[string]int

	last   rune // last rune kept, 0 at the start
	base   rune // last rune kept that is no selector, joiner or skin tone
	marks  int  // combining marks since the last base
	joined bool // the last rune kept is a joiner, selector or filler: a second one is no sequence
}

func (c *cleaner) step() {
	if plain := firstSpecial(c.in[c.pos:]); plain != 0 {
		c.keepPlain(plain)
		return
	}
	r, size := utf8.DecodeRuneInString(c.in[c.pos:])
	if r == utf8.RuneError && size <= 1 {
		c.keep(utf8.RuneError, wrongBytes(c.in[c.pos:]))
		return
	}
	switch classify(r) {
	case visible:
		c.keepMark(r, size)
	case blank:
		c.keep(' ', size)
	case line:
		c.pos += size
		if !strings.HasPrefix(c.in[c.pos:], "\n") {
			c.keep('\n', 0)
		}
	case blankWide: // counted, and a space marks the place
		c.count(CodeInvisible)
		c.keep(' ', size)
	case private:
		c.drop(CodePrivateUse, size)
	case joining:
		c.joiner(r, size)
	case escape:
		c.drop(CodeInvisible, controlSequence(c.in[c.pos:]))
	default:
		c.drop(CodeInvisible, size)
	}
}

// keepPlain copies a stretch of printable ASCII; n < 0 means the rest.
func (c *cleaner) keepPlain(n int) {
	if n < 0 {
		n = len(c.in) - c.pos
	}
	c.out.WriteString(c.in[c.pos : c.pos+n])
	c.pos += n
	c.note(rune(c.in[c.pos-1]))
}

func (c *cleaner) keep(r rune, size int) {
	c.out.WriteRune(r)
	c.pos += size
	c.note(r)
}

// note remembers a rune that was kept.
func (c *cleaner) note(r rune) {
	c.last, c.joined, c.marks = r, false, 0
	if !isSkinTone(r) {
		c.base = r
	}
}

// keepMark keeps a rune that shows, unless it is one combining mark too many.
func (c *cleaner) keepMark(r rune, size int) {
	if !isMark(r) {
		c.keep(r, size)
		return
	}
	if c.marks >= maxMarks {
		c.drop(CodeInvisible, size)
		return
	}
	marks := c.marks + 1
	base := c.base
	c.keep(r, size)
	c.marks, c.base = marks, base
}

func (c *cleaner) drop(code string, size int) {
	c.count(code)
	c.pos += size
}

func (c *cleaner) count(code string) {
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.counts[code]++
}

// joiner keeps a joiner, selector or tag where the sequence it stands in needs
// it, and drops it elsewhere.
func (c *cleaner) joiner(r rune, size int) {
	if r >= 0xE0000 {
		c.flag(r, size)
		return
	}
	next, _ := utf8.DecodeRuneInString(c.in[c.pos+size:])
	if c.joined && !(r == zwj && c.last == emojiStyle) || !needed(r, c.last, c.base, next) {
		c.drop(CodeInvisible, size)
		return
	}
	base, marks := c.base, c.marks
	c.keep(r, size)
	c.base, c.marks, c.joined = base, marks, true
}

// flag keeps the tags of the three flags in general use, whole, right after
// the black flag that carries them; any other tag goes.
func (c *cleaner) flag(r rune, size int) {
	if c.last == 0x1F3F4 {
		for _, region := range []string{"gbeng", "gbsct", "gbwls"} {
			if tags := tagSequence(region); strings.HasPrefix(c.in[c.pos:], tags) {
				c.out.WriteString(tags)
				c.pos += len(tags)
				c.note(0xE007F)
				return
			}
		}
	}
	c.drop(CodeInvisible, size)
}

// tagSequence spells a region in tag characters, with the cancel tag.
func tagSequence(region string) string {
	var b strings.Builder
	for _, r := range region {
		b.WriteRune(0xE0000 + r)
	}
	b.WriteRune(0xE007F)
	return b.String()
}

// wrongBytes is the length of the longest part at the start of s that begins a
// UTF-8 sequence and cannot be continued, as the Encoding Standard replaces it.
func wrongBytes(s string) int {
	low, high, need := byte(0x80), byte(0xBF), 0
	switch b := s[0]; {
	case within(b, 0xC2, 0xDF):
		need = 1
	case within(b, 0xE0, 0xEF):
		need = 2
		if b == 0xE0 {
			low = 0xA0
		} else if b == 0xED {
			high = 0x9F
		}
	case within(b, 0xF0, 0xF4):
		need = 3
		if b == 0xF0 {
			low = 0x90
		} else if b == 0xF4 {
			high = 0x8F
		}
	}
	n := 1
	for ; n <= need && n < len(s) && within(s[n], low, high); n++ {
		low, high = 0x80, 0xBF
	}
	return n
}

// controlSequence is the length of an escape with the control sequence it
// opens (ECMA-48: parameters, intermediates, a final byte). Of any other
// sequence only the escape goes, since what follows may be text.
func controlSequence(s string) int {
	if !strings.HasPrefix(s, "\x1B[") {
		return 1
	}
	for i := 2; i < len(s) && i < 32; i++ {
		switch b := s[i]; {
		case within(b, '@', '~'):
			return i + 1
		case !within(b, ' ', '?'):
			return 1
		}
	}
	return 1
}
