// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/fault"
)

func names(servers []Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Name+"<"+filepath.Base(s.From))
	}
	return strings.Join(all, " ")
}

func TestServers(t *testing.T) {
	const file = `{"mcpServers":{"alpha":{"command":"a","disabled":true},"beta":{"type":"streamable-http","url":"http://${HOST:-b.test}/mcp"},"me":{"command":"/usr/bin/dipper","args":["mcp"]}}, "other": 1}`
	for _, tc := range []struct {
		name       string
		set        func(n *nook)
		want, note string
	}{
		{"none", func(n *nook) {}, "", ""},
		{"a project's are not started", func(n *nook) { n.write(n.Dir+"/.mcp.json", file) }, "", "not trusted"},
		{"not even broken ones", func(n *nook) { n.write(n.Dir+"/.mcp.json", "{") }, "", "not trusted"},
		{"a trusted project's", func(n *nook) { n.write(n.Dir+"/.mcp.json", file); n.trust() }, "alpha<.mcp.json beta<.mcp.json", "me is Dipper itself"},
		{"the user's own file", func(n *nook) {
			n.write(n.home+"/s.json", file)
			n.user("mcp: { config: [" + n.home + "/s.json] }")
		}, "alpha<s.json beta<s.json", "me is Dipper itself"},
		{"from home", func(n *nook) { n.write(n.home+"/s.json", file); n.user("mcp: { config: [~/s.json] }") }, "alpha<s.json beta<s.json", "me is"},
		{"a relative name of the user's is the project's", func(n *nook) { n.write(n.Dir+"/t/s.json", file); n.user("mcp: { config: [t/s.json] }") }, "", "t/s.json are not started"},
		{"in the configuration", func(n *nook) {
			n.write(n.home+"/s.json", file)
			n.user("mcp: { config: [~/s.json], servers: { beta: { command: b }, c: { url: 'http://c.test' } } }")
		}, "alpha<s.json beta<mcp.servers c<mcp.servers", "me is"},
		{"below another Dipper", func(n *nook) {
			n.user("mcp: { servers: { beta: { command: b } } }")
			n.Env = append(n.Env, "DIPPER_MCP_DEPTH=1")
		}, "", "started by another"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNook(t)
			tc.set(n)
			servers, notes, err := n.load().Servers()
			if err != nil || names(servers) != tc.want || !strings.Contains(strings.Join(notes, " "), tc.note) || (tc.note == "") != (len(notes) == 0) {
				t.Errorf("got %q, notes %q, %v; want %q, %q", names(servers), notes, err, tc.want, tc.note)
			}
		})
	}
}

func TestServerFilesThatFail(t *testing.T) {
	for text, want := range map[string]string{
		"":  "does not exist",
		"{": "not in the mcpServers format",
		`{"mcpServers":{"a":{"type":"sse","url":"http://a.test"}}}`:                "type is not known",
		`{"mcpServers":{"a":{"url":"file:///etc"}}}`:                               "a URL like",
		`{"mcpServers":{"a":{"type":"http","command":"x","url":"http://a.test"}}}`: "exclude each other",
		`{"mcpServers":{"a":{"type":"http","command":"x"}}}`:                       "url is missing",
		`{"mcpServers":{"a":{}}}`:                                                  "command is missing",
		`{"mcpServers":[]}`:                                                        "not in the mcpServers format",
	} {
		n := newNook(t)
		n.user("mcp: { config: [~/s.json] }")
		if text != "" {
			n.write(n.home+"/s.json", text)
		}
		if _, _, err := n.load().Servers(); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "s.json") {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestExpand(t *testing.T) {
	n := newNook(t)
	n.Env = append(n.Env, "A=one", "EMPTY=")
	l := n.load()
	for text, want := range map[string]string{
		"plain":            "plain",
		"${A}-${A}":        "one-one",
		"${B:-two}":        "two",
		"${B:-}":           "",
		"${EMPTY:-three}":  "three",
		"${A:-two}":        "one",
		"$A ${} ${1} ${A":  "$A ${} ${1} ${A",
		"${B:-${A}}":       "${A}",
		"${B:-http://x/y}": "http://x/y",
	} {
		if got, err := l.Expand(text); err != nil || got != want {
			t.Errorf("%q gives %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := l.Expand("${A} ${MISSING}"); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "MISSING") {
		t.Errorf("got %v", err)
	}
}

func TestResolveModel(t *testing.T) {
	for _, tc := range []struct {
		name, user string
		env        string
		want, main string
	}{
		{"nothing", "", "", "none", "none"},
		{"both keys", "", "ANTHROPIC_API_KEY=ka OPENAI_API_KEY=ko", "anthropic   ka inferred", "anthropic   ka inferred"},
		{"one key", "", "OPENAI_API_KEY=ko", "openai   ko inferred", "openai   ko inferred"},
		{"an address alone", "", "OPENAI_BASE_URL=http://l.test/v1", "openai  http://l.test/v1  inferred", "openai  http://l.test/v1  inferred"},
		{"a key before a bare address", "", "ANTHROPIC_BASE_URL=http://a.test OPENAI_API_KEY=ko", "openai   ko inferred", "openai   ko inferred"},
		{"none", "model: { provider: none }", "OPENAI_API_KEY=ko", "none", "none"},
		{"configured", "model: { provider: openai, name: m, baseURL: 'http://o.test' }", "ANTHROPIC_API_KEY=ka OPENAI_API_KEY=ko OPENAI_BASE_URL=http://e.test", "openai m http://o.test ko", "openai  http://o.test ko"},
		{"configured without a key", "model: { provider: anthropic }", "OPENAI_API_KEY=ko", "anthropic   ", "anthropic   "},
		{"an own server", "model: { baseURL: 'http://o.test' }", "", "openai  http://o.test ", "openai  http://o.test "},
		{"a name alone", "model: { name: m }", "ANTHROPIC_API_KEY=ka", "anthropic m  ka", "anthropic   ka"},
		{"another main model", "model: { provider: openai, baseURL: 'http://o.test', main: { provider: anthropic, name: big } }", "ANTHROPIC_API_KEY=ka OPENAI_API_KEY=ko", "openai  http://o.test ko", "anthropic big  ka"},
		{"main without helper", "model: { provider: none, main: { provider: openai } }", "OPENAI_API_KEY=ko", "none", "openai   ko"},
		{"no main", "model: { main: { provider: none } }", "OPENAI_API_KEY=ko", "openai   ko inferred", "none"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNook(t)
			n.user(tc.user)
			n.Env = append(n.Env, strings.Fields(tc.env)...)
			l := n.load()
			helper, err := l.ResolveModel()
			if got := words(helper); err != nil || got != tc.want {
				t.Errorf("helper is %q, %v; want %q", got, err, tc.want)
			}
			main, err := l.ResolveMain()
			if got := words(main); err != nil || got != tc.main {
				t.Errorf("main is %q, %v; want %q", got, err, tc.main)
			}
		})
	}
}

func words(c *ModelChoice) string {
	if c == nil {
		return "none"
	}
	s := strings.Join([]string{c.Provider, c.Name, c.BaseURL, c.Key}, " ")
	if c.Inferred {
		s += " inferred"
	}
	return s
}
