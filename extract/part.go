// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// findAround is how many bytes of text come with each place that Find finds:
	// two or three lines, enough to judge it.
	findAround = 200
	// findMost bounds the places that one Find shows; what is meant is seldom the
	// twenty-first.
	findMost = 20
	// findShown is how much of a text that was looked for the answer repeats, in bytes.
	findShown = 160
)

// Locate finds the section that a reader means by id: its own id, or the anchor
// of an element inside it (anchors: id to byte offset).
func Locate(d Doc, anchors map[string]int, id string) (Section, bool) {
	for _, s := range d.Sections {
		if s.ID == id {
			return s, true
		}
	}
	at, ok := anchors[id]
	if !ok {
		return Section{}, false
	}
	return sectionAt(d, at), true
}

// Narrow gives the document that one section is by itself. Its offsets count from
// the start of the section.
func Narrow(d Doc, s Section) Doc {
	n := d
	n.Markdown, n.Sections = d.Markdown[s.Start:s.End], nil
	for _, t := range d.Sections {
		if t.Start >= s.Start && t.End <= s.End {
			t.Start, t.End = t.Start-s.Start, t.End-s.Start
			n.Sections = append(n.Sections, t)
		}
	}
	return n
}

// sectionAt is the innermost section that holds a byte offset; before the first
// heading it is the whole document.
func sectionAt(d Doc, at int) Section {
	best := Section{End: len(d.Markdown)}
	for _, s := range d.Sections {
		if s.Start <= at && at < s.End && s.Start >= best.Start {
			best = s
		}
	}
	return best
}

// Find shows the places where the document holds text, without regard to case,
// each with what stands around it and the headings above it. budget is in
// tokens, 0 for none. Without a hit both results are empty.
func Find(d Doc, text string, budget int) (string, []Citation) {
	hits := places(d.Markdown, text)
	if len(hits) == 0 {
		return "", nil
	}
	var b strings.Builder
	var cites []Citation
	fmt.Fprintf(&b, "%q occurs %s in the page.\n", clip(text, findShown), times(len(hits)))
	last := -1
	for _, h := range hits {
		from, to := widen(d.Markdown, h[0], h[1])
		if from < last {
			continue // shown with the place before
		}
		s := sectionAt(d, h[0])
		part := fmt.Sprintf("\n[%s]\n%s\n", trail(s), strings.TrimSpace(d.Markdown[from:to]))
		if len(cites) == findMost || budget > 0 && len(cites) > 0 && Tokens(b.String()+part) > budget {
			b.WriteString("\n… and more places: look for a longer text, or read a section.\n")
			break
		}
		b.WriteString(part)
		cites = append(cites, Citation{Quote: d.Markdown[h[0]:h[1]], Section: s.ID, Start: h[0], End: h[1]})
		last = to
	}
	return b.String(), cites
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// trail is the way to a section, for a person.
func trail(s Section) string {
	if len(s.Path) == 0 {
		return "beginning"
	}
	return strings.Join(s.Path, " > ")
}

// places finds text in s without regard to case, as byte spans of s.
func places(s, text string) [][2]int {
	needle := strings.ToLower(text)
	if needle == "" {
		return nil
	}
	low, at := fold(s)
	var out [][2]int
	for from := 0; ; {
		i := strings.Index(low[from:], needle)
		if i < 0 {
			return out
		}
		i += from
		from = i + len(needle)
		out = append(out, [2]int{at(i), at(from)})
	}
}

// fold gives s in lower case, and a function from its offsets to those of s: a
// few letters change their length with their case.
func fold(s string) (string, func(int) int) {
	low := strings.ToLower(s)
	if isASCII(s) {
		return low, func(i int) int { return i }
	}
	var b strings.Builder
	offsets := make([]int32, 0, len(s)+1)
	for i, r := range s {
		n, _ := b.WriteString(strings.ToLower(string(r)))
		for range n {
			offsets = append(offsets, int32(i))
		}
	}
	offsets = append(offsets, int32(len(s)))
	return b.String(), func(i int) int { return int(offsets[i]) }
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// widen gives a span some text around it, at the ends of its line where they are near.
func widen(s string, from, to int) (int, int) {
	start := max(0, from-findAround)
	if i := strings.LastIndexByte(s[start:from], '\n'); i >= 0 {
		start += i + 1
	}
	for start > 0 && !utf8.RuneStart(s[start]) {
		start--
	}
	end := min(len(s), to+findAround)
	if i := strings.IndexByte(s[to:end], '\n'); i >= 0 {
		end = to + i
	}
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	return start, end
}

// Cut gives the length in bytes of the longest beginning of text within budget
// tokens, at the end of a paragraph, a line or a word where one is near. It is
// at least one character, so that reading on always comes further.
func Cut(text string, budget int) int {
	end := len(cutTokens(text, budget))
	if end == len(text) {
		return end
	}
	for _, sep := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(text[:end], sep); i > end*3/4 {
			return i + len(sep)
		}
	}
	_, first := utf8.DecodeRuneInString(text)
	return max(end, first)
}
