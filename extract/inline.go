// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"strings"
	"unicode/utf8"
)

// clip gives at most n bytes of s, ending between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// plain takes the inline marks of Markdown out of a short text, for titles:
// emphasis, code marks, link targets, escapes.
func plain(s string) string {
	if !strings.ContainsAny(s, "`*_[]\\") {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] < utf8.RuneSelf && !alnum(s[i+1]):
			i++
			b.WriteByte(s[i])
		case c == '`' || c == '*' || c == '[' || c == '!' && i+1 < len(s) && s[i+1] == '[':
		case c == ']':
			if i+1 < len(s) && s[i+1] == '(' {
				i += linkEnd(s[i+1:])
			}
		case c == '_' && !(i > 0 && i+1 < len(s) && alnum(s[i-1]) && alnum(s[i+1])):
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// linkEnd gives the length of a link target with its parentheses that begins s,
// 0 when it does not end on the same line.
func linkEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\n':
			return 0
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
