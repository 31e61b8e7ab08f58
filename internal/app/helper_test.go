// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/webtest"
)

// TestHelper: which model a configuration leads to.
func TestHelper(t *testing.T) {
	tests := []struct {
		name, user string
		env        []string
		want       string // provider, name, inferred, local
	}{
		{"none", "", nil, "none"},
		{"off", "model: { provider: none }", []string{"OPENAI_API_KEY=k"}, "none"},
		{"a key", "", []string{"ANTHROPIC_API_KEY=k"}, "anthropic claude-haiku-4-5 true false"},
		{"a provider and its key", "model: { provider: openai, name: little }", []string{"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k"}, "openai little false false"},
		{"a server of one's own", "", []string{"OPENAI_BASE_URL=http://127.0.0.1:9/v1"}, "openai default@127.0.0.1:9 true true"},
		{"the same, configured", "model: { baseURL: 'http://[::1]:9', name: little }", nil, "openai little false true"},
		{"in an allowed range", "model: { baseURL: 'http://100.64.1.2:9', name: little }\nnetwork: { allow: ['100.64.0.0/10'] }", nil, "openai little false true"},
		{"in another", "model: { baseURL: 'http://100.64.1.2:9', name: little }", nil, "openai little false false"},
		{"a name", "model: { baseURL: 'https://models.example', name: little }", nil, "openai little false false"},
		{"a provider without a key", "model: { provider: anthropic }", nil, "anthropic claude-haiku-4-5 false false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNook(t)
			n.Env = append(n.Env, tt.env...)
			n.user(tt.user + "\ncache: { store: mem }\n")
			a := n.open()
			h, err := a.helper()
			if err != nil {
				t.Fatal(err)
			}
			got := "none"
			if h != nil {
				got = fmt.Sprint(a.Model.Provider, " ", h.Model.Name(), " ", h.Inferred, " ", h.Local)
			}
			if got != tt.want || (a.Helper() == nil) != (h == nil) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestKeyIsMissing: only who wants an answer hears of it.
func TestKeyIsMissing(t *testing.T) {
	for provider, variable := range map[string]string{"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"} {
		t.Run(provider, func(t *testing.T) {
			w := webtest.NewWeb(t)
			page(t, w, "http://docs.example.org/lamps", article)
			n := newNook(t).reach(w)
			n.user("model: { provider: " + provider + ", privatePages: allow }\n")
			a := n.open()
			const url = "http://docs.example.org/lamps"
			if ans := fetch(t, a, dipper.Request{URL: url}); ans.Mode != dipper.ModeMarkdown {
				t.Errorf("mode %s", ans.Mode)
			}
			if ans := fetch(t, a, dipper.Request{URL: url, Prompt: "How long?", Mode: dipper.ModeExtract}); ans.Path != "passages" {
				t.Errorf("path %s", ans.Path)
			}
			f := wantFault(t, a, dipper.Request{URL: url, Prompt: "How long?"}, "invalid")
			if !strings.Contains(f.Detail, variable) || !strings.Contains(f.Say(), "model.provider: none") {
				t.Errorf("%q, %q", f.Detail, f.Say())
			}
		})
	}
}

// TestPrivatePages: a page from a private range goes to a model in one, and to
// another only where that was allowed.
func TestPrivatePages(t *testing.T) {
	w := webtest.NewWeb(t)
	page(t, w, "http://docs.example.org/lamps", article)
	model := newService(t, func(*http.Request) string { return chat("Nine hours.") })
	elsewhere := strings.Replace(model.URL, "127.0.0.1", "models.example", 1) // over the proxy, which is the model itself
	tests := []struct{ name, base, pages, path string }{
		{"a local model", model.URL, "local", "helper"},
		{"another", elsewhere, "local", "passages"},
		{"another, allowed", elsewhere, "allow", "helper"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNook(t).reach(w)
			n.Env = append(n.Env, "HTTP_PROXY="+model.URL, "NO_PROXY=docs.example.org")
			n.user(fmt.Sprintf("model: { baseURL: %q, name: m, privatePages: %s }\n", tt.base, tt.pages))
			model.requests()
			ans := fetch(t, n.open(), dipper.Request{URL: "http://docs.example.org/lamps", Prompt: "How long does the lamp burn?"})
			if asked := model.requests(); ans.Path != tt.path || (len(asked) > 0) != (tt.path == "helper") {
				t.Errorf("path %s, the model was asked %v", ans.Path, asked)
			}
		})
	}
}

func TestPrices(t *testing.T) {
	n := newNook(t)
	n.user("prices:\n  little: { in: 1, out: 2 }\n  claude-haiku-4-5: { in: 7, out: 8, cached: 0.5 }\ncache: { store: mem }\n")
	p := n.open().prices()
	if p["little"] != (extract.Price{In: 1, Out: 2}) || p["claude-haiku-4-5"] != (extract.Price{In: 7, Out: 8, Cached: 0.5}) || len(p) != len(extract.BuiltinPrices())+1 {
		t.Errorf("got %v", p)
	}
}

func TestUnknownProvider(t *testing.T) {
	a := newNook(t).open()
	if _, err := a.openModel(ModelChoice{Provider: "other"}); !errors.Is(err, fault.Invalid) {
		t.Errorf("got %v", err)
	}
	for _, provider := range []string{"anthropic", "openai"} {
		if _, err := a.openModel(ModelChoice{Provider: provider, BaseURL: "ftp://x", Key: "k"}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v", provider, err)
		}
	}
}
