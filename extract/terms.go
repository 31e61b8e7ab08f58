// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord bounds a word: longer runs of letters are no words (encoded data).
const maxWord = 64

// eachWord calls fn for every word of s: a run of letters, digits and the signs
// that join identifiers (dots, hyphens, underscores between them), or a run of
// Chinese, Japanese or Korean characters.
func eachWord(s string, fn func(w string, wide bool)) {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if !alnum(c) && c != '_' {
				i++
				continue
			}
		} else if r, n := utf8.DecodeRuneInString(s[i:]); cjk(r) {
			j := wideEnd(s, i+n)
			fn(s[i:j], true)
			i = j
			continue
		} else if !letter(r) {
			i += n
			continue
		}
		j := wordEnd(s, i)
		fn(s[i:j], false)
		i = j
	}
}

func letter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

func wideEnd(s string, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !cjk(r) {
			break
		}
		i += n
	}
	return i
}

// wordEnd finds the end of the word that begins at i. A joining sign counts only
// between letters or digits.
func wordEnd(s string, i int) int {
	for i < len(s) {
		c := s[i]
		switch {
		case c < utf8.RuneSelf && (alnum(c) || c == '_'):
			i++
		case c == '\\' && i+1 < len(s) && s[i+1] == '_': // Markdown's escape inside a name
			i++
		case c == '.' || c == '-' || c == '\'':
			if i+1 >= len(s) || !alnum(s[i+1]) || s[i+1] >= utf8.RuneSelf {
				return i
			}
			i++
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == '’' && i+n < len(s) && alnum(s[i+n]) && s[i+n] < utf8.RuneSelf {
				i += n
				continue
			}
			if cjk(r) || !letter(r) {
				return i
			}
			i += n
		default:
			return i
		}
	}
	return i
}

// forms gives the terms of a word: its stem; for a name of code the whole name first,
// without its joining signs, then the stems of its parts.
func forms(w string, wide bool) []string {
	if wide {
		return pairs(w)
	}
	if len(w) > maxWord {
		return nil
	}
	w = strings.ReplaceAll(strings.ReplaceAll(w, "\\", ""), "’", "'")
	if i := strings.IndexByte(w, '\''); i >= 0 {
		w = w[:i]
	}
	w = strings.Trim(w, "_")
	if w == "" || w[0] == '.' || w[0] == '-' {
		return nil
	}
	parts := split(w)
	if len(parts) == 1 {
		return []string{stem(strings.ToLower(parts[0]))}
	}
	out := []string{stem(strings.ToLower(strings.Join(parts, "")))}
	for _, p := range parts {
		out = append(out, stem(strings.ToLower(p)))
	}
	return out
}

// split takes a name apart at dots, hyphens, underscores and changes of case.
func split(w string) []string {
	var out []string
	start := 0
	cut := func(i int) {
		if i > start {
			out = append(out, w[start:i])
		}
		start = i
	}
	for i := 0; i < len(w); i++ {
		switch c := w[i]; {
		case c == '.' || c == '-' || c == '_':
			cut(i)
			start = i + 1
		case upper(c) && i > start && (!upper(w[i-1]) || i+1 < len(w) && lower(w[i+1])) && !digit(w[i-1]):
			cut(i)
		}
	}
	cut(len(w))
	return out
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
func lower(c byte) bool { return c >= 'a' && c <= 'z' }
func digit(c byte) bool { return c >= '0' && c <= '9' }

// pairs gives a run of wide characters as pairs of neighbours; a single one
// stands for itself.
func pairs(w string) []string {
	r := []rune(w)
	if len(r) == 1 {
		return []string{w}
	}
	out := make([]string, 0, len(r)-1)
	for i := range len(r) - 1 {
		out = append(out, string(r[i:i+2]))
	}
	return out
}

// stem folds the endings of English words so that "compression", "compressed"
// and "compress" are one term. It need not give a word, only the same letters.
func stem(w string) string {
	if len(w) < 4 || w[len(w)-1] >= utf8.RuneSelf || strings.ContainsAny(w, "0123456789") {
		return w
	}
	w = singular(w)
	for _, s := range suffixes {
		if base, ok := strings.CutSuffix(w, s.end); ok && len(base) >= s.least && vowel(base) {
			return undouble(strings.TrimSuffix(base+s.put, "e"))
		}
	}
	if strings.HasSuffix(w, "y") && len(w) > 3 {
		return w[:len(w)-1] + "i"
	}
	return undouble(strings.TrimSuffix(w, "e"))
}

var suffixes = [...]struct {
	end, put string
	least    int
}{
	{"ization", "iz", 3}, {"isation", "iz", 3}, {"ification", "ifi", 3}, {"ational", "at", 3},
	{"ability", "", 4}, {"ibility", "", 4}, {"iveness", "iv", 3}, {"fulness", "", 3}, {"ations", "", 4},
	{"ising", "iz", 3}, {"izing", "iz", 3}, {"ised", "iz", 4}, {"ized", "iz", 3}, {"izer", "iz", 3}, {"ise", "iz", 5},
	{"ation", "", 4}, {"ating", "", 5}, {"ated", "", 5}, {"ator", "", 4}, {"ate", "", 6}, {"ition", "", 4},
	{"ement", "", 4}, {"ment", "", 4}, {"ness", "", 4}, {"able", "", 4}, {"ible", "", 4}, {"ical", "ic", 3},
	{"ssion", "ss", 2}, {"ction", "ct", 2}, {"ption", "pt", 2}, {"sion", "d", 3}, {"ion", "", 4},
	{"ying", "i", 2}, {"ied", "i", 2}, {"ingly", "", 4}, {"edly", "", 4}, {"ing", "", 3}, {"ed", "", 3},
	{"ally", "", 4}, {"ly", "", 4}, {"er", "", 4}, {"or", "", 5}, {"ive", "", 4}, {"al", "", 5}, {"ful", "", 4},
}

func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"):
		return w
	case strings.HasSuffix(w, "s"):
		return w[:len(w)-1]
	}
	return w
}

func vowel(s string) bool { return strings.ContainsAny(s, "aeiouy") }

// undouble takes away the letter that an ending doubled. A double l ends words of
// its own ("fill"); only longer ones lose it.
func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && (strings.IndexByte("bdgkmnprt", w[n-1]) >= 0 || w[n-1] == 'l' && n > 5) {
		return w[:n-1]
	}
	return w
}
