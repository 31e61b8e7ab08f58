// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// escapes knows which signs of an inline would be read as Markdown. A sign that
// cannot mean anything where it stands is left as it is: a backslash costs a
// reader attention and a model a token.
type escapes struct {
	star, score, tick, tilde bool     // signs of this kind can find a partner
	brackets                 []bool   // by offset: brackets that would form a link
	verbatim                 [][2]int // ranges of TeX, not to be touched
}

// findEscapes looks at all the plain text of an inline at once, since signs
// find their partners across runs.
func findEscapes(p *inline, all style, numbered bool) escapes {
	var x escapes
	counts := map[byte]int{}
	var depth []int
	for k, r := range p.runs {
		if r.kind != plainRun && r.kind != imageRun || r.style&code != 0 {
			continue
		}
		if r.kind == plainRun {
			x.findTeX(p.buf, int(r.from), int(r.to))
		}
		inLink := r.link != 0 || r.kind == imageRun
		for at := int(r.from); at < int(r.to); at++ {
			switch c := p.buf[at]; c {
			case '*', '_', '`', '~':
				counts[c]++
			case '[':
				depth = append(depth, at)
				if inLink {
					x.bracket(at, len(p.buf))
				}
			case ']':
				open := -1
				if n := len(depth); n > 0 {
					open, depth = depth[n-1], depth[:n-1]
				}
				if inLink || linkFollows(p, k, at, open, numbered) {
					x.bracket(at, len(p.buf))
					if open >= 0 {
						x.bracket(open, len(p.buf))
					}
				}
			}
		}
	}
	x.star = counts['*'] > 1 || counts['*'] > 0 && all&(strong|em) != 0
	x.score = counts['_'] > 1
	x.tick = counts['`'] > 1 || counts['`'] > 0 && all&code != 0
	x.tilde = counts['~'] > 1 || counts['~'] > 0 && all != 0
	return x
}

func (x *escapes) bracket(at, size int) {
	if x.brackets == nil {
		x.brackets = make([]bool, size)
	}
	x.brackets[at] = true
}

// linkFollows reports whether a closing bracket would make a link, a reference
// or a definition of what stands before it.
func linkFollows(p *inline, k, at, open int, numbered bool) bool {
	if open < 0 {
		return false
	}
	if p.buf[open+1] == '^' || numbered && len(bytes.Trim(p.buf[open+1:at], "0123456789")) == 0 {
		return true // a footnote, or one of our numbered references
	}
	next := byte(' ')
	if at+1 < int(p.runs[k].to) {
		next = p.buf[at+1]
	} else if k+1 < len(p.runs) {
		n := p.runs[k+1]
		switch {
		case n.link != 0 && n.link != p.runs[k].link:
			next = '['
		case n.to > n.from && n.kind == plainRun && n.style&code == 0:
			next = p.buf[n.from]
		}
	}
	return next == '(' || next == '[' || next == ':' && (open == 0 || p.runs[k].from == int32(open))
}

// findTeX notes formulas that a script of the page would typeset: what stands
// between \( \), \[ \] or $$ $$ is kept verbatim.
func (x *escapes) findTeX(buf []byte, from, to int) {
	s := buf[from:to]
	if bytes.IndexByte(s, '\\') < 0 && !bytes.Contains(s, []byte("$$")) {
		return
	}
	for _, pair := range [][2]string{{"\\(", "\\)"}, {"\\[", "\\]"}, {"$$", "$$"}} {
		for at := 0; ; {
			a := bytes.Index(s[at:], []byte(pair[0]))
			if a < 0 {
				break
			}
			a += at
			b := bytes.Index(s[a+2:], []byte(pair[1]))
			if b < 0 {
				break
			}
			b += a + 2
			if body := s[a+2 : b]; isFormula(body) {
				x.verbatim = append(x.verbatim, [2]int{from + a, from + b + 2})
			}
			at = b + 2
		}
	}
	slices.SortFunc(x.verbatim, func(a, b [2]int) int { return a[0] - b[0] })
}

// maxFormula is the longest text between two TeX marks that is taken for a
// formula.
const maxFormula = 4000

// isFormula reports whether s looks like TeX and holds nothing that a Markdown
// reader would take for a link, code or an element.
func isFormula(s []byte) bool {
	if len(s) == 0 || len(s) > maxFormula || bytes.IndexByte(s, '`') >= 0 || bytes.Contains(s, []byte("](")) {
		return false
	}
	for k := 0; k+1 < len(s); k++ {
		if s[k] == '<' && opensTag(s[k+1]) {
			return false
		}
	}
	return len(s) <= 3 || bytes.ContainsAny(s, "_^\\={}+-/<>")
}

func opensTag(next byte) bool {
	return next|0x20 >= 'a' && next|0x20 <= 'z' || next == '/' || next == '!' || next == '?'
}

