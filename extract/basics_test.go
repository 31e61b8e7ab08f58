// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTokens(t *testing.T) {
	tests := []struct {
		text string
		want int
	}{
		{"", 0}, {"abc", 0}, {"four", 1}, {"twelve chars", 3}, {"你好", 2}, {"你好 hello", 3}, {"カタカナ", 4}, {"한국어", 3}, {"éàüß", 1},
	}
	for _, tt := range tests {
		if got := Tokens(tt.text); got != tt.want {
			t.Errorf("Tokens(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

func FuzzCutTokens(f *testing.F) {
	f.Add("some words 和中文", 3)
	f.Fuzz(func(t *testing.T, s string, budget int) {
		got := cutTokens(s, budget)
		if !strings.HasPrefix(s, got) || budget >= 0 && Tokens(got) > budget {
			t.Errorf("cutTokens(%q, %d) = %q", s, budget, got)
		}
	})
}

func TestCost(t *testing.T) {
	p := BuiltinPrices()
	tests := []struct {
		model string
		usage Usage
		want  float64
	}{
		{"claude-haiku-4-5", Usage{In: 29_439, Out: 710}, 0.0330},
		{"claude-haiku-4-5-20251001", Usage{In: 29_439, Out: 710}, 0.0330},
		{"claude-opus-5", Usage{In: 29_439}, 0.1472},
		{"anthropic/claude-opus-5", Usage{In: 29_439}, 0.1472},
		{"claude-haiku-4-5", Usage{In: 1_000_000, Cached: 1_000_000}, 0.1},
		{"claude-sonnet-5", Usage{Out: 1_000_000}, 10},
	}
	for _, tt := range tests {
		got, ok := p.Cost(tt.model, tt.usage)
		if !ok || math.Abs(got-tt.want) > 0.00005 {
			t.Errorf("%s %+v: %.5f, %t; want %.4f", tt.model, tt.usage, got, ok, tt.want)
		}
	}
	if _, ok := p.Cost("a-model-of-my-own", Usage{In: 1}); ok {
		t.Error("an unknown model has a price")
	}
	longest := Prices{"m": {In: 1}, "m-2": {In: 2}}
	if got, _ := longest.Cost("m-2-mini", Usage{In: 1_000_000}); got != 2 {
		t.Errorf("the longest match does not win: %v", got)
	}
}

func TestReplyKey(t *testing.T) {
	base := Ask{Prompt: "p", Budget: 100}
	keys := map[string]string{"base": ReplyKey(base, "h", "m"), "doc": ReplyKey(base, "h2", "m"), "model": ReplyKey(base, "h", "m2")}
	for name, change := range map[string]func(*Ask){
		"prompt": func(a *Ask) { a.Prompt = "q" }, "budget": func(a *Ask) { a.Budget = 101 }, "trust": func(a *Ask) { a.Trusted = true },
		"section": func(a *Ask) { a.Section = "s" }, "quote": func(a *Ask) { a.MaxQuote = 10 }, "passages": func(a *Ask) { a.PassagesOnly = true },
	} {
		a := base
		change(&a)
		keys[name] = ReplyKey(a, "h", "m")
	}
	seen := map[string]string{}
	for name, k := range keys {
		if other, twice := seen[k]; twice {
			t.Errorf("%s and %s have one key", name, other)
		}
		seen[k] = name
	}
	if ReplyKey(base, "h", "m") != keys["base"] {
		t.Error("the key is not stable")
	}
}

func TestStemsThatMeet(t *testing.T) {
	for _, group := range [][]string{
		{"compress", "compressed", "compression", "compressing"}, {"cache", "caches", "cached", "caching"}, {"configure", "configured", "configuration"},
		{"omit", "omits", "omitted", "omitting"}, {"query", "queries"}, {"install", "installed", "installation", "installing"}, {"permission", "permissions"},
		{"file", "files"}, {"class", "classes"}, {"initialize", "initialise", "initialization"}, {"depend", "depends", "depended"}, {"run", "running", "runs"},
	} {
		for _, w := range group[1:] {
			if stem(w) != stem(group[0]) {
				t.Errorf("%s → %s, but %s → %s", w, stem(w), group[0], stem(group[0]))
			}
		}
	}
	for _, pair := range [][2]string{{"file", "fill"}, {"user", "use"}, {"string", "stream"}, {"x86", "x8"}} {
		if stem(pair[0]) == stem(pair[1]) {
			t.Errorf("%s and %s have one stem %s", pair[0], pair[1], stem(pair[0]))
		}
	}
}

func TestForms(t *testing.T) {
	tests := []struct {
		word string
		want []string
	}{
		{"core.untrackedCache", []string{"coreuntrackedcach", "cor", "untrack", "cach"}},
		{"keep-alive", []string{"keepal", "keep", "aliv"}},
		{"GFP_ATOMIC", []string{"gfpatomic", "gfp", "atomic"}},
		{"HTTPServer", []string{"httpserv", "http", "serv"}},
		{"0xfffe", []string{"0xfffe"}},
		{"don't", []string{"don"}},
	}
	for _, tt := range tests {
		got := forms(tt.word, false)
		if got[0] != tt.want[0] && tt.word != "keep-alive" || !slices.Equal(got[1:], tt.want[1:]) {
			t.Errorf("forms(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
	if a, b := forms("keep-alive", false)[0], forms("keepAlive", false)[0]; a != b || a != stem("keepalive") {
		t.Errorf("one name, written in three ways, has terms %q and %q", a, b)
	}
	if got := forms("数据库", true); !slices.Equal(got, []string{"数据", "据库"}) {
		t.Errorf("pairs: %q", got)
	}
	if got := forms("字", true); !slices.Equal(got, []string{"字"}) {
		t.Errorf("single: %q", got)
	}
}

func FuzzWords(f *testing.F) {
	f.Add("core.untrackedCache — keep-alive's 数据库 \\_\\_init\\_\\_ ’")
	f.Fuzz(func(t *testing.T, s string) {
		eachWord(s, func(w string, wide bool) {
			if w == "" || !strings.Contains(s, w) {
				t.Fatalf("word %q of %q", w, s)
			}
			for _, form := range forms(w, wide) {
				if utf8.ValidString(s) && !utf8.ValidString(form) {
					t.Fatalf("form %q of %q", form, w)
				}
			}
		})
	})
}

func TestThesaurusLists(t *testing.T) {
	w := wordLists()
	if len(w.fellows) < 300 || len(w.foreign) < 300 || len(w.phrases) < 30 {
		t.Fatalf("the lists are too short: %d, %d, %d", len(w.fellows), len(w.foreign), len(w.phrases))
	}
	for term, fs := range w.fellows {
		if slices.Contains(fs, term) {
			t.Errorf("%s is its own fellow", term)
		}
	}
}
