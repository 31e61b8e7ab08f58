// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"net/url"
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

// lean takes the targets of links to the page's own host and of images out of
// text that is shown: they cost more than they tell. Links to other hosts stay.
func lean(s, host string) string {
	i := strings.Index(s, "](")
	if i < 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for i >= 0 {
		n := linkEnd(clip(s[i+1:], maxTarget))
		if open := bracket(s[at:i]); n > 0 && open >= 0 && (near(s[i+2:i+n], host) || open > 0 && s[at+open-1] == '!') {
			open += at
			image := 0
			if open > at && s[open-1] == '!' {
				image = 1
			}
			b.WriteString(s[at:open-image] + s[open+1:i])
			at = i + 1 + n
		}
		next := strings.Index(s[i+1:], "](")
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return b.String() + s[at:]
}

// bracket finds the bracket that a text's closing one belongs to, -1 for none.
func bracket(s string) int {
	depth := 0
	for i := len(s) - 1; i >= 0 && len(s)-i < maxTarget; i-- {
		switch {
		case s[i] == ']' && (i == 0 || s[i-1] != '\\'):
			depth++
		case s[i] == '[' && (i == 0 || s[i-1] != '\\'):
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
}

// near reports whether a link's target is on the page's own host.
func near(target, host string) bool {
	rest, absolute := strings.CutPrefix(target, "https://")
	if !absolute {
		rest, absolute = strings.CutPrefix(target, "http://")
	}
	return !absolute || host != "" && strings.HasPrefix(rest, host) && (len(rest) == len(host) || strings.IndexByte("/?#: )", rest[len(host)]) >= 0)
}

// hostOf gives the host of an address with its port, "" for none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