// write appends the plain text of run k with its escapes.
func (x *escapes) write(dst []byte, p *inline, k int, m mode, lineStart bool) []byte {
	r := p.runs[k]
	from, to := int(r.from), int(r.to)
	end := to
	if m == inHeading && k == len(p.runs)-1 {
		end = closingMark(p.buf[from:to]) + from
	}
	at := from
	if lineStart {
		dst, at = writeLineStart(dst, p, k)
	}
	for ; at < to; at++ {
		if stop := x.texAt(at, to); stop > at {
			dst = appendTeX(dst, p.buf[at:stop], m)
			at = stop - 1
			continue
		}
		c := p.buf[at]
		if c < utf8.RuneSelf && x.needed(c, p, k, at, m) || at == end && c == '#' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst
}

func (x *escapes) texAt(at, to int) int {
	for len(x.verbatim) > 0 && x.verbatim[0][1] <= at {
		x.verbatim = x.verbatim[1:]
	}
	if len(x.verbatim) > 0 && x.verbatim[0][0] == at {
		return min(x.verbatim[0][1], to)
	}
	return 0
}

func appendTeX(dst, s []byte, m mode) []byte {
	if m == inCell {
		s = bytes.ReplaceAll(s, []byte("|"), []byte("\\|"))
	}
	return append(dst, s...)
}

// needed reports whether the sign at an offset would be read as Markdown.
func (x *escapes) needed(c byte, p *inline, k, at int, m mode) bool {
	switch c {
	case '*':
		return x.star && !loose(p, k, at)
	case '_':
		return x.score && !loose(p, k, at) && !insideWord(p.buf, at)
	case '`':
		return x.tick
	case '~':
		return x.tilde && !loose(p, k, at)
	case '[', ']':
		return at < len(x.brackets) && x.brackets[at]
	case '|':
		return m == inCell
	case '<':
		return at+1 < len(p.buf) && opensTag(p.buf[at+1])
	case '&':
		return opensEntity(p.buf[at+1:])
	case '!':
		return at+1 == int(p.runs[k].to) && k+1 < len(p.runs) && p.runs[k+1].link != 0 && p.runs[k+1].link != p.runs[k].link
	case '\\':
		return at+1 == int(p.runs[k].to) || isPunct(p.buf[at+1])
	}
	return false
}

func isPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// loose reports whether a sign has blanks on both sides, so that it can
// neither open nor close anything. At the edge of a run signs of our own may
// follow.
func loose(p *inline, k, at int) bool {
	r := p.runs[k]
	plain := r.style == 0 && r.link == 0
	left := at > int(r.from) && p.buf[at-1] == ' ' || at == 0 && plain
	right := at+1 < int(r.to) && p.buf[at+1] == ' ' || at+1 == len(p.buf) && plain
	return left && right
}

// insideWord reports whether the run of underscores at an offset stands
// between two letters or digits.
func insideWord(buf []byte, at int) bool {
	a, b := at, at+1
	for a > 0 && buf[a-1] == '_' && at-a < 64 {
		a--
	}
	for b < len(buf) && buf[b] == '_' && b-a < 64 {
		b++
	}
	before, _ := utf8.DecodeLastRune(buf[:a])
	after, _ := utf8.DecodeRune(buf[b:])
	return isWordRune(before) && isWordRune(after)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// opensEntity reports whether what follows an ampersand makes a character
// reference.
func opensEntity(s []byte) bool {
	for k := 0; k < len(s) && k < 33; k++ {
		switch c := s[k]; {
		case c == ';':
			return k > 0
		case c == '#' && k == 0, c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z':
		default:
			return false
		}
	}
	return false
}

// closingMark gives the offset of a run of # at the end of a heading, which
// would be dropped as its closing mark; the length of s for none.
func closingMark(s []byte) int {
	k := len(s)
	for k > 0 && s[k-1] == '#' {
		k--
	}
	if k == len(s) || k > 0 && s[k-1] != ' ' {
		return len(s)
	}
	return k
}

// writeLineStart escapes what would make a block of the line and gives the
// offset after what it wrote.
func writeLineStart(dst []byte, p *inline, k int) ([]byte, int) {
	r := p.runs[k]
	s := p.buf[r.from:r.to]
	ends := k+1 == len(p.runs) || p.runs[k+1].kind == breakRun
	from := int(r.from)
	n := blockMark(s, ends)
	if n == 0 {
		return dst, from
	}
	dst = append(dst, s[:n-1]...)
	return append(dst, '\\', s[n-1]), from + n
}

// blockMark gives the length of the mark that makes a block of a line, up to
// the sign to escape; 0 for none. ends says that the line ends after s.
func blockMark(s []byte, ends bool) int {
	if len(s) == 0 {
		return 0
	}
	wordEnd := func(n int) bool { return n == len(s) && ends || n < len(s) && s[n] == ' ' }
	switch c := s[0]; {
	case c == '>':
		return 1
	case c == '#':
		n := 1
		for n < len(s) && n < 7 && s[n] == '#' {
			n++
		}
		if n < 7 && wordEnd(n) {
			return 1
		}
	case (c == '-' || c == '+' || c == '*') && wordEnd(1):
		return 1
	case c >= '0' && c <= '9':
		n := 1
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n < len(s) && (s[n] == '.' || s[n] == ')') && wordEnd(n+1) {
			return n + 1
		}
	case bytes.HasPrefix(s, []byte("~~~")):
		return 1
	case bytes.HasPrefix(s, []byte("[ ] ")) || bytes.HasPrefix(s, []byte("[x] ")) || bytes.HasPrefix(s, []byte("[X] ")):
		return 1
	}
	if ends && bytes.IndexByte([]byte("-=_*|:"), s[0]) >= 0 && len(bytes.Trim(s, "-=_*|: ")) == 0 {
		return 1
	}
	return 0
}
