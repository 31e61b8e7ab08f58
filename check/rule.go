// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strings"

	"github.com/dipper-web/dipper/fault"
)

// Tool is what a rule speaks about.
type Tool string

// The tools that rules name, spelled as rules spell them.
const (
	Fetch  Tool = "WebFetch"
	Search Tool = "WebSearch"
	MCP    Tool = "mcp"
)

// forms is the end of every sentence about a rule that cannot be read.
const forms = `write WebFetch, WebFetch(domain:example.com), domain:*.example.com, https://example.com/docs/, WebSearch or mcp__server`

// Rule is one line of a permission list.
//
//	WebFetch, WebFetch(domain:*)        every fetch
//	WebFetch(domain:example.com)        exactly that host, on any port
//	domain:*.example.com                subdomains at any depth, not example.com itself
//	domain:example.*                    a star elsewhere stays within one label
//	domain:[2001:db8::1]                IPv6 in brackets
//	https://example.com/docs/           that path and what is below it
//	WebSearch                           every search
//	mcp__server, mcp__server__*         all tools of a server
//	mcp__server__tool                   one tool
//
// Hosts are compared in their normal form: case, a trailing dot, and other
// spellings of an address or of an international name make no difference.
type Rule struct {
	Text   string // as written
	Tool   Tool
	Server string // of an MCP rule; "*" for all
	Name   string // the tool of an MCP rule; "*" for all

	place place // of a Fetch rule
}

// ParseRule reads a rule. What cannot be read is fault.Invalid.
func ParseRule(s string) (Rule, error) {
	r := Rule{Text: s, Tool: Fetch}
	var err error
	switch text := strings.TrimSpace(s); {
	case text == string(Search):
		r.Tool = Search
	case text == string(Fetch):
		r.place.host.any = true
	case strings.HasPrefix(text, "mcp__"):
		r.Tool = MCP
		r.Server, r.Name, err = parseMCP(text)
	case strings.HasPrefix(text, "WebFetch(") && strings.HasSuffix(text, ")"):
		r.place, err = parseSpec(text[len("WebFetch(") : len(text)-1])
	case strings.HasPrefix(text, "domain:"):
		r.place, err = parseSpec(text)
	case strings.ContainsAny(text, "()"):
		err = errorf("no rule has this form")
	case strings.Contains(text, "://"), strings.ContainsAny(text, ".*:/"), text == "localhost":
		r.place, err = parsePlace(text)
	default:
		err = errorf("it is neither a tool nor a host")
	}
	if err != nil {
		return Rule{}, fault.New(fault.Invalid, "", "the rule %s cannot be read: %v; %s", show(s), err, forms)
	}
	return r, nil
}

// RuleFor is the rule that means exactly the host of t: what "always allow"
// remembers.
func RuleFor(t Target) Rule {
	r := Rule{Tool: Fetch, place: place{host: pattern{exact: t.host.name, addr: t.host.addr.IsValid()}}}
	r.Text = r.String()
	return r
}

// String is the rule in its normal form: two rules that mean the same print the
// same, however they were written.
func (r Rule) String() string {
	switch {
	case r.Tool == Search:
		return string(Search)
	case r.Tool == MCP && r.Name == "*":
		return "mcp__" + r.Server
	case r.Tool == MCP:
		return "mcp__" + r.Server + "__" + r.Name
	case r.place.scheme != "":
		return r.place.String()
	case r.place.host.any:
		return string(Fetch)
	}
	return "WebFetch(domain:" + r.place.host.String() + ")"
}

// Matches reports whether an allow or ask rule speaks about t: exactly the host
// unless "*." is written. A rule with a path also wants the port, and never
// matches a path that a server could read as leading out of the prefix. An http
// rule speaks about the https form too, which is what is asked after an upgrade;
// the other way round that holds for the ports 80 and 443 alone.
func (r Rule) Matches(t Target) bool {
	p := r.place
	if r.Tool != Fetch || t.IsZero() || !p.host.matches(t.host) {
		return false
	}
	if p.scheme == "" {
		return true
	}
	return p.opens(t) && !treacherous(t.path) && under(normal(t.path), p.path)
}

// opens reports whether a rule's scheme and port fit a target.
func (p place) opens(t Target) bool {
	written := Target{scheme: p.scheme, port: p.port}
	return written.sameOrigin(t) || written.Secure().sameOrigin(t) || t.port == 80 && written.sameOrigin(t.Secure())
}

// Covers reports whether a deny rule speaks about t: the host and its
// subdomains, whatever the scheme, on any port unless the rule names one, and
// under the path however it is spelled.
func (r Rule) Covers(t Target) bool {
	p := r.place
	switch {
	case r.Tool != Fetch || t.IsZero() || !p.host.covers(t.host):
		return false
	case p.scheme == "":
		return true
	case p.written && p.port != t.port:
		return false
	}
	return under(normal(t.path), p.path) || under(bare(t.path), bare(p.path))
}

// MatchesTool reports whether an MCP rule speaks about a tool of a server.
func (r Rule) MatchesTool(server, tool string) bool {
	return r.Tool == MCP && (r.Server == "*" || r.Server == server) && (r.Name == "*" || r.Name == tool)
}

// parseMCP reads mcp__server, mcp__server__* and mcp__server__tool.
func parseMCP(text string) (server, tool string, err error) {
	server, tool, named := strings.Cut(strings.TrimPrefix(text, "mcp__"), "__")
	if !named {
		tool = "*"
	}
	for _, part := range [...]string{server, tool} {
		if part == "" || part != "*" && strings.ContainsFunc(part, notInTool) {
			return "", "", errorf("%s is not mcp__server or mcp__server__tool", quote(text))
		}
	}
	return server, tool, nil
}

func notInTool(r rune) bool {
	return r != '.' && notInName(r|0x20) && notInName(r)
}

// parseSpec reads what stands in the brackets of WebFetch(…).
func parseSpec(spec string) (place, error) {
	name, found := strings.CutPrefix(strings.TrimSpace(spec), "domain:")
	if !found {
		return place{}, errorf("the brackets of WebFetch hold domain: and a host")
	}
	h, err := parsePattern(strings.TrimSpace(name))
	return place{host: h}, err
}
