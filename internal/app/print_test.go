// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"strings"
	"testing"
)

func TestPrintShowsNoSecret(t *testing.T) {
	n := newNook(t)
	n.user(`
network: { proxy: "http://me:swordfish@p.test:3128" }
model: { baseURL: "https://me:swordfish@m.test/v1" }
search:
  searxng: { url: "https://me:swordfish@s.test", user: me, password: swordfish }
  custom: [ { name: mine, url: "https://s.test/?q={query}", headers: { Authorization: swordfish } } ]
cache: { store: "redis://:swordfish@r.test" }
mcp: { servers: { a: { command: x, env: { KEY: swordfish } }, b: { url: "https://me:swordfish@b.test", headers: { X: swordfish } } } }
serve: { token: swordfish }
preflight: { url: "https://me:swordfish@f.test" }
`)
	for _, v := range strings.Fields("ANTHROPIC_API_KEY OPENAI_API_KEY BRAVE_API_KEY TAVILY_API_KEY EXA_API_KEY") {
		n.Env = append(n.Env, v+"=swordfish")
	}
	n.Env = append(n.Env, "https_proxy=http://me:swordfish@p.test", "SEARXNG_URL=https://me:swordfish@x.test")
	settings := n.load().Print()
	text := fmt.Sprint(settings)
	if strings.Contains(text, "swordfish") {
		t.Errorf("a secret is printed: %s", text)
	}
	for _, want := range []string{"HTTPS_PROXY", "BRAVE_API_KEY", "s.test", "Authorization", `b: {url: "https://me:xxxxx@b.test"`[3:], "redis://:xxxxx@r.test"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
}

func TestPrintNamesTheOrigin(t *testing.T) {
	n := newNook(t)
	n.Env = append(n.Env, "SEARXNG_URL=https://x.test", "DIPPER_PROVENANCE=ask")
	got := map[string]string{}
	for _, s := range n.load().Print() {
		if _, twice := got[s.Key]; twice || s.Origin == "" {
			t.Errorf("%s is listed twice or without an origin", s.Key)
		}
		got[s.Key] = s.Value + " <- " + s.Origin
	}
	for key, want := range map[string]string{
		"search.searxng.url": "https://x.test <- SEARXNG_URL",
		"provenance":         "ask <- environment",
		"network.ports":      "[80, 443] <- default",
		"timeouts.total":     "1m <- default",
		"cache.disk":         "2GiB <- default",
		"mcp.config":         `[".mcp.json"] <- default`,
		"serve.token":        " <- default",
	} {
		if got[key] != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
}

func TestStandardVariables(t *testing.T) {
	n := newNook(t)
	n.Env = append(n.Env, "https_proxy=lower", "HTTPS_PROXY=upper", "http_proxy=plain", "no_proxy=a,b", "ALL_PROXY=all", "NO_COLOR=", "SSL_CERT_FILE=/c.pem", "OPENAI_API_KEY=first", "OPENAI_API_KEY=second")
	s := n.load().Standard
	want := Standard{HTTPSProxy: "upper", HTTPProxy: "plain", NoProxy: "a,b", CertFile: "/c.pem", OpenAIKey: "first"}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
	n.Env = append([]string{"NO_COLOR=1"}, n.Env...)
	if !n.load().Standard.NoColor {
		t.Error("NO_COLOR=1 is not seen")
	}
}
