// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"
	"unicode/utf8"
)

// breakMarks puts one space into every piece of text that imitates a control
// mark of a conversation with a model: tags of tool calls and of documents,
// chat tokens, turn marks, fences, protocol messages. A space after an angle
// bracket ends its life as a tag, a space before a colon keeps JSON valid, and
// a reader still sees what the page says. n is the number of breaks.
func breakMarks(s string) (broken string, n int) {
	m := marker{in: s, blank: true}
	for m.pos < len(s) {
		m.next()
	}
	if m.n == 0 {
		return s, 0
	}
	m.out.WriteString(s[m.done:])
	return m.out.String(), m.n
}

// A marker walks text from one character that can open a mark to the next.
type marker struct {
	in   string
	pos  int
	done int // what is written already
	out  strings.Builder
	n    int

	code    bool   // inside a code span or fenced block of Markdown
	fence   string // the signs that opened the fenced block, "" outside
	spanEnd int    // offset of the closing signs of a code span
	blank   bool   // the line before this one is blank, or this is the first
}

// breakAt puts a space at an offset, and goes on behind it.
func (m *marker) breakAt(i int) {
	m.out.WriteString(m.in[m.done:i])
	m.out.WriteByte(' ')
	m.done, m.pos, m.n = i, max(i, m.pos+1), m.n+1
}

func (m *marker) next() {
	if m.pos == 0 && m.in[0] != '\n' {
		m.line(0)
	}
	i := nextOpener(m.in[m.pos:])
	if i < 0 {
		m.pos = len(m.in)
		return
	}
	m.pos += i
	if m.spanEnd > 0 && m.pos >= m.spanEnd {
		m.code, m.spanEnd = m.fence != "", 0
	}
	start := m.pos
	switch m.in[m.pos] {
	case '\n':
		m.line(m.pos + 1)
	case '<':
		m.angle(1)
	case '[':
		m.bracket()
	case '`':
		m.span()
	case '"':
		m.message()
	default:
		if strings.HasPrefix(m.in[m.pos:], "＜") {
			m.angle(len("＜"))
		}
	}
	if m.pos == start {
		m.pos++
	}
}

// nextOpener finds the next byte that next looks at. 0xEF begins the full-width
// form of the angle bracket.
func nextOpener(s string) int {
	for i := range len(s) {
		switch s[i] {
		case '\n', '<', '[', '`', '"', 0xEF:
			return i
		}
	}
	return -1
}

// angle breaks a tag or chat token after its bracket of size bytes.
func (m *marker) angle(size int) {
	rest := m.in[m.pos+size:]
	name := tagName(rest)
	if isControlTag(name) || !m.code && isFrameTag(name) || isChatToken(rest) {
		m.breakAt(m.pos + size)
	}
}

// maxTagName bounds the name of a tag that is looked at; the longest known one
// is shorter.
const maxTagName = 40

// tagName is the name of the tag that s continues, in lower case and without a
// prefix, "" where no tag name stands. A missing end counts as an end: text is
// cut in many places.
func tagName(s string) string {
	s = strings.TrimPrefix(s, "/")
	if s == "" || !within(s[0]|0x20, 'a', 'z') {
		return ""
	}
	end := 0
	for end < len(s) && end < maxTagName && isNameByte(s[end]) {
		end++
	}
	if end < len(s) && !strings.ContainsRune(" \t\n/>\\", rune(s[end])) && !strings.HasPrefix(s[end:], "＞") {
		return ""
	}
	name := strings.ReplaceAll(strings.ToLower(s[:end]), `\`, "") // Markdown may escape the underscore
	if _, local, ok := strings.Cut(name, ":"); ok && (strings.HasPrefix(name, "antml:") || strings.HasPrefix(name, "anthropic:")) {
		name = local
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "-", ""), "_", "")
}

func isNameByte(b byte) bool {
	return within(b, 'a', 'z') || within(b, 'A', 'Z') || within(b, '0', '9') || b == '_' || b == '-' || b == ':' || b == '\\'
}

// isControlTag knows the tags that only conversations with a model have; they
// are broken in code too.
func isControlTag(name string) bool {
	switch name {
	case "functioncalls", "functioncall", "functionresults", "functionresult", "invoke", "tooluse", "toolresult", "toolresults",
		"toolcall", "toolcalls", "toolresponse", "tooloutput", "toolcode", "systemreminder", "systemprompt", "systemmessage", "systemwarning",
		"antthinking", "antartifact", "startofturn", "endofturn", "userquery", "untrustedcontent", "untrusteddata",
		"instructionhierarchy", "usercommand", "assistantresponse":
		return true
	}
	return false
}

// isFrameTag knows the tags that also are ordinary words of XML; they are left
// alone in code, where documentation shows them.
func isFrameTag(name string) bool {
	switch name {
	case "system", "assistant", "human", "thinking", "think", "document", "documents", "documentcontent", "documentcontents", "instructions":
		return true
	}
	return false
}

// maxChatToken bounds the inside of a chat token, in bytes.
const maxChatToken = 64

// isChatToken reports whether s is the inside of a token such as <|im_end|> (a
// short name between bars) or of <<SYS>>. Backslashes that Markdown put in do
// not count.
func isChatToken(s string) bool {
	s = unescaped(s, maxChatToken)
	if hasFoldPrefix(s, "<SYS>>") || hasFoldPrefix(s, "</SYS>>") {
		return true
	}
	for _, bar := range []string{"|", "｜"} {
		inside, ok := strings.CutPrefix(s, bar)
		if !ok {
			continue
		}
		name, rest, ok := strings.Cut(inside, bar)
		return ok && name != "" && (strings.HasPrefix(rest, ">") || strings.HasPrefix(rest, "＞")) && strings.IndexFunc(name, notTokenRune) < 0
	}
	return false
}

func notTokenRune(r rune) bool {
	return r < utf8.RuneSelf && !isNameByte(byte(r))
}

// unescaped is the first n bytes of s without backslashes.
func unescaped(s string, n int) string {
	return strings.ReplaceAll(s[:min(len(s), n)], `\`, "")
}

// bracket breaks the instruction marks of some models.
func (m *marker) bracket() {
	near := unescaped(m.in[m.pos:], 32)
	for _, mark := range []string{"[INST]", "[/INST]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"} {
		if strings.HasPrefix(near, mark) {
			m.breakAt(m.pos + 1)
			return
		}
	}
}

// maxCodeSpan bounds a code span, in bytes: what is longer stands in a block.
const maxCodeSpan = 500

// span enters or leaves a code span. Its closing signs are looked for in the
// same line, so that one stray sign does not turn the rest into code.
func (m *marker) span() {
	signs := countSame(m.in[m.pos:], '`')
	begin := m.pos + signs
	m.pos = begin
	if m.fence != "" || m.spanEnd > 0 {
		return
	}
	text, _, _ := strings.Cut(m.in[begin:min(len(m.in), begin+maxCodeSpan)], "\n")
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		n := countSame(text[i:], '`')
		if n == signs {
			m.code, m.spanEnd = true, begin+i
			return
		}
		i += n
	}
}

func countSame(s string, b byte) (n int) {
	for n < len(s) && s[n] == b {
		n++
	}
	return n
}

func hasFoldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
