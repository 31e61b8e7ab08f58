// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes what a model said harmless for whoever reads it: bytes that steer a
// terminal and characters that show nothing go, and marks that imitate those of
// a conversation with a model are broken by a blank, visibly.
func clean(s string) (string, []Warning) {
	s, gone := printable(s)
	s, broken := breakMarks(s)
	var w []Warning
	if gone > 0 {
		w = append(w, Warning{WarnInvisible, "control and invisible characters were taken out of the model's answer", gone})
	}
	if broken > 0 {
		w = append(w, Warning{WarnMarks, "the model's answer imitated marks of a conversation; they were broken by a blank", broken})
	}
	return s, w
}

// printable takes out terminal sequences, control bytes and invisible characters.
func printable(s string) (string, int) {
	if !strings.ContainsFunc(s, unprintable) && utf8.ValidString(s) {
		return s, 0
	}
	var b strings.Builder
	b.Grow(len(s))
	gone := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b || r == 0x9b:
			n = sequence(s[i:], n)
			gone++
		case r == '\r' && strings.HasPrefix(s[i+n:], "\n"):
		case unprintable(r) || r == utf8.RuneError && n == 1:
			gone++
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String(), gone
}

func unprintable(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == 0x200c || r == 0x200d: // the joiners are needed by scripts and emoji
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return true
	}
	return r >= 0xad && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

// maxSequence bounds a terminal sequence: what is longer is no sequence.
const maxSequence = 256

// sequence gives the length of the terminal sequence that s begins with; at
// least its introducer of size n.
func sequence(s string, n int) int {
	if len(s) == n {
		return n
	}
	at := n
	if s[0] == 0x1b {
		switch s[1] {
		case '[':
			at = 2
		case ']', 'P', 'X', '^', '_':
			return message(s)
		default:
			return 1
		}
	}
	for ; at < len(s) && at < maxSequence; at++ {
		if s[at] >= 0x40 && s[at] <= 0x7e {
			return at + 1
		}
		if s[at] < 0x20 || s[at] > 0x7e {
			break
		}
	}
	return n
}

// message gives the length of a terminal sequence that carries text up to a bell or
// a string terminator on the same line.
func message(s string) int {
	for i := 2; i < len(s) && i < maxSequence && s[i] != '\n'; i++ {
		switch {
		case s[i] == 0x07:
			return i + 1
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		}
	}
	return 1
}

// isControlTag reports whether a tag's name is one by which programs and models
// talk to each other. Names that are ordinary words of XML too are left alone in
// code, where documentation shows them.
func isControlTag(name string, inCode bool) bool {
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	switch strings.NewReplacer("_", "", "-", "", `\`, "").Replace(strings.ToLower(name)) {
	case "functioncalls", "functioncall", "functionresults", "functionresult", "invoke", "tooluse", "toolresult", "toolresults",
		"toolcall", "toolcalls", "toolresponse", "tooloutput", "toolcode", "systemreminder", "systemprompt", "systemmessage",
		"antthinking", "antartifact", "startofturn", "endofturn":
		return true
	case "system", "assistant", "human", "thinking", "think", "document", "documents", "documentcontent", "documentcontents", "instructions":
		return !inCode
	}
	return false
}

// breakMarks puts a blank into every imitated mark.
func breakMarks(s string) (string, int) {
	var b strings.Builder
	done, n := 0, 0
	brk := func(at int) {
		b.WriteString(s[done:at])
		b.WriteByte(' ')
		done = at
		n++
	}
	var fence string
	span := false
	for i := 0; i < len(s); i++ {
		if i == 0 || s[i-1] == '\n' {
			span = false
			fence = fenceAfter(fence, s[i:])
		}
		switch s[i] {
		case '`':
			span = !span
		case '<':
			if imitatesTag(s[i+1:], span || fence != "") {
				brk(i + 1)
			}
		case '[':
			if imitatesBracket(s[i+1:]) {
				brk(i + 1)
			}
		case '"':
			if strings.HasPrefix(s[i:], `"jsonrpc":`) {
				brk(i + len(`"jsonrpc"`))
			}
		}
		if at := turn(s, i); at > 0 {
			brk(at)
		}
	}
	if n == 0 {
		return s, 0
	}
	return b.String() + s[done:], n
}

// fenceAfter gives the marks of the code block that is open after the line that s
// begins with, when open are those before it.
func fenceAfter(open, s string) string {
	l, _ := line(clip(s, 200), 0)
	l = strings.TrimSpace(strings.TrimLeft(l, " \t>"))
	switch {
	case open == "":
		return fenceOf(l)
	case strings.HasPrefix(l, open) && strings.Trim(l, open[:1]) == "":
		return ""
	}
	return open
}

// imitatesTag looks at what follows an angle bracket: a control tag, <|name|> or <<SYS>>.
func imitatesTag(s string, inCode bool) bool {
	s = clip(s, 48)
	if strings.HasPrefix(s, "<SYS>>") || strings.HasPrefix(s, "</SYS>>") {
		return true
	}
	if strings.HasPrefix(s, "|") || strings.HasPrefix(s, "｜") {
		return strings.Contains(s, "|>") || strings.Contains(s, "｜>")
	}
	s = strings.TrimPrefix(s, "/")
	end := strings.IndexFunc(s, func(r rune) bool { return r != '_' && r != '-' && r != ':' && r != '\\' && !unicode.IsLetter(r) })
	if end < 0 {
		end = len(s)
	}
	return end > 0 && (end == len(s) || strings.ContainsRune(" \t\n/>", rune(s[end]))) && isControlTag(s[:end], inCode)
}

func imitatesBracket(s string) bool {
	for _, m := range [...]string{"INST]", "/INST]", "TOOL_CALLS]", "TOOL_RESULTS]", "/TOOL_RESULTS]", "AVAILABLE_TOOLS]", "/AVAILABLE_TOOLS]", "SYSTEM_PROMPT]", "/SYSTEM_PROMPT]"} {
		if strings.HasPrefix(s, m) {
			return true
		}
	}
	return false
}

// turn finds a line that imitates the turn of a speaker, after a blank line or at
// the beginning; it gives the place before its colon, 0 for none.
func turn(s string, i int) int {
	if i > 0 && (s[i-1] != '\n' || i > 1 && s[i-2] != '\n') {
		return 0
	}
	for _, m := range [...]string{"Human:", "Assistant:", "System:", "User:"} {
		if strings.HasPrefix(s[i:], m) {
			return i + len(m) - 1
		}
	}
	return 0
}
