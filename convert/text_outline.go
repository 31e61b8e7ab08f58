// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strconv"
	"strings"
	"unicode"
)

// maxHeadings bounds an outline: more headings than this are a list, and the
// part of a page is found by its text there.
const maxHeadings = 5000

// outlineOf lists the headings of Markdown with the part each one opens. It
// knows both forms of headings (# and underlined), and none inside a fenced or
// indented code block. IDs are made from the titles and stay the same while
// the titles do; a second equal title gets -2, -3 …
func outlineOf(markdown string) []Section {
	s := headingScan{text: markdown}
	s.pos = frontMatterEnd(markdown)
	for s.pos < len(markdown) && len(s.found) < maxHeadings {
		s.line()
	}
	closeSections(s.found, len(markdown))
	return s.found
}

// A headingScan reads Markdown line by line.
type headingScan struct {
	text  string
	pos   int
	fence string // signs of the open fenced block, "" outside
	prev  string // the line before, where it can be an underlined title
	start int    // where that title began
	found []Section
}

func (s *headingScan) line() {
	begin := s.pos
	line := s.text[begin:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
		s.pos++
	}
	s.pos += len(line)
	line = strings.TrimSuffix(line, "\r")
	trimmed := strings.TrimLeft(line, " ")
	indent := len(line) - len(trimmed)
	if s.inFence(trimmed, indent) {
		s.prev = ""
		return
	}
	if level, title := atxHeading(trimmed); level > 0 && indent < 4 {
		s.add(level, title, begin)
		s.prev = ""
		return
	}
	if level := underline(trimmed); level > 0 && indent < 4 && s.prev != "" {
		s.add(level, s.prev, s.start)
		s.prev = ""
		return
	}
	s.remember(line, trimmed, indent, begin)
}

// maxPrev is the length in bytes from which a paragraph grows no more: what is
// underlined below it is a title of which the beginning will do.
const maxPrev = 1000

// remember keeps a paragraph that the next line may underline. A title of
// several lines begins at its first.
func (s *headingScan) remember(line, trimmed string, indent, begin int) {
	switch {
	case strings.TrimSpace(line) == "", strings.HasPrefix(line, "\t"), indent >= 4 && s.prev == "", strings.HasPrefix(trimmed, "|"),
		strings.HasPrefix(trimmed, ">"), listItem(trimmed):
		s.prev = ""
	case s.prev == "":
		s.prev, s.start = trimmed, begin
	case len(s.prev) < maxPrev:
		s.prev += " " + trimmed
	}
}

// inFence follows fenced code blocks, and reports whether the line is part of one.
func (s *headingScan) inFence(trimmed string, indent int) bool {
	signs := ""
	for _, b := range []byte{'`', '~'} {
		if n := countSame(trimmed, b); n >= 3 {
			signs = trimmed[:n]
		}
	}
	if s.fence != "" {
		if strings.HasPrefix(signs, s.fence) && strings.TrimSpace(trimmed[len(signs):]) == "" {
			s.fence = ""
		}
		return true
	}
	if signs == "" || indent >= 4 || signs[0] == '`' && strings.Contains(trimmed[len(signs):], "`") {
		return false
	}
	s.fence = signs
	return true
}

func (s *headingScan) add(level int, title string, start int) {
	s.found = append(s.found, Section{Title: plainTitle(title), Level: level, Start: start})
}

// atxHeading reads a heading that begins with number signs; level 0 is none.
func atxHeading(line string) (level int, title string) {
	n := countSame(line, '#')
	if n == 0 || n > 6 || len(line) > n && line[n] != ' ' && line[n] != '\t' {
		return 0, ""
	}
	title = strings.TrimSpace(line[n:])
	if cut := strings.TrimRight(title, "#"); cut == "" || strings.HasSuffix(cut, " ") {
		title = strings.TrimSpace(cut)
	}
	return n, title
}

// underline reads the line under a title: equal signs make level 1, dashes 2.
func underline(line string) int {
	line = strings.TrimRight(line, " \t")
	switch {
	case line == "":
		return 0
	case strings.Trim(line, "=") == "":
		return 1
	case strings.Trim(line, "-") == "":
		return 2
	}
	return 0
}

func listItem(line string) bool {
	digits := strings.TrimLeft(line, "0123456789")
	if len(digits) < len(line) {
		return strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")
	}
	return len(line) > 1 && strings.IndexByte("-*+", line[0]) >= 0 && line[1] == ' '
}

// closeSections fills in ends, paths and IDs.
func closeSections(sections []Section, end int) {
	ids := map[string]int{}
	var open []int
	for i := range sections {
		for len(open) > 0 && sections[open[len(open)-1]].Level >= sections[i].Level {
			sections[open[len(open)-1]].End = sections[i].Start
			open = open[:len(open)-1]
		}
		open = append(open, i)
		path := make([]string, len(open))
		for k, o := range open {
			path[k] = sections[o].Title
		}
		sections[i].Path = path
		sections[i].ID = uniqueSlug(ids, sections[i].Title)
	}
	for _, o := range open {
		sections[o].End = end
	}
}

// uniqueSlug makes an ID and remembers it in ids.
func uniqueSlug(ids map[string]int, title string) string {
	base := slug(title)
	for {
		ids[base]++
		if ids[base] == 1 {
			return base
		}
		base += "-" + strconv.Itoa(ids[base])
	}
}

// maxSlug bounds an ID in runes.
const maxSlug = 60

// slug writes a title as hosts of Markdown do: lower case, letters and digits
// of any script, dashes between the words.
func slug(title string) string {
	var b strings.Builder
	dash, n := false, 0
	for _, r := range strings.ToLower(title) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && !unicode.IsMark(r) {
			dash = b.Len() > 0
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		b.WriteRune(r)
		if n++; n >= maxSlug {
			break
		}
	}
	if b.Len() == 0 {
		return "section"
	}
	return b.String()
}

// maxTitle bounds the heading that is read closely; longer ones stay as they are.
const maxTitle = 1000

// plainTitle takes the marks of Markdown out of a heading.
func plainTitle(s string) string {
	if len(s) > maxTitle {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]<>()#+-.!|~", s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case c == '*', c == '`', c == '!' && strings.HasPrefix(s[i:], "!["):
		case c == '[':
			text := bracketed(s[i:])
			tail := bracketed(s[i+text:])
			if text == 0 || tail == 0 {
				b.WriteByte(c)
				continue
			}
			b.WriteString(plainTitle(s[i+1 : i+text-1]))
			i += text + tail - 1
		default:
			b.WriteByte(c)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// bracketed is the length of the pair of brackets that s begins with, 0 for none.
func bracketed(s string) int {
	closing := byte(']')
	switch {
	case strings.HasPrefix(s, "("):
		closing = ')'
	case !strings.HasPrefix(s, "["):
		return 0
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case s[0]:
			depth++
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
