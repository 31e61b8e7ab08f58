// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dipper-web/dipper/check"
)

func TestKeyIsOneForOneAddress(t *testing.T) {
	const seen = "https://docs.example/guide?page=2"
	for _, c := range []struct {
		url  string
		same bool
	}{
		{"https://docs.example/guide?page=2", true},
		{"https://docs.example/guide?page=2#part", true},
		{"HTTPS://DOCS.EXAMPLE/guide?page=2", true},
		{"https://docs.example./guide?page=2", true},
		{"http://docs.example/guide?page=2", true},
		{"https://docs.example:443/guide?page=2", true},
		{"http://docs.example:80/guide?page=2", true},
		{"https://docs.example/a/../guide?page=2", true},
		{"https://docs.example/%67uide?page=2", true},
		{"https://docs.example/guide?page=2&d=c2VjcmV0", false},
		{"https://docs.example/guide/c2VjcmV0", false},
		{"https://docs.example/GUIDE?page=2", false},
		{"https://docs.example/guide/?page=2", false},
		{"https://docs.example/guide", false},
		{"https://docs.example:8443/guide?page=2", false},
		{"https://docs.example.evil.example/guide?page=2", false},
		{"https://evil.example/?u=https://docs.example/guide?page=2", false},
		{"https://www.docs.example/guide?page=2", false},
	} {
		l := NewLedger()
		if err := l.Add(t.Context(), FromPage, Key(target(t, seen))); err != nil {
			t.Fatal(err)
		}
		if has, err := l.Has(t.Context(), Key(target(t, c.url))); err != nil || has != c.same {
			t.Errorf("%s: seen %v, want %v (%v)", c.url, has, c.same, err)
		}
	}
}

// The stories of one session: what it showed, and what a model asks for then.
func TestProvenanceOfASession(t *testing.T) {
	for _, c := range []struct {
		name    string
		origin  string
		shown   string // text that was shown, or URLs
		ask     string
		allowed bool
	}{
		{"nothing shown", FromPage, "", "https://evil.example/", false},
		{"start of a shown word", FromPage, "see https://a.exam", "https://a.example/", false},
		{"end of a sentence", FromPage, "(see https://a.example/x).", "https://a.example/x", true},
		{"Markdown link with a title", FromPage, `[t](https://a.example/x "title")`, "https://a.example/x", true},
		{"Markdown reference", FromPage, "[t][1]\n\n[1]: https://a.example/x", "https://a.example/x", true},
		{"www host without a scheme", FromPage, "look at www.a.example/x today", "https://www.a.example/x", true},
		{"image", FromPage, "![pier](https://evil.example/p.png)", "https://evil.example/p.png", false},
		{"search result", FromSearch, "https://r.example/1", "https://r.example/1", true},
		{"named by the user", FromUser, "please read https://u.example/1", "https://u.example/1", true},
		{"redirect that was reported", FromRedirect, "https://n.example/2", "https://n.example/2", true},
		{"template", FromPage, "https://evil.example/?q={q}", "https://evil.example/?q=secret", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := NewLedger()
			for _, m := range Mentioned(c.shown) {
				if err := seen.Add(t.Context(), c.origin, Key(m)); err != nil {
					t.Fatal(err)
				}
			}
			b := book(t, Options{Provenance: "ask"})
			for range 2 { // a refused URL does not count as shown the second time
				_, err := b.Judge(t.Context(), Request{Target: target(t, c.ask), By: Agent, Seen: seen})
				if (err == nil) != c.allowed || err != nil && name(err) != "unasked/provenance" {
					t.Errorf("%v, allowed should be %v", err, c.allowed)
				}
			}
		})
	}
}

func TestLedgerForgetsTheOldestFirst(t *testing.T) {
	l := newLedger(3)
	for i := range 5 {
		if err := l.Add(t.Context(), FromPage, fmt.Sprint(i), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		if has, _ := l.Has(t.Context(), fmt.Sprint(i)); has != (i >= 2) {
			t.Errorf("%d: seen %v", i, has)
		}
	}
	if len(l.has) != 3 || len(l.order) != 3 {
		t.Errorf("%d kept, %d in order", len(l.has), len(l.order))
	}
}

func TestLedgerServesManyAtOnce(t *testing.T) {
	l := NewLedger()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 200 {
				key := fmt.Sprint(i, n)
				_ = l.Add(t.Context(), FromPage, key)
				if has, _ := l.Has(t.Context(), key); !has {
					t.Errorf("%s is lost", key)
				}
			}
		})
	}
	wg.Wait()
}

func TestMentioned(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"no address", ""},
		{"https://a.example", "https://a.example/"},
		{"https://a.example/x, https://a.example/y; and https://a.example/x again", "https://a.example/x https://a.example/y"},
		{"<https://a.example/x>", "https://a.example/x"},
		{"“https://a.example/x”", "https://a.example/x"},
		{"请看https://a.example/x。谢谢", "https://a.example/x"},
		{"（https://a.example/x）", "https://a.example/x"},
		{"**https://a.example/x**", "https://a.example/x"},
		{"`https://a.example/x`", "https://a.example/x"},
		{"https://a.example/wiki/Go_(game)", "https://a.example/wiki/Go_(game)"},
		{"(https://a.example/wiki/Go_(game))", "https://a.example/wiki/Go_(game)"},
		{"[a](https://a.example/x)[b](https://a.example/y)", "https://a.example/x https://a.example/y"},
		{"[![alt](https://a.example/p.png)](https://a.example/x)", "https://a.example/x"},
		{"![a [b] c](<https://a.example/p.png>)", ""},
		{"[b](<https://a.example/x>)", "https://a.example/x"},
		{"WWW.A.EXAMPLE/x", "https://www.a.example/x"},
		{"HTTP://a.example/x", "http://a.example/x"},
		{"xhttps://a.example/x", ""},
		{"ftp://www.a.example/", ""},
		{"user@www.a.example", ""},
		{"https://user:pw@a.example/", ""},
		{"https://", ""},
		{"http", ""},
		{"https://a.example/?u=https://b.example/", "https://a.example/?u=https://b.example/"},
		{"](https://a.example/x)", ""}, // no link: what stood before it is not known
	} {
		var got []string
		for _, m := range Mentioned(c.text) {
			got = append(got, m.String())
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q: %q, want %q", c.text, s, c.want)
		}
	}
}

func TestMentionedIsBounded(t *testing.T) {
	var many strings.Builder
	for i := range maxMentions + 100 {
		fmt.Fprintf(&many, "https://a.example/%d ", i)
	}
	if got := Mentioned(many.String()); len(got) != maxMentions {
		t.Errorf("%d mentions", len(got))
	}
	for _, piece := range []string{"](http://a", "http://a http://", "www.", "https://x(", "h", "[", "!["} {
		text := strings.Repeat(piece, 1_000_000/len(piece))
		start := time.Now()
		Mentioned(text)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%q a hundred thousand times took %v", piece, took)
		}
	}
}

func FuzzMentioned(f *testing.F) {
	f.Add("see https://a.example/x), www.b.example and ![p](https://c.example/p)")
	f.Fuzz(func(t *testing.T, text string) {
		got := Mentioned(text)
		if slices.ContainsFunc(got, check.Target.IsZero) {
			t.Error("a mention is no target")
		}
	})
}
