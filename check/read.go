// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// lineEnds takes out what the standard takes out anywhere in a URL.
var lineEnds = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// read is the one parse: the "basic URL parser" of the WHATWG URL Standard for
// http and https, where its states come down to a few cuts. Bytes above 0x7f are
// percent-encoded before anything else, which is what the standard does with
// them everywhere but in the host, and parseHost decodes the host again.
//
// It departs from the standard in four places, each so that what is judged is
// what net/http sends: hosts are narrowed to what can be dialled (parseHost),
// port 0 is refused, an empty query is dropped, and a percent sign in a path
// that begins no escape is written %25.
//
// Errors are clauses ("it names no host") for the caller's sentence.
func (l Limits) read(base *Target, raw string) (Target, error) {
	s := strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	s = encodeHigh(lineEnds.Replace(s))
	s, fragment, _ := strings.Cut(s, "#")

	scheme, rest, absolute := cutScheme(s)
	t := Target{limits: l, scheme: scheme, fragment: decodeText(fragment)}
	switch {
	case absolute && !isWeb(scheme):
		return Target{}, fmt.Errorf("only http and https are fetched, not %s", scheme)
	case !absolute && base == nil:
		return Target{}, errors.New("it has no scheme; write it with https://")
	case absolute && (base == nil || scheme != base.scheme || strings.HasPrefix(rest, "//")):
		return t.withPlace(strings.TrimLeft(rest, `/\`))
	case !absolute:
		t.scheme, rest = base.scheme, s
	}
	if len(rest) > 1 && isSlash(rest[0]) && isSlash(rest[1]) {
		return t.withPlace(strings.TrimLeft(rest, `/\`))
	}
	t.host, t.port = base.host, base.port
	path, query, hasQuery := strings.Cut(rest, "?")
	switch {
	case path == "":
		t.path, t.query = base.path, base.query
	case isSlash(path[0]):
		t.path = resolve(path)
	default:
		t.path = resolve(base.path[:strings.LastIndexByte(base.path, '/')+1] + path)
	}
	if path != "" || hasQuery {
		t.query = encode(query, bareInQuery)
	}
	return t, nil
}

// withPlace fills t from what follows the slashes: authority, path, query.
func (t Target) withPlace(s string) (Target, error) {
	end := cutAt(s, `/\?`)
	authority, rest := s[:end], s[end:]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if strings.Trim(authority[:at], ":") != "" {
			return Target{}, errors.New("it holds a user name or password")
		}
		authority = authority[at+1:]
	}
	name, port, err := cutPort(authority)
	if err != nil {
		return Target{}, err
	}
	if t.host, err = parseHost(name); err != nil {
		return Target{}, err
	}
	if t.port = port; port == 0 {
		t.port = standardPort(t.scheme)
	}
	if t.host.odd && (t.limits.Declared == nil || !t.limits.Declared(t.host.name, t.port)) {
		return Target{}, fmt.Errorf("the host %s does not look like a domain name", quote(t.host.name))
	}
	path, query, _ := strings.Cut(rest, "?")
	t.path, t.query = resolve(path), encode(query, bareInQuery)
	return t, nil
}

// cutScheme cuts "scheme:" off; the scheme comes back in lower case.
func cutScheme(s string) (scheme, rest string, found bool) {
	scheme, rest, found = strings.Cut(s, ":")
	if !found || scheme == "" {
		return "", s, false
	}
	for i := range len(scheme) {
		c := scheme[i] | 0x20
		if letter := c >= 'a' && c <= 'z'; !letter && (i == 0 || !strings.Contains("0123456789+-.", scheme[i:i+1])) {
			return "", s, false
		}
	}
	return strings.ToLower(scheme), rest, true
}

// cutPort splits authority at the colon that is not inside brackets. Port 0 is
// returned where none is written; a written zero is an error.
func cutPort(authority string) (name string, port int, err error) {
	from := 0
	if strings.HasPrefix(authority, "[") {
		from = cutAt(authority, "]") // an open bracket takes all, and parseIPv6 refuses it
	}
	colon := strings.IndexByte(authority[from:], ':')
	if name = authority; colon >= 0 {
		name = authority[:from+colon]
	}
	if name == "" {
		return "", 0, errors.New("it names no host")
	}
	if len(name) == len(authority) || len(name)+1 == len(authority) {
		return name, 0, nil
	}
	digits := authority[len(name)+1:]
	if strings.Trim(digits, "0123456789") != "" {
		return "", 0, errors.New("the port is not a number")
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 {
		return "", 0, errors.New("the port is not between 1 and 65535")
	}
	return name, int(n), nil
}

// resolve is the "path state": backslashes are slashes, dot segments are
// carried out whether or not their dots are escaped, the rest is encoded.
func resolve(path string) string {
	if path == "" {
		return "/"
	}
	segments := strings.Split(strings.ReplaceAll(path, `\`, "/")[leadingSlash(path):], "/")
	kept := make([]string, 0, len(segments))
	for i, segment := range segments {
		last := i == len(segments)-1
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case ".":
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept = append(kept, segment)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	return encodePath("/" + strings.Join(kept, "/"))
}

func leadingSlash(path string) int {
	if isSlash(path[0]) {
		return 1
	}
	return 0
}

// bareInQuery is the complement of the special-query percent-encode set.
func bareInQuery(c byte) bool {
	return c > ' ' && c < 0x7f && strings.IndexByte(`"#<>'`, c) < 0
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

func standardPort(scheme string) int {
	if scheme == "https" {
		return 443
	}
	return 80
}

func quote(s string) string { return strconv.QuoteToGraphic(s) }
