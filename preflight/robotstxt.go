// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// MaxRobots is how much of a robots.txt is read, in bytes: the least that a
// crawler must be able to parse (RFC 9309, section 2.5), and as much as others
// read. What stands behind it does not count.
const MaxRobots = 500 << 10

// robotRule is one Allow or Disallow line, its pattern in normal form.
type robotRule struct {
	allow   bool
	pattern string // with * for any run of characters
	ends    bool   // the pattern must match up to the end ($)
	length  int    // of the pattern before runs of stars became one: the longest match wins
}

// robotRules are the rules that one agent has to keep on one origin, longest
// pattern first and Allow before Disallow: the first that matches decides.
type robotRules []robotRule

// verdict gives the rule that decides about a path with its query; false means
// that none speaks. The time is linear in the rules and the path.
func (r robotRules) verdict(path string) (robotRule, bool) {
	path = normalPath(path, true)
	for _, rule := range r {
		if rule.matches(path) {
			return rule, true
		}
	}
	return robotRule{}, false
}

// matches compares from the start of the path. Between stars the leftmost place
// for each piece is as good as any other, so nothing is ever tried twice.
func (r robotRule) matches(path string) bool {
	piece, rest, more := strings.Cut(r.pattern, "*")
	if !strings.HasPrefix(path, piece) {
		return false
	}
	path = path[len(piece):]
	for more {
		piece, rest, more = strings.Cut(rest, "*")
		if !more && r.ends {
			return strings.HasSuffix(path, piece)
		}
		i := strings.Index(path, piece)
		if i < 0 {
			return false
		}
		path = path[i+len(piece):]
	}
	return !r.ends || path == ""
}

// parseRobots reads a robots.txt for one agent (RFC 9309, section 2.2): the
// rules of all groups that name the agent, else those of all groups for *. What
// is not understood is passed over, so any bytes are a robots.txt. The time is
// linear in the body, of which MaxRobots bytes are read.
func parseRobots(body []byte, agent string) robotRules {
	if len(body) > MaxRobots {
		body = body[:MaxRobots]
		if i := bytes.LastIndexAny(body, "\r\n"); i >= 0 {
			body = body[:i] // half a line could say more or less than the whole
		}
	}
	g := groups{agent: agent}
	text := strings.TrimPrefix(string(body), "\ufeff")
	for len(text) > 0 {
		line := text
		if i := strings.IndexAny(text, "\r\n"); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		g.line(line)
	}
	rules := g.any
	if g.named {
		rules = g.own
	}
	slices.SortFunc(rules, func(a, b robotRule) int {
		return cmp.Or(cmp.Compare(b.length, a.length), -cmp.Compare(rank(a), rank(b)), strings.Compare(a.pattern, b.pattern))
	})
	return slices.CompactFunc(rules, func(a, b robotRule) bool {
		return a.allow == b.allow && a.ends == b.ends && a.pattern == b.pattern
	})
}

// rank puts Allow over Disallow between patterns of one length.
func rank(r robotRule) int {
	if r.allow {
		return 1
	}
	return 0
}

// groups is the state of a parse: whose group the current line is in.
type groups struct {
	agent    string
	inOwn    bool // the group names the agent
	inAny    bool // the group names *
	ruled    bool // the group has a rule, so the next agent line begins another
	named    bool // some group named the agent
	own, any robotRules
}

func (g *groups) line(line string) {
	key, value, ok := directive(line)
	if !ok {
		return
	}
	switch key {
	case "user-agent":
		if g.ruled {
			g.inOwn, g.inAny, g.ruled = false, false, false
		}
		switch {
		case value == "*" || strings.HasPrefix(value, "* ") || strings.HasPrefix(value, "*\t"):
			g.inAny = true
		case strings.EqualFold(productToken(value), g.agent):
			g.inOwn, g.named = true, true
		}
	case "allow", "disallow":
		g.ruled = true
		if value == "" {
			return // an empty pattern matches nothing
		}
		rule := newRule(key == "allow", value)
		if g.inOwn {
			g.own = append(g.own, rule)
		}
		if g.inAny {
			g.any = append(g.any, rule)
		}
	}
}

// directive splits a line into a key in lower case, mended where the slip is a
// common one, and its value. A missing colon is mended too.
func directive(line string) (key, value string, ok bool) {
	line, _, _ = strings.Cut(line, "#")
	line = strings.Trim(line, " \t")
	key, value, ok = strings.Cut(line, ":")
	if !ok {
		if f := strings.Fields(line); len(f) == 2 {
			key, value, ok = f[0], f[1], true
		}
	}
	key = strings.ToLower(strings.Trim(key, " \t"))
	switch key {
	case "useragent", "user agent":
		key = "user-agent"
	case "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		key = "disallow"
	}
	return key, strings.Trim(value, " \t"), ok
}

// newRule brings a pattern into normal form. A $ is special only at the end.
func newRule(allow bool, value string) robotRule {
	r := robotRule{allow: allow}
	value, r.ends = strings.CutSuffix(value, "$")
	r.pattern = normalPath(value, false)
	r.length = len(r.pattern)
	if r.ends {
		r.length++
	}
	r.pattern = squeeze(r.pattern)
	return r
}

// squeeze makes a run of stars one star: they mean the same.
func squeeze(pattern string) string {
	if !strings.Contains(pattern, "**") {
		return pattern
	}
	out := make([]byte, 0, len(pattern))
	for i := range len(pattern) {
		if pattern[i] != '*' || i == 0 || pattern[i-1] != '*' {
			out = append(out, pattern[i])
		}
	}
	return string(out)
}

// normalPath makes two spellings of one path equal (RFC 9309, section 2.2.2):
// codes of unreserved characters are decoded, other codes are in upper case,
// bytes that may not stand bare are coded. So are the signs that are special in
// a pattern: $ always, * where it is no star but part of a path.
func normalPath(s string, starIsPlain bool) string {
	const hex = "0123456789ABCDEF"
	out := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); i++ {
		c, coded := s[i], false
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			c, coded = unhex(s[i+1])<<4|unhex(s[i+2]), true
			i += 2
		}
		bare := !coded && c > ' ' && c < 0x7f && c != '$' && (c != '*' || !starIsPlain)
		if isUnreserved(c) || bare {
			out = append(out, c)
		} else {
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(out)
}

// isUnreserved is the set of RFC 3986, section 2.3.
func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}

// productToken gives the name that a user agent goes by: "Dipper" for
// "Dipper/1.0 (+https://…)". It ends at the version, a blank or a bracket.
func productToken(userAgent string) string {
	userAgent = strings.TrimSpace(userAgent)
	if i := strings.IndexAny(userAgent, "/ \t(;,"); i >= 0 {
		userAgent = userAgent[:i]
	}
	return userAgent
}
