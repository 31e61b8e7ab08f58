// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import "unicode/utf8"

// Tokens estimates how many tokens a model makes of s: one for each Chinese,
// Japanese or Korean character, one for every four others. It is neutral: no
// supplier's tokenizer is meant, and the same text always counts the same.
func Tokens(s string) int { return quarters(s) / 4 }

// quarters counts in quarter tokens, so that parts can be added up without
// rounding each of them.
func quarters(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			n++
			i++
			continue
		}
		r, w := utf8.DecodeRuneInString(s[i:])
		n += weight(r)
		i += w
	}
	return n
}

func weight(r rune) int {
	if cjk(r) {
		return 4
	}
	return 1
}

// cjk reports whether r is a character of a script that is written without
// blanks between words, or of Hangul: one token each.
func cjk(r rune) bool {
	switch {
	case r < 0x3005:
		return false
	case r <= 0x3007, 0x3040 <= r && r <= 0x30ff, 0x3400 <= r && r <= 0x9fff,
		0xac00 <= r && r <= 0xd7a3, 0xf900 <= r && r <= 0xfaff,
		0xff66 <= r && r <= 0xff9f, 0x20000 <= r && r <= 0x323af:
		return true
	}
	return false
}

// cutTokens gives the longest beginning of s that is at most budget tokens,
// ending between characters.
func cutTokens(s string, budget int) string {
	n := 0
	for i, r := range s {
		if n += weight(r); n/4 > budget {
			return s[:i]
		}
	}
	return s
}

// measured fills in what a reply shows.
func measured(r Reply) Reply {
	r.ShownChars = utf8.RuneCountInString(r.Text)
	r.ShownTokens = Tokens(r.Text)
	return r
}
