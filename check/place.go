// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// place is what a rule or a filter points at: a host pattern and, when scheme
// is set, a path prefix.
type place struct {
	host    pattern
	scheme  string // "" for a rule about a host alone
	port    int
	written bool   // the port stands in the rule
	path    string // normal, without the slash at the end; "" is everything
}

// parsePlace reads https://host[:port]/path/, or the same without a scheme; a
// bare host is a rule about the host alone.
func parsePlace(text string) (place, error) {
	scheme, rest, full := strings.Cut(text, "://")
	switch {
	case !full:
		scheme, rest = "https", text
	case !isWeb(scheme):
		return place{}, errorf("%s is not http or https", quote(scheme))
	}
	if strings.ContainsAny(rest, `?#@\`) || strings.ContainsFunc(rest, isControl) || strings.Contains(rest, " ") {
		return place{}, errorf("a rule with a path has no query, fragment, user name, backslash or space")
	}
	end := cutAt(rest, "/")
	if !full && end == len(rest) {
		h, err := parsePattern(rest)
		return place{host: h}, err
	}
	p := place{scheme: strings.ToLower(scheme)}
	name, port, err := cutPort(rest[:end])
	if err != nil {
		return place{}, err
	}
	if p.host, err = parsePattern(name); err != nil {
		return place{}, err
	}
	if p.port, p.written = port, port != 0; !p.written {
		p.port = standardPort(p.scheme)
	}
	p.path, err = parsePrefix(rest[end:])
	return p, err
}

// parsePrefix brings a path prefix into its normal form. A star may stand at
// the end, after a slash, where it says what the prefix says anyway.
func parsePrefix(path string) (string, error) {
	if strings.HasSuffix(path, "/*") {
		path = path[:len(path)-1]
	}
	if strings.Contains(path, "*") {
		return "", errorf("a path is a prefix and takes no star but at its end")
	}
	full := resolve(encodeHigh(path))
	if treacherous(full) {
		return "", errorf("the path has escaped slashes that lead elsewhere")
	}
	return strings.TrimRight(normal(full), "/"), nil
}

func (p place) String() string {
	host := p.host.String()
	if p.port != standardPort(p.scheme) {
		host += ":" + strconv.Itoa(p.port)
	}
	return p.scheme + "://" + host + p.path + "/"
}

// under reports whether path is prefix or lies below it. Prefixes end at the
// border of a segment: /docs does not reach /docs2.
func under(path, prefix string) bool {
	return strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/')
}

// bareRounds is how often bare decodes: servers behind gateways decode twice;
// what is escaped deeper than this reaches no page that the prefix names.
const bareRounds = 4

// bare is a path as a careless server might read it: escapes decoded, also
// doubly, backslashes and runs of slashes taken for one slash, parameters of
// dot segments dropped, dot segments carried out. Only refusals rest on it.
func bare(path string) string {
	segments := decodedSegments(path)
	kept := segments[:0]
	for _, s := range segments {
		switch dots(s) {
		case 1:
		case 2:
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept = append(kept, s)
		}
	}
	return "/" + strings.Join(kept, "/")
}

// treacherous reports whether decoding could bring dot segments into a path
// that has none, so that a prefix would not hold.
func treacherous(path string) bool {
	if !strings.ContainsAny(path, "%;") {
		return false
	}
	for _, s := range decodedSegments(path) {
		if dots(s) > 0 {
			return true
		}
	}
	return false
}

func decodedSegments(path string) []string {
	for range bareRounds {
		path = decode(path)
	}
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
}

// dots counts the dots of a dot segment, with or without a parameter ("..;x").
func dots(segment string) int {
	name, _, _ := strings.Cut(segment, ";")
	if name == "." || name == ".." {
		return len(name)
	}
	return 0
}

// pattern is a host in which labels may hold stars.
type pattern struct {
	any    bool     // every host
	exact  string   // a host without stars
	addr   bool     // exact is an address
	deep   bool     // "*." in front: any depth, one label at least
	labels []string // with stars inside a label
}

// parsePattern reads the host of a rule.
func parsePattern(name string) (pattern, error) {
	name = strings.TrimSuffix(name, ".")
	switch {
	case name == "*":
		return pattern{any: true}, nil
	case name == "":
		return pattern{}, errorf("it names no host")
	case strings.Contains(name, "://"), strings.ContainsAny(name, `/?#@\ `):
		return pattern{}, errorf("%s is not a host", quote(name))
	case name[0] != '[' && strings.Count(name, ":") > 1:
		return pattern{}, errorf("an IPv6 address stands in brackets, as in [2001:db8::1]")
	case name[0] != '[' && strings.Contains(name, ":"):
		return pattern{}, errorf("a domain has no port; for one port write https://%s/", name)
	}
	if !strings.Contains(name, "*") {
		h, err := parseHost(encodeHigh(name))
		return pattern{exact: h.name, addr: h.addr.IsValid()}, err
	}
	return parseStars(name)
}

// parseStars reads a host with stars. The labels without a star are brought
// into their normal form as one name, so that an international name works.
func parseStars(name string) (pattern, error) {
	rest, deep := strings.CutPrefix(name, "*.")
	p := pattern{deep: deep, labels: strings.Split(rest, ".")}
	for i, label := range p.labels {
		if strings.Contains(label, "*") {
			p.labels[i] = strings.ToLower(label)
			if strings.ContainsFunc(strings.ReplaceAll(p.labels[i], "*", ""), notInName) {
				return pattern{}, errorf("a label with a star has only letters, digits and hyphens besides")
			}
			continue
		}
		ascii, err := domainProfile.ToASCII(label)
		if _, bad := checkName(ascii); err != nil || bad != nil || strings.Contains(ascii, ".") {
			return pattern{}, errorf("%s is not a domain name", quote(name))
		}
		p.labels[i] = strings.ToLower(ascii)
	}
	return p, nil
}

// matches compares whole hosts.
func (p pattern) matches(h host) bool {
	if p.any || p.labels == nil {
		return p.any || p.exact == h.name
	}
	if h.addr.Is6() || p.deep && h.addr.IsValid() {
		return false
	}
	labels := strings.Split(h.name, ".")
	if p.deep {
		labels = labels[max(0, len(labels)-len(p.labels)):]
		if len(h.name) == len(strings.Join(labels, ".")) { // no label is left for the star
			return false
		}
	}
	if len(labels) != len(p.labels) {
		return false
	}
	for i, label := range labels {
		if !glob(p.labels[i], label) {
			return false
		}
	}
	return true
}

// covers compares the host and every domain above it. Addresses have no
// domains above them.
func (p pattern) covers(h host) bool {
	for up := true; up; {
		if p.matches(h) {
			return true
		}
		if up = !h.addr.IsValid(); up {
			_, h.name, up = strings.Cut(h.name, ".")
		}
	}
	return false
}

func (p pattern) String() string {
	switch {
	case p.any:
		return "*"
	case p.addr:
		return strings.TrimSuffix(net.JoinHostPort(p.exact, ""), ":")
	case p.deep:
		return "*." + strings.Join(p.labels, ".")
	case p.labels != nil:
		return strings.Join(p.labels, ".")
	}
	return p.exact
}

// glob compares one label; a star stands for any run of characters.
func glob(pattern, label string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == label
	}
	label, ok := strings.CutPrefix(label, head)
	for ok {
		middle, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(label, rest)
		}
		_, label, ok = strings.Cut(label, middle)
		rest = after
	}
	return false
}

func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }
