// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/fault"
)

func mustRule(t testing.TB, s string) Rule {
	t.Helper()
	r, err := ParseRule(s)
	if err != nil {
		t.Fatalf("ParseRule(%q): %v", s, err)
	}
	return r
}

func TestRules(t *testing.T) {
	const yes, no = true, false
	for _, c := range []struct {
		rule, url       string
		matches, covers bool
	}{
		{"WebFetch", "http://any.example/", yes, yes},
		{"WebFetch(domain:*)", "http://localhost:99/", yes, yes},
		{"domain:*", "http://[::1]/", yes, yes},
		{"WebFetch(domain:example.com)", "https://example.com/x", yes, yes},
		{"WebFetch(domain:example.com)", "https://EXAMPLE.COM.:8443/x", yes, yes},
		{"WebFetch( domain:Example.COM. )", "http://example.com/", yes, yes},
		{"domain:example.com", "https://sub.example.com/", no, yes},
		{"domain:example.com", "https://a.b.example.com/", no, yes},
		{"domain:example.com", "https://notexample.com/", no, no},
		{"domain:example.com", "https://example.com.evil.example/", no, no},
		{"domain:*.example.com", "https://example.com/", no, no},
		{"domain:*.example.com", "https://a.example.com/", yes, yes},
		{"domain:*.example.com", "https://a.b.c.example.com/", yes, yes},
		{"domain:*.example.com", "https://aexample.com/", no, no},
		{"domain:example.*", "https://example.org/", yes, yes},
		{"domain:example.*", "https://example.evil.com/", no, no},
		{"domain:example.*", "https://sub.example.org/", no, yes},
		{"domain:example.*", "https://example.co.uk/", no, no},
		{"domain:*docs.example.com", "https://apidocs.example.com/", yes, yes},
		{"domain:*docs.example.com", "https://evil.docs.example.com/", no, yes},
		{"domain:a*b*c.example", "https://axbxc.example/", yes, yes},
		{"domain:a*b*c.example", "https://abcx.example/", no, no},
		{"domain:*.*.example", "https://a.example/", no, no},
		{"domain:*.*.example", "https://b.a.example/", yes, yes},
		{"domain:bücher.example", "https://xn--bcher-kva.example/", yes, yes},
		{"domain:*.bücher.example", "https://a.BÜCHER.example/", yes, yes},
		{"domain:docs.python.org", "https://dоcs.python.org/", no, no}, // a Cyrillic letter
		{"domain:[2001:DB8::0:1]", "http://[2001:db8::1]/", yes, yes},
		{"domain:127.0.0.1", "http://2130706433/", yes, yes},
		{"domain:0x7f.1", "http://127.0.0.1/", yes, yes},
		{"domain:127.0.0.*", "http://127.0.0.9:3000/", yes, yes},
		{"domain:*.0.0.1", "http://127.0.0.1/", no, no},
		{"domain:localhost", "http://localhost:3000/", yes, yes},
		{"localhost", "http://localhost:3000/", yes, yes},
		{"example.com", "https://example.com/", yes, yes},
		{"WebSearch", "https://example.com/", no, no},
		{"mcp__server", "https://example.com/", no, no},

		{"https://example.com/docs/", "https://example.com/docs/x", yes, yes},
		{"https://example.com/docs/", "https://example.com/docs", yes, yes},
		{"https://example.com/docs", "https://example.com/docs/x?y", yes, yes},
		{"https://example.com/docs/*", "https://example.com/docs/x", yes, yes},
		{"example.com/docs", "https://example.com/docs/x", yes, yes},
		{"https://example.com/docs/", "https://example.com/docs2", no, no},
		{"https://example.com/docs/", "https://example.com/Docs/x", no, no},
		{"https://example.com/docs/", "https://example.com/docs/../x", no, no},
		{"https://example.com/docs/", "https://example.com/docs/%2e%2e/x", no, no},
		{"https://example.com/docs/", "https://example.com/docs/..%2fx", no, yes},
		{"https://example.com/docs/", "https://example.com/docs/..%252fx", no, yes},
		{"https://example.com/docs/", "https://example.com/docs/..;/x", no, yes},
		{"https://example.com/docs/", "https://example.com/docs%2fx", no, yes},
		{"https://example.com/docs/", "https://example.com/x/..%2fdocs/y", no, yes},
		{"https://example.com/docs/", "https://example.com/%64ocs/x", yes, yes},
		{"https://example.com/%64ocs/", "https://example.com/docs/x", yes, yes},
		{"https://example.com/docs/", "https://example.com/%2564ocs/x", no, yes},
		{"https://example.com/docs/", "https://example.com//docs/x", no, yes},
		{"https://example.com/docs/api/", "https://example.com/docs//api/x", no, yes},
		{"https://example.com/docs/", "https://example.com/docs/a%2Fb", yes, yes},
		{"https://example.com/docs/", "https://example.com/docs%5Cx", no, yes},
		{"https://example.com/docs/", "http://example.com/docs/x", yes, yes},
		{"http://example.com/docs/", "https://example.com/docs/x", yes, yes},
		{"https://example.com/docs/", "https://example.com:8443/docs/x", no, yes},
		{"https://example.com:8443/docs/", "https://example.com:8443/docs/x", yes, yes},
		{"https://example.com:8443/docs/", "https://example.com/docs/x", no, no},
		{"https://example.com:8443/docs/", "http://example.com:8443/docs/x", no, yes},
		{"http://localhost:3000/", "http://localhost:3000/a", yes, yes},
		{"http://localhost:3000/", "https://localhost:3000/a", yes, yes}, // asked so after an upgrade
		{"http://example.com:443/", "https://example.com/a", yes, yes},
		{"https://example.com/docs/", "http://example.com:443/docs/x", no, yes},
		{"http://example.com/docs/", "http://example.com:443/docs/x", no, yes},
		{"http://example.com/docs/", "https://example.com:80/docs/x", no, yes},
		{"https://example.com/docs/", "https://sub.example.com/docs/x", no, yes},
		{"https://*.example.com/docs/", "https://sub.example.com/docs/x", yes, yes},
		{"https://*.example.com/docs/", "https://example.com/docs/x", no, no},
		{"https://example.com/", "https://example.com/anything/../x", yes, yes},
		{"https://example.com/bücher/", "https://example.com/b%c3%bccher/x", yes, yes},
	} {
		r, x := mustRule(t, c.rule), must(t, c.url)
		if got := r.Matches(x); got != c.matches {
			t.Errorf("%s matches %s: %v", c.rule, c.url, got)
		}
		if got := r.Covers(x); got != c.covers {
			t.Errorf("%s covers %s: %v", c.rule, c.url, got)
		}
		again := mustRule(t, r.String())
		if again.String() != r.String() || again.Matches(x) != c.matches || again.Covers(x) != c.covers {
			t.Errorf("%s prints as %s, which reads as %s", c.rule, r, again)
		}
		if r.Matches(Target{}) || r.Covers(Target{}) {
			t.Errorf("%s speaks about the zero Target", c.rule)
		}
	}
}

