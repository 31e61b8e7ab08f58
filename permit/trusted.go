// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	_ "embed"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// The tiers of the trusted list. Both spare the question; only pages of a Docs
// entry may be handed on without a reader between them and the model.
const (
	Docs = "docs"
	Open = "open" // strangers publish there too
)

//go:embed trusted.txt
var builtinList string

// Entry is one line of the trusted list.
type Entry struct {
	Host   string // lower case; "*." before it: only what lies below; ":port" behind it where one was written
	Path   string // escaped path prefix without a closing slash, * for any one segment; empty: the whole host
	Tier   string // docs or open
	Reason string
	From   string // "trusted.txt" or "trusted.add"
}

// String gives the place as it is written in a list: host, port, path.
func (e Entry) String() string { return e.Host + e.Path }

// Trusted is the list of places that need no question. A nil *Trusted is empty.
type Trusted struct {
	entries []Entry
	removed []Entry
	places  map[string][]Entry // by host without port
	masks   map[string][]Entry
}

// NewTrusted makes a list from the built-in one (if wanted), entries to add and
// places to remove. An entry is "docs.example.org", "example.org/manual" or
// "wiki.example.org open": a host, an optional :port and path prefix, and a tier
// (docs unless said). A host stands for itself alone, "*.host" for all below it,
// an address such as 127.0.0.1 or [::1] for itself. Without a port every port
// counts. A removed place takes with it everything below it, whoever added it.
// What is not of this form is fault.Invalid.
func NewTrusted(add, remove []string, builtin bool) (*Trusted, error) {
	t := &Trusted{places: map[string][]Entry{}, masks: map[string][]Entry{}}
	if builtin {
		for line := range strings.Lines(builtinList) {
			e, err := builtinEntry(line)
			if err != nil {
				return nil, err
			}
			t.add(e)
		}
	}
	for _, s := range remove {
		e, err := parsePlace("trusted.remove", s)
		if err != nil {
			return nil, err
		}
		t.removed = append(t.removed, e)
		t.masks[bare(e.Host)] = append(t.masks[bare(e.Host)], e)
	}
	for _, s := range add {
		place, tier := s, Docs
		if f := strings.Fields(s); len(f) == 2 {
			place, tier = f[0], f[1]
		}
		e, err := parsePlace("trusted.add", place)
		if err != nil {
			return nil, err
		}
		if tier != Docs && tier != Open {
			return nil, fault.New(fault.Invalid, "", "trusted.add: %q has the tier %q; it is docs or open", s, tier)
		}
		e.Tier, e.Reason, e.From = tier, "added by the user", "trusted.add"
		t.add(e)
	}
	return t, nil
}

func (t *Trusted) add(e Entry) {
	if e.Host == "" {
		return
	}
	t.entries = append(t.entries, e)
	t.places[bare(e.Host)] = append(t.places[bare(e.Host)], e)
}

// List gives the entries in force, built-in ones first. Entries that
// trusted.remove takes away as a whole are left out.
func (t *Trusted) List() []Entry {
	if t == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.entries), func(e Entry) bool {
		return slices.ContainsFunc(t.removed, func(r Entry) bool {
			return r.coversHost(bare(e.Host), portOf(e.Host)) && (r.Path == "" || under(segments(e.Path), segments(r.Path)))
		})
	})
}

// Match gives the entry that speaks for t: of those that cover it the one with
// the longest path; between equals an open one, then the last added.
func (t *Trusted) Match(target check.Target) (Entry, bool) {
	if t == nil || target.IsZero() {
		return Entry{}, false
	}
	path := segments(target.Path())
	odd := ambiguous(target.Path())
	for e := range covering(t.masks, target) {
		if e.Path == "" || odd || under(path, segments(e.Path)) {
			return Entry{}, false
		}
	}
	best, found := Entry{}, false
	for e := range covering(t.places, target) {
		if e.Path != "" && (odd || !under(path, segments(e.Path))) {
			continue
		}
		deeper := len(segments(e.Path)) - len(segments(best.Path))
		if !found || deeper > 0 || deeper == 0 && (e.Tier == Open || best.Tier == Docs) {
			best, found = e, true
		}
	}
	return best, found
}

