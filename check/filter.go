// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strconv"
	"strings"

	"github.com/dipper-web/dipper/fault"
)

// Filter is one entry of a search's list of allowed or blocked domains. It has
// the parser of the rules and another meaning: an entry covers the host and its
// subdomains, however it is spelled (docs.example, *.docs.example,
// .docs.example, www.docs.example, https://docs.example/), and may carry a path
// prefix.
type Filter struct {
	Text  string // as written
	place place
}

// ParseFilter reads an entry. A star anywhere but in front is fault.Invalid: it
// would widen the search in silence.
func ParseFilter(s string) (Filter, error) {
	text := strings.TrimSpace(s)
	scheme, rest, full := strings.Cut(text, "://")
	if !full {
		scheme, rest = "https", text
	}
	for _, front := range [...]string{"*.", "."} {
		rest = strings.TrimPrefix(rest, front)
	}
	rest = withoutWWW(rest)
	refuse := func(why string) (Filter, error) {
		return Filter{}, fault.New(fault.Invalid, "",
			"the domain filter %s cannot be read: %s; write a domain, as in docs.example.com, or one with a path, as in example.com/docs", show(s), why)
	}
	if strings.Contains(rest, "*") {
		return refuse("a star may only stand in front, as in *.example.com")
	}
	if !strings.Contains(rest, "/") {
		rest += "/"
	}
	p, err := parsePlace(scheme + "://" + rest)
	if err != nil {
		return refuse(err.Error())
	}
	return Filter{Text: s, place: p}, nil
}

// Host is the host of the entry in its normal form, for engines that filter
// by themselves; IPv6 in brackets.
func (f Filter) Host() string { return f.place.host.String() }

// Path is the path prefix of the entry, without a slash at its end; "" for all.
func (f Filter) Path() string { return f.place.path }

// String is the entry in its normal form: host[:port][/path].
func (f Filter) String() string {
	s := f.Host()
	if f.place.written {
		s += ":" + strconv.Itoa(f.place.port)
	}
	return s + f.place.path
}

// Matches reports whether t is on the entry's host or a subdomain of it, on its
// port where one is written, under its path where there is one.
func (f Filter) Matches(t Target) bool {
	p := f.place
	return !t.IsZero() && p.host.covers(t.host) && (!p.written || p.port == t.port) && under(normal(t.path), p.path)
}

// withoutWWW drops a leading www. where a domain is left behind it.
func withoutWWW(rest string) string {
	if len(rest) > 4 && strings.EqualFold(rest[:4], "www.") && strings.Contains(rest[4:cutAt(rest, "/")], ".") {
		return rest[4:]
	}
	return rest
}