// A deny that is narrower than an allow of the same text would be a hole.
func TestCoversWhateverMatches(t *testing.T) {
	rules := []string{"WebFetch", "domain:example.com", "domain:*.example.com", "domain:example.*", "https://example.com/docs/", "https://*.example.com:8443/a", "domain:[::1]"}
	for _, row := range rows(t) {
		x, err := Parse(row.url)
		if err != nil {
			continue
		}
		for _, s := range append(rules, RuleFor(x).Text) {
			if r := mustRule(t, s); r.Matches(x) && !r.Covers(x) {
				t.Errorf("%s matches %s and does not cover it", s, x)
			}
		}
		if !mustRule(t, RuleFor(x).Text).Matches(x) {
			t.Errorf("RuleFor(%s) is %s, which does not match", x, RuleFor(x))
		}
	}
}

func TestRowsOfPermission(t *testing.T) {
	for _, r := range rows(t) {
		if r.group != "permission" {
			continue
		}
		fields := strings.Fields(r.context)
		text, isPath := strings.CutPrefix(fields[1], "path:")
		if isPath {
			text = "https://" + text + "/"
		}
		rule, x := mustRule(t, text), must(t, r.url)
		got := "ASK"
		switch {
		case fields[0] == "allow" && rule.Matches(x):
			got = "ALLOW"
		case fields[0] == "deny" && rule.Covers(x):
			got = "DENY"
		case fields[0] == "ask" && !rule.Matches(x):
			got = "ALLOW"
		}
		if got != r.verdict {
			t.Errorf("%s: %s under %q: %s, want %s", r.id, r.url, r.context, got, r.verdict)
		}
	}
}

