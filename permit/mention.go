// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"strings"
	"unicode"

	"github.com/dipper-web/dipper/check"
)

// maxMentions bounds what one text may add to a ledger: a list page of a large
// project names a few thousand URLs, and more is no text a person reads.
const maxMentions = 10_000

// Mentioned finds the URLs that a text shows: written out, as the destination of
// a Markdown link or reference, or as a bare www. host (read as https). Closing
// punctuation is not part of a URL. The address of a Markdown image is left out,
// since nobody reads it, and so is everything that check refuses. At most
// 10,000 are given, in order, each once. The time is linear in the text.
func Mentioned(text string) []check.Target {
	var out []check.Target
	known := map[string]bool{}
	for from := 0; len(out) < maxMentions; {
		start, end := nextMention(text, from)
		if start < 0 {
			break
		}
		from = end
		if isImage(text, start) {
			continue
		}
		raw := trimMention(text[start:end])
		if isWWW(raw) {
			raw = "https://" + raw
		}
		t, err := check.Parse(raw)
		if err != nil || known[t.Key()] {
			continue
		}
		known[t.Key()] = true
		out = append(out, t)
	}
	return out
}

// nextMention gives the bounds of the next run of URL characters that begins
// like a URL at the start of a word, or -1.
func nextMention(text string, from int) (int, int) {
	for i := from; i < len(text); i++ {
		if !startsURL(text[i:]) || (i > 0 && isWord(text[i-1])) {
			continue
		}
		return i, i + runOfURL(text[i:])
	}
	return -1, -1
}

// runOfURL measures the URL that s begins with. A closing bracket that the URL
// did not open ends it, as in [a](https://a.example/x)[b].
func runOfURL(s string) int {
	round, square, curly := 0, 0, 0
	for i, r := range s {
		switch r {
		case '(':
			round++
		case ')':
			round--
		case '[':
			square++
		case ']':
			square--
		case '{':
			curly++
		case '}':
			curly--
		}
		if endsURL(r) || round < 0 || square < 0 || curly < 0 {
			return i
		}
	}
	return len(s)
}

// endsURL reports whether no URL in running text goes on past r: blanks, quotation
// marks, and the full-width punctuation that follows a URL without a blank.
func endsURL(r rune) bool {
	return r <= ' ' || unicode.IsSpace(r) || strings.ContainsRune("<>\"`“”‘’«»。，、；：！？（）【】「」『』《》", r)
}

func startsURL(s string) bool {
	switch {
	case s[0]|0x20 == 'h':
		return hasFold(s, "http://") || hasFold(s, "https://")
	case s[0]|0x20 == 'w':
		return isWWW(s)
	}
	return false
}

func isWWW(s string) bool { return hasFold(s, "www.") }

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '-' || c == '.' || c == '/' || c == '@'
}

// maxAlt bounds the search backwards for the start of an image, which keeps the
// whole scan linear; the alternative text of a picture is a sentence.
const maxAlt = 250

// isImage reports whether the URL at start is the destination of ![alt](URL).
func isImage(text string, start int) bool {
	before := strings.TrimSuffix(text[max(0, start-maxAlt):start], "<")
	before, link := strings.CutSuffix(before, "](")
	if !link {
		return false
	}
	depth := 1
	for i := len(before) - 1; i >= 0; i-- {
		switch before[i] {
		case ']':
			depth++
		case '[':
			depth--
		}
		if depth == 0 {
			return i > 0 && before[i-1] == '!'
		}
	}
	return true // no start in sight: better a question than a pass
}

// trimMention takes off what closes a sentence or an emphasis after a URL.
func trimMention(s string) string { return strings.TrimRight(s, ".,;:!?'*_|\\") }
