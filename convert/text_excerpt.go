// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Sizes of an excerpt.
const (
	maxExcerpt    = 600       // characters: enough for the reason, too little to pay for
	excerptWindow = 256 << 10 // bytes of a body that are read for it
)

// excerpt gives the first readable lines of a body: cleaned, without markup,
// rules and code, blank lines and repeated lines. "" when nothing is left.
func excerpt(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), excerptWindow)], "")
	if looksHTML(textStart([]byte(text[:min(len(text), sniffWindow)]))) {
		text = visibleText(text)
	}
	text, _ = Clean(text)
	var b strings.Builder
	room, last := maxExcerpt, ""
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line == last || !isReadable(line) {
			continue
		}
		last = line
		if n := utf8.RuneCountInString(line); n >= room {
			b.WriteString(firstRunes(line, room-1) + "…")
			break
		} else {
			room -= n + 1
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSpace(b.String())
}

// isReadable reports whether a line says something to a reader. JSON does, a
// style sheet and a program do not.
func isReadable(line string) bool {
	if strings.IndexFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 {
		return false
	}
	if strings.HasPrefix(line, `{"`) || strings.HasPrefix(line, `"`) || strings.HasPrefix(line, `[{"`) {
		return true
	}
	for _, start := range []string{"/*", "*/", "//", "@import", "@media", "@font-face", "@charset", "<?", "<!", "var ", "const ", "let ", "function ", "(function", "!function", "window."} {
		if strings.HasPrefix(line, start) {
			return false
		}
	}
	switch line[len(line)-1] {
	case '{', '}', ';':
		return false
	}
	return !(strings.Contains(line, "{") && strings.Contains(line, ":") && strings.Contains(line, "}"))
}

// firstRunes is the first n characters of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// visibleText is HTML without its markup: a line for each block, nothing of
// scripts, style sheets and the head but the title. It is for short texts such
// as the body of an error or the summary in a feed.
func visibleText(s string) string {
	z := html.NewTokenizer(strings.NewReader(s))
	var b strings.Builder
	for skip := atom.Atom(0); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			if skip == 0 {
				b.Write(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			if isSilent(tag) && skip == 0 {
				skip = tag
			}
			b.WriteString(separator(tag))
		case html.EndTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			if tag == skip {
				skip = 0
			}
			b.WriteString(separator(tag))
		}
	}
}

// isSilent reports whether nothing inside an element is shown. All of these
// end at their own end tag.
func isSilent(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Textarea, atom.Select:
		return true
	}
	return false
}

// separator keeps the words of two blocks apart.
func separator(tag atom.Atom) string {
	switch tag {
	case atom.A, atom.B, atom.I, atom.Em, atom.Strong, atom.Span, atom.Code, atom.U, atom.S, atom.Sub, atom.Sup, atom.Small, atom.Mark, atom.Font, atom.Abbr, atom.Cite, atom.Kbd:
		return ""
	}
	return "\n"
}