func TestMCPRules(t *testing.T) {
	for _, c := range []struct {
		rule, server, tool string
		want               bool
	}{
		{"mcp__docs", "docs", "list", true},
		{"mcp__docs__*", "docs", "read", true},
		{"mcp__docs__read", "docs", "read", true},
		{"mcp__docs__read", "docs", "list", false},
		{"mcp__docs", "docs2", "list", false},
		{"mcp__*", "any", "list", true},
		{"mcp__My-Server.x__a__b", "My-Server.x", "a__b", true},
		{"WebFetch", "docs", "list", false},
	} {
		if got := mustRule(t, c.rule).MatchesTool(c.server, c.tool); got != c.want {
			t.Errorf("%s on %s/%s: %v", c.rule, c.server, c.tool, got)
		}
	}
}

func TestRulesThatCannotBeRead(t *testing.T) {
	for _, s := range []string{
		"", " ", "websearch", "Websearch", "Bash(ls)", "WebSearch(x)", "WebFetch()", "WebFetch(domain:)", "WebFetch(url:https://a.example/)",
		"WebFetch(domain:example.com", "WebFetch(domain:https://example.com/)", "domain:example.com/docs", "domain:example.com:443",
		"domain:2001:db8::1", "domain:[::1", "domain:a b.example", "domain:exa<mple.com", "domain:bü*.example", "domain:..", "domain:*..example",
		"https://", "https:///x", "ftp://example.com/", "https://example.com/?q", "https://example.com/#f", "https://u@example.com/",
		"https://example.com/a*b/", "https://example.com/..%2fx/", "mcp__", "mcp____x", "mcp__a(b)", "mcp__a__", "domain:256.1.1.1",
	} {
		r, err := ParseRule(s)
		if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "domain:*.example.com") {
			t.Errorf("ParseRule(%q) = %+v, %v; want invalid and the forms", s, r, err)
		}
	}
}

func TestFilters(t *testing.T) {
	urls := []string{"https://docs.test/guide", "https://api.docs.test/v1", "https://notdocs.test/guide", "https://docs.test.evil.test/guide", "https://www.lib.test/x", "https://pkg.test:8443/y"}
	for _, c := range []struct {
		filter, normal string
		want           string // indices of urls
	}{
		{"docs.test", "docs.test", "01"},
		{"https://docs.test/", "docs.test", "01"},
		{"http://docs.test", "docs.test", "01"},
		{"*.docs.test", "docs.test", "01"},
		{".docs.test", "docs.test", "01"},
		{"DOCS.test.", "docs.test", "01"},
		{"docs.test/", "docs.test", "01"},
		{"www.docs.test", "docs.test", "01"},
		{"lib.test", "lib.test", "4"},
		{"https://WWW.lib.test/", "lib.test", "4"},
		{"docs.test/guide", "docs.test/guide", "0"},
		{"docs.test/gui", "docs.test/gui", ""},
		{"docs.test/guide/", "docs.test/guide", "0"},
		{"docs.test/%67uide", "docs.test/guide", "0"},
		{"pkg.test", "pkg.test", "5"},
		{"pkg.test:8443", "pkg.test:8443", "5"},
		{"pkg.test:443", "pkg.test:443", ""},
		{"test", "test", "012345"},
	} {
		f, err := ParseFilter(c.filter)
		if err != nil || f.String() != c.normal {
			t.Errorf("ParseFilter(%q) = %q, %v; want %q", c.filter, f, err, c.normal)
			continue
		}
		got := ""
		for i, raw := range urls {
			if f.Matches(must(t, raw)) {
				got += string(rune('0' + i))
			}
		}
		if got != c.want {
			t.Errorf("%q matches %q, want %q", c.filter, got, c.want)
		}
	}
	for _, s := range []string{"d*.test", "*", "a.*.test", "www*.com", "*.*.docs.test", "", "docs.test/a*b", "ftp://docs.test", "docs.test?x", "a b.test"} {
		if f, err := ParseFilter(s); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), show(s)) {
			t.Errorf("ParseFilter(%q) = %v, %v; want invalid that names it", s, f, err)
		}
	}
}
