// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dipper-web/dipper/fault"
)

func TestAlwaysIsRememberedForTheHost(t *testing.T) {
	p := &person{choice: Always}
	mem := NewMemory()
	b := book(t, Options{Default: "ask", Asker: p, Memory: mem})
	for _, u := range []string{page, "https://docs.example.org/other", "https://docs.example.org:8443/"} {
		if _, err := b.Judge(t.Context(), Request{Target: target(t, u), By: Person}); err != nil {
			t.Fatalf("%s: %v", u, err)
		}
	}
	if len(p.asked) != 1 || p.asked[0].Always != "domain:docs.example.org" || p.asked[0].URL != page || p.asked[0].Reason == "" {
		t.Errorf("questions: %+v", p.asked)
	}
	kept, err := mem.Recall(t.Context())
	if err != nil || len(kept) != 1 || kept[0].Kind != Allow || kept[0].Rule != "domain:docs.example.org" || kept[0].At.IsZero() {
		t.Errorf("remembered: %+v, %v", kept, err)
	}
	// Another Book over the same memory, as the next process has.
	next := book(t, Options{Default: "ask", Memory: mem})
	if v, err := next.Judge(t.Context(), Request{Target: target(t, page), By: Agent}); err != nil || v.From != "remembered" {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := next.Judge(t.Context(), Request{Target: target(t, "https://www.docs.example.org/"), By: Agent}); name(err) != "unasked/rule" {
		t.Errorf("a name below the remembered host: %v", err)
	}
	strict := book(t, Options{Deny: sourced(t, "domain:example.org"), Memory: mem})
	if _, err := strict.Judge(t.Context(), Request{Target: target(t, page), By: Person}); name(err) != "denied/rule" {
		t.Errorf("a deny rule over a remembered allow: %v", err)
	}
}

func TestAlwaysForAnAddress(t *testing.T) {
	for url, want := range map[string]string{"http://[2001:db8::1]:8080/": "domain:[2001:db8::1]", "http://127.0.0.1/": "domain:127.0.0.1"} {
		p := &person{choice: Always}
		b := book(t, Options{Default: "ask", Asker: p})
		for range 2 {
			if _, err := b.Judge(t.Context(), Request{Target: target(t, url), By: Person}); err != nil {
				t.Fatal(err)
			}
		}
		if len(p.asked) != 1 || p.asked[0].Always != want {
			t.Errorf("%s: %+v", url, p.asked)
		}
	}
}

// A lasting yes is not offered where no allow rule could give it.
func TestAlwaysIsNotOfferedInVain(t *testing.T) {
	for _, o := range []Options{{Ask: sourced(t, "WebFetch")}, {Provenance: "ask"}} {
		p := &person{choice: Always}
		o.Asker, o.Memory = p, NewMemory()
		if _, err := book(t, o).Judge(t.Context(), Request{Target: target(t, page), By: Agent}); err != nil {
			t.Fatal(err)
		}
		kept, _ := o.Memory.Recall(t.Context())
		if len(p.asked) != 1 || p.asked[0].Always != "" || len(kept) != 0 {
			t.Errorf("asked %+v, kept %+v", p.asked, kept)
		}
	}
}

func TestRememberedRulesCount(t *testing.T) {
	for _, c := range []struct {
		name string
		kept Remembered
		o    Options
		want string
	}{
		{"deny covers names below", Remembered{Kind: Deny, Rule: "domain:example.org"}, Options{Allow: sourced(t, "WebFetch")}, "denied/rule"},
		{"ask", Remembered{Kind: Ask, Rule: "domain:docs.example.org"}, Options{Allow: sourced(t, "WebFetch")}, "unasked/rule"},
		{"allow", Remembered{Kind: Allow, Rule: "domain:docs.example.org"}, Options{Default: "deny"}, ""},
		{"a kind that is none", Remembered{Kind: "perhaps", Rule: "domain:docs.example.org"}, Options{}, "internal"},
		{"a rule that is none", Remembered{Kind: Deny, Rule: "no rule ("}, Options{}, "internal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Memory = NewMemory()
			if err := c.o.Memory.Remember(t.Context(), c.kept); err != nil {
				t.Fatal(err)
			}
			if _, err := book(t, c.o).Judge(t.Context(), Request{Target: target(t, page), By: Person}); name(err) != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// broke is a Memory and a Seen on a disk that fails, at reading or at writing.
type broke struct{ Memory }

var errDisk = errors.New("the disk is gone")

func (broke) Recall(context.Context) ([]Remembered, error) { return nil, errDisk }
func (broke) Has(context.Context, string) (bool, error)    { return false, errDisk }
func (broke) Add(context.Context, string, ...string) error { return errDisk }

type readOnly struct{ Memory }

func (readOnly) Remember(context.Context, Remembered) error { return errDisk }

func TestBrokenStoreIsNeverAPass(t *testing.T) {
	yes := &person{choice: Always}
	for _, c := range []struct {
		name string
		o    Options
		r    Request
	}{
		{"memory cannot be read", Options{Memory: broke{}, Allow: sourced(t, "WebFetch")}, Request{By: Person, Yes: true}},
		{"answer cannot be remembered", Options{Memory: readOnly{NewMemory()}, Default: "ask", Asker: yes}, Request{By: Person}},
		{"ledger cannot be read", Options{}, Request{By: Agent, Seen: broke{}}},
		{"ledger cannot be written", Options{}, Request{By: Person, Seen: broke{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.r.Target = target(t, page)
			_, err := book(t, c.o).Judge(t.Context(), c.r)
			if !errors.Is(err, fault.Internal) || !errors.Is(err, errDisk) {
				t.Errorf("%v", err)
			}
		})
	}
	b := book(t, Options{Memory: broke{}})
	if _, err := b.Explain(t.Context(), target(t, page), Person); !errors.Is(err, fault.Internal) {
		t.Errorf("Explain: %v", err)
	}
	if _, err := b.Rules(t.Context()); !errors.Is(err, fault.Internal) {
		t.Errorf("Rules: %v", err)
	}
	if _, err := b.JudgeSearch(t.Context(), Person, nil, true); !errors.Is(err, fault.Internal) {
		t.Errorf("JudgeSearch: %v", err)
	}
	if _, err := b.JudgeTool(t.Context(), "server", "tool", true); !errors.Is(err, fault.Internal) {
		t.Errorf("JudgeTool: %v", err)
	}
}

func TestAQuestionThatCannotBePutIsNoPass(t *testing.T) {
	// Even where nobody to ask would have been a pass.
	b := book(t, Options{Asker: &person{err: errors.New("the client hung up"), choice: Once}})
	if _, err := b.Judge(t.Context(), Request{Target: target(t, page), By: Agent}); name(err) != "unasked/rule" {
		t.Errorf("%v", err)
	}
}

func TestPersonsYesMakesAURLSeen(t *testing.T) {
	seen := NewLedger()
	for _, c := range []struct {
		url string
		by  By
		ask Choice
		has bool
	}{
		{"https://a.example/typed", Person, No, true},
		{"https://a.example/agreed", Agent, Once, true},
		{"https://a.example/refused", Agent, No, false},
		{"https://a.example/unasked", Agent, "", false},
	} {
		o := Options{}
		if c.ask != "" {
			o.Asker = &person{choice: c.ask}
		}
		_, _ = book(t, o).Judge(t.Context(), Request{Target: target(t, c.url), By: c.by, Seen: seen})
		if has, _ := seen.Has(t.Context(), Key(target(t, c.url))); has != c.has {
			t.Errorf("%s: seen %v, want %v", c.url, has, c.has)
		}
	}
}

func TestHopIsNotAskedAboutTwice(t *testing.T) {
	p := &person{choice: Once}
	b := book(t, Options{Default: "ask", Ask: sourced(t, "https://docs.example.org/private/"), Asker: p})
	judge := func(url string, prior *Verdict) (Verdict, error) {
		return b.Judge(t.Context(), Request{Target: target(t, url), By: Agent, Hop: prior != nil, Prior: prior})
	}
	first, err := judge(page, nil)
	if err != nil || len(p.asked) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	if _, err := judge("https://docs.example.org/moved", &first); err != nil || len(p.asked) != 1 {
		t.Errorf("the same question about the same host was put again: %v", err)
	}
	if _, err := judge("https://docs.example.org/private/plan", &first); err != nil || len(p.asked) != 2 {
		t.Errorf("another rule speaks, but nobody was asked: %v", err)
	}
	if _, err := judge("https://www.docs.example.org/", &first); err != nil || len(p.asked) != 3 {
		t.Errorf("another host, but nobody was asked: %v", err)
	}
	unasked := Verdict{Decision: Allow, Host: "docs.example.org", Rule: first.Rule}
	if _, err := judge("https://docs.example.org/moved", &unasked); err != nil || len(p.asked) != 4 {
		t.Errorf("nobody had been asked before, nor was now: %v", err)
	}
}

// slow takes a minute for each question.
type slow struct{ asked, open, most atomic.Int32 }

func (s *slow) Ask(ctx context.Context, _ Question) (Choice, error) {
	s.asked.Add(1)
	if n := s.open.Add(1); n > s.most.Load() {
		s.most.Store(n)
	}
	defer s.open.Add(-1)
	select {
	case <-time.After(time.Minute):
		return Always, nil
	case <-ctx.Done():
		return No, ctx.Err()
	}
}

func TestOneAlwaysAnswersAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &slow{}
		b := book(t, Options{Default: "ask", Asker: p})
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := b.Judge(t.Context(), Request{Target: target(t, page), By: Agent}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() { // another host waits for nobody
			start := time.Now()
			if _, err := b.Judge(t.Context(), Request{Target: target(t, "https://else.example/"), By: Agent}); err != nil || time.Since(start) > time.Minute {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
		wg.Wait()
		if p.asked.Load() != 2 || p.most.Load() != 2 {
			t.Errorf("%d questions, %d at a time", p.asked.Load(), p.most.Load())
		}
		if len(b.turns.taken) != 0 {
			t.Error("turns are left over")
		}
	})
}

func TestOneAlwaysAnswersAllSearches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &slow{}
		b := book(t, Options{Default: "ask", Asker: p})
		var wg sync.WaitGroup
		for _, engines := range [][]string{{"brave"}, {"brave", "wikipedia"}, {"exa"}} {
			wg.Go(func() {
				if _, err := b.JudgeSearch(t.Context(), Agent, engines, false); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if p.asked.Load() != 1 {
			t.Errorf("%d questions", p.asked.Load())
		}
	})
}

func TestWaitingForAPersonEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := book(t, Options{Default: "ask", Asker: &slow{}})
		var wg sync.WaitGroup
		for _, c := range []struct {
			limit time.Duration
			want  string
		}{{20 * time.Second, "timeout/total"}, {10 * time.Second, "timeout/total"}} {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), c.limit)
				defer cancel()
				start := time.Now()
				_, err := b.Judge(ctx, Request{Target: target(t, page), By: Agent})
				if name(err) != c.want || time.Since(start) != c.limit {
					t.Errorf("%v after %v", err, time.Since(start))
				}
			})
		}
		wg.Wait()
	})
}

