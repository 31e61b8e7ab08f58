// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dipper-web/dipper/fault"
)

// Target is a URL that passed check. Its fields are private, so a Target that
// is not zero has passed. Copies are independent.
type Target struct {
	scheme   string
	host     host
	port     int
	path     string // escaped, "/" at least
	query    string // escaped, without "?"
	fragment string // decoded, without "#"
	limits   Limits
}

// IsZero reports whether t is the zero Target, which is no place to go.
func (t Target) IsZero() bool { return t.host.name == "" }

// String is the canonical URL without fragment. For the zero Target it is "".
func (t Target) String() string { return t.print(t.path, t.query) }

// Scheme is "http" or "https".
func (t Target) Scheme() string { return t.scheme }

// Host is ASCII and lower case, without brackets, port or trailing dot.
func (t Target) Host() string { return t.host.name }

// Port is the port that is dialled: the one written, else 80 or 443.
func (t Target) Port() int { return t.port }

// HostPort is host:port, with brackets around an IPv6 address.
func (t Target) HostPort() string { return net.JoinHostPort(t.host.name, strconv.Itoa(t.port)) }

// Path is the escaped path, "/" at least.
func (t Target) Path() string { return t.path }

// Query is the escaped query without its question mark.
func (t Target) Query() string { return t.query }

// Fragment is the decoded fragment. It is never sent; it chooses a section.
func (t Target) Fragment() string { return t.fragment }

// Addr gives the address of a host that is a literal.
func (t Target) Addr() (netip.Addr, bool) { return t.host.addr, t.host.addr.IsValid() }

// URL is a fresh copy for net/http. Its EscapedPath is Path, byte for byte.
func (t Target) URL() *url.URL {
	return &url.URL{Scheme: t.scheme, Host: t.place(), Path: decode(t.path), RawPath: t.path, RawQuery: t.query}
}

// Key is the normal form under which pages are kept: path case and query order
// as written, escapes of unreserved characters decoded, the others in upper
// case (RFC 3986, section 6.2.2), no fragment.
func (t Target) Key() string { return t.print(normal(t.path), normal(t.query)) }

// Secure is the https form of an http target by the rule of RFC 6797, section 8.3:
// port 80 becomes 443, any other port stays. An https target is returned as it is.
func (t Target) Secure() Target {
	if t.scheme != "http" {
		return t
	}
	t.scheme = "https"
	if t.port == 80 {
		t.port = 443
	}
	return t
}

// sameOrigin reports whether two targets have the same scheme and port.
func (t Target) sameOrigin(u Target) bool { return t.scheme == u.scheme && t.port == u.port }

// Join resolves the Location of a redirect against t by the rules of the WHATWG
// URL Standard (tabs and line ends vanish, bytes above 0x7f are
// percent-encoded, backslashes are slashes) and checks the result as Parse does.
// A Location without a fragment keeps that of t (RFC 9110, section 10.2.2).
// Whatever is no place to go is fault.Refused with cause fault.Location.
func (t Target) Join(ref string) (Target, error) {
	refuse := func(why string) error {
		return fault.New(fault.Refused, fault.Location, "%s redirects to no usable address: %s", show(t.String()), why)
	}
	switch {
	case t.IsZero():
		return Target{}, fault.New(fault.Internal, "", "a redirect was resolved against no target")
	case strings.Trim(ref, " \t\r\n") == "":
		return Target{}, refuse("its Location is empty")
	case utf8.RuneCountInString(ref) > t.limits.max():
		return Target{}, refuse("its Location has more than " + strconv.Itoa(t.limits.max()) + " characters")
	}
	next, err := t.limits.read(&t, ref)
	if err != nil {
		return Target{}, refuse(err.Error())
	}
	if !strings.Contains(ref, "#") {
		next.fragment = t.fragment
	}
	return next, nil
}

// sentence holds the marks that prose glues to the end of an address.
const sentence = `.,;:!?'"`

// Trimmed gives t without the punctuation that a sentence has left at its end,
// and false when there is none. A closing bracket counts when nothing opens it.
func (t Target) Trimmed() (Target, bool) {
	last := &t.path
	if t.query != "" {
		last = &t.query
	}
	s := strings.TrimRight(*last, sentence)
	for strings.HasSuffix(s, ")") && strings.Count(s, ")") > strings.Count(s, "(") {
		s = strings.TrimRight(strings.TrimSuffix(s, ")"), sentence)
	}
	if s == *last || s == "" {
		return t, false
	}
	*last = s
	return t, true
}

func (t Target) print(path, query string) string {
	if t.IsZero() {
		return ""
	}
	s := t.scheme + "://" + t.place() + path
	if query != "" {
		s += "?" + query
	}
	return s
}

// place is the authority as it is written: the port only where it matters.
func (t Target) place() string {
	name := t.host.name
	if t.host.addr.Is6() {
		name = "[" + name + "]"
	}
	if t.port == standardPort(t.scheme) {
		return name
	}
	return name + ":" + strconv.Itoa(t.port)
}
