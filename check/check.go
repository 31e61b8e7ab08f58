// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package check turns a string into a Target, the passport that every later
// room asks for. There is one parse: what is judged is what is dialled.
//
// URLs are read by the rules of the WHATWG URL Standard, so that 0x7f.1,
// ①②⑦.⓪.⓪.① and 127.0.0.1 are one host here as they are in a browser. What a
// caller writes is held to more than that standard: the scheme in full, no
// backslashes, no control characters, no user name. The standard repairs such
// slips in silence, and a silent repair is where two parsers come to disagree.
// A redirect (Target.Join) gets the repairs, and the result is judged again.
//
// The package also owns the grammar of permission rules (Rule) and of search
// filters (Filter), because both compare hosts and paths in their normal form.
package check

import (
	"strings"
	"unicode/utf8"

	"github.com/dipper-web/dipper/fault"
)

// MaxURL is the longest URL that is accepted, in characters as written. Longer
// ones are seldom addresses and often carry data out of a conversation.
const MaxURL = 2000

// shownURL is how much of a refused URL an error message repeats, in characters.
const shownURL = 120

// Limits are the caller's settings for Parse. The zero value is the default.
type Limits struct {
	// MaxURL is the longest URL in characters; 0 means the constant MaxURL.
	MaxURL int
	// Declared reports whether the user has said himself where host:port is
	// (--resolve). Such a name need not look like a domain. May be nil.
	Declared func(host string, port int) bool
}

// Parse is Limits.Parse with the default limits.
func Parse(raw string) (Target, error) { return Limits{}.Parse(raw) }

// Parse reads an absolute http or https URL. Any fault is fault.Invalid with a
// sentence that says what is wrong and how to write it.
func (l Limits) Parse(raw string) (Target, error) {
	if err := l.written(raw); err != nil {
		return Target{}, err
	}
	t, err := l.read(nil, raw)
	if err != nil {
		return Target{}, fault.New(fault.Invalid, "", "%s cannot be read: %v", show(raw), err)
	}
	return t, nil
}

// written holds a URL as a caller wrote it to more than the standard asks.
func (l Limits) written(raw string) error {
	refuse := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "", format, args...)
	}
	switch {
	case raw == "":
		return refuse("the URL is empty; write an absolute one, as in https://example.com/")
	case utf8.RuneCountInString(raw) > l.max():
		return refuse("the URL has %d characters; at most %d are accepted", utf8.RuneCountInString(raw), l.max())
	case !utf8.ValidString(raw):
		return refuse("the URL is not valid UTF-8; percent-encode its bytes")
	case strings.ContainsFunc(raw, isControl):
		return refuse("%s contains a control character; remove or percent-encode it", show(raw))
	case strings.TrimSpace(raw) != raw:
		return refuse("%s begins or ends with a space; remove it", show(raw))
	}
	scheme, rest, found := strings.Cut(raw, "://")
	if !isWeb(scheme) || !found {
		return refuse("%s is not an absolute http or https URL; write it in full, as in https://example.com/", show(raw))
	}
	place := rest[:cutAt(rest, "?#")]
	authority := place[:cutAt(place, "/")]
	switch {
	case strings.Contains(authority, "@"):
		return refuse("the URL holds a user name or password; remove everything up to the @")
	case strings.Contains(place, `\`):
		return refuse("%s contains a backslash; write / instead, or %%5C where a backslash is meant", show(raw))
	case authority == "":
		return refuse("%s names no host; write it as in https://example.com/", show(raw))
	}
	return nil
}

func (l Limits) max() int {
	if l.MaxURL > 0 {
		return l.MaxURL
	}
	return MaxURL
}

// isControl covers C0, DEL and C1: bytes that no URL needs and that terminals,
// logs and resolvers each read in their own way.
func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

func isWeb(scheme string) bool {
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

// cutAt gives the index of the first of chars in s, or the length of s.
func cutAt(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}

// show prints a refused URL for an error message: quoted, and not endless.
func show(raw string) string {
	cut := []rune(raw)
	if len(cut) > shownURL {
		return quote(string(cut[:shownURL])) + "…"
	}
	return quote(raw)
}