// covering yields the entries whose host part covers the target: first those of
// the host itself, then those of the names above it.
func covering(places map[string][]Entry, target check.Target) func(yield func(Entry) bool) {
	return func(yield func(Entry) bool) {
		host, port := target.Host(), strconv.Itoa(target.Port())
		for name, more := host, true; more; _, name, more = strings.Cut(name, ".") {
			for _, e := range places[name] {
				if e.coversHost(host, port) && !yield(e) {
					return
				}
			}
		}
	}
}

// coversHost compares on label borders. An empty port is that of an entry that
// names none.
func (e Entry) coversHost(host, port string) bool {
	if p := portOf(e.Host); p != "" && p != port {
		return false
	}
	name, below := strings.CutPrefix(hostOf(e.Host), "*.")
	host, wild := strings.CutPrefix(host, "*.")
	if below {
		return strings.HasSuffix(host, "."+name) || wild && host == name
	}
	return host == name && !wild
}

// hostOf takes the port off a host.
func hostOf(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return strings.Trim(host, "[]")
}

func portOf(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		return host[i+1:]
	}
	return ""
}

// bare is the name under which a host is looked up.
func bare(host string) string { return strings.TrimPrefix(hostOf(host), "*.") }

// segments splits a path and decodes each part once, so that %61 is a.
func segments(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if d, err := url.PathUnescape(p); err == nil {
			parts[i] = d
		}
	}
	return parts
}

// under reports whether path lies at or below prefix, on segment borders. A star
// in prefix is one segment of any name.
func under(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.EqualFunc(path[:len(prefix)], prefix,
		func(have, want string) bool { return have == want || want == "*" })
}

// ambiguous reports whether two servers could read different directories out of
// an escaped path: coded slashes and dots, a second layer of coding, empty parts,
// dots before a parameter. No path entry covers such a path.
func ambiguous(path string) bool {
	low := strings.ToLower(path)
	for _, coded := range []string{"%2f", "%5c", "%25", "%00", "\\", "//"} {
		if strings.Contains(low, coded) {
			return true
		}
	}
	return slices.ContainsFunc(segments(path), func(s string) bool {
		name, _, _ := strings.Cut(s, ";")
		return name == "." || name == ".."
	})
}

// builtinEntry reads "host[/path]  tier  reason". Blank lines and comments give
// the zero Entry.
func builtinEntry(line string) (Entry, error) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return Entry{}, nil
	}
	f := strings.Fields(line)
	if len(f) < 3 || f[1] != Docs && f[1] != Open {
		return Entry{}, fault.New(fault.Internal, "", "the built-in trusted list has the line %q", line)
	}
	e, err := parsePlace("trusted.txt", f[0])
	e.Tier, e.Reason, e.From = f[1], strings.Join(f[2:], " "), "trusted.txt"
	return e, err
}

// parsePlace reads host[:port][/path] by way of check, so that a place is spelt
// as a Target spells it.
func parsePlace(key, s string) (Entry, error) {
	text, wild := strings.CutPrefix(strings.TrimSpace(s), "*.")
	anyName := check.Limits{Declared: func(string, int) bool { return true }}
	target, err := check.Target{}, error(nil)
	authority, _, _ := strings.Cut(text, "/")
	if authority == "" || strings.Contains(authority, "*") || strings.ContainsAny(text, "?# \t") || strings.Contains(text, "://") {
		err = fault.New(fault.Invalid, "", "not a place")
	} else {
		target, err = anyName.Parse("https://" + text)
	}
	if err != nil || ambiguous(target.Path()) {
		return Entry{}, fault.Wrap(err, fault.Invalid, "", "%s: %q is not a host, or a host and a path, such as docs.example.org or example.org/manual", key, s)
	}
	host := target.Host()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if wild {
		host = "*." + host
	}
	if portOf(authority) != "" {
		host += ":" + strconv.Itoa(target.Port())
	}
	return Entry{Host: host, Path: strings.TrimRight(target.Path(), "/")}, nil
}