func TestRulesMayChangeWhileOthersJudge(t *testing.T) {
	mem := NewMemory()
	b := book(t, Options{Default: "deny", Memory: mem, Deny: sourced(t, "domain:bad.example")})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 100 {
				if _, err := b.Judge(t.Context(), Request{Target: target(t, "https://bad.example/"), By: Person}); name(err) != "denied/rule" {
					t.Errorf("%v", err)
				}
				if v, err := b.Judge(t.Context(), Request{Target: target(t, page), By: Person}); err == nil && v.From != "remembered" {
					t.Errorf("%+v", v)
				}
			}
		})
	}
	for i := range 200 {
		var err error
		if i%2 == 0 {
			err = mem.Remember(t.Context(), Remembered{Kind: Allow, Rule: "domain:docs.example.org"})
		} else {
			_, err = mem.Forget(t.Context(), "domain:docs.example.org")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}

func TestJudgeSearch(t *testing.T) {
	for _, c := range []struct {
		name   string
		o      Options
		by     By
		yes    bool
		person Choice
		want   string
		asked  bool
		stored string
	}{
		{name: "auto, model", by: Agent},
		{name: "auto, person", by: Person},
		{name: "deny rule", o: Options{Deny: sourced(t, "WebSearch"), Allow: sourced(t, "WebSearch")}, by: Person, yes: true, want: "denied/rule"},
		{name: "deny of fetches is none of searches", o: Options{Deny: sourced(t, "WebFetch", "domain:*")}, by: Agent},
		{name: "ask rule, nobody", o: Options{Ask: sourced(t, "WebSearch")}, by: Person, want: "unasked/rule"},
		{name: "ask rule, yes", o: Options{Ask: sourced(t, "WebSearch")}, by: Agent, person: Once, asked: true},
		{name: "ask rule, always stores nothing", o: Options{Ask: sourced(t, "WebSearch")}, by: Agent, person: Always, asked: true},
		{name: "ask rule, no", o: Options{Ask: sourced(t, "WebSearch")}, by: Agent, person: No, asked: true, want: "denied/person"},
		{name: "ask rule, flag", o: Options{Ask: sourced(t, "WebSearch")}, by: Person, yes: true},
		{name: "default ask, nobody", o: Options{Default: "ask"}, by: Agent, want: "unasked/rule"},
		{name: "default ask, always", o: Options{Default: "ask"}, by: Agent, person: Always, asked: true, stored: "WebSearch"},
		{name: "default ask, allowed", o: Options{Default: "ask", Allow: sourced(t, "WebSearch")}, by: Agent},
		{name: "default ask, fetches allowed", o: Options{Default: "ask", Allow: sourced(t, "WebFetch")}, by: Agent, want: "unasked/rule"},
		{name: "default deny", o: Options{Default: "deny"}, by: Person, want: "denied/rule"},
		{name: "default allow", o: Options{Default: "allow"}, by: Agent},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &person{choice: c.person}
			c.o.Memory = NewMemory()
			if c.person != "" {
				c.o.Asker = p
			}
			v, err := book(t, c.o).JudgeSearch(t.Context(), c.by, []string{"brave", "wikipedia"}, c.yes)
			if name(err) != c.want || (err == nil) != (v.Decision == Allow) {
				t.Errorf("%+v, %v, want %q", v, err, c.want)
			}
			if (len(p.asked) == 1) != c.asked || c.asked && (len(p.asked[0].Engines) != 2 || !strings.Contains(p.asked[0].What, "brave")) {
				t.Errorf("asked %+v", p.asked)
			}
			stored := ""
			if kept, _ := c.o.Memory.Recall(t.Context()); len(kept) > 0 {
				stored = kept[0].Rule
			}
			if stored != c.stored {
				t.Errorf("stored %q, want %q", stored, c.stored)
			}
		})
	}
}

func TestJudgeTool(t *testing.T) {
	for _, c := range []struct {
		name         string
		o            Options
		server, tool string
		want         string
	}{
		{"no rule", Options{Default: "deny"}, "files", "read", ""},
		{"server denied", Options{Deny: sourced(t, "mcp__files")}, "files", "read", "denied/rule"},
		{"tool denied", Options{Deny: sourced(t, "mcp__files__write")}, "files", "write", "denied/rule"},
		{"another tool denied", Options{Deny: sourced(t, "mcp__files__write")}, "files", "read", ""},
		{"another server denied", Options{Deny: sourced(t, "mcp__file")}, "files", "read", ""},
		{"ask", Options{Ask: sourced(t, "mcp__files__*")}, "files", "read", "unasked/rule"},
		{"fetches denied", Options{Deny: sourced(t, "WebFetch", "WebSearch")}, "files", "read", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := book(t, c.o).JudgeTool(t.Context(), c.server, c.tool, false); name(err) != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
