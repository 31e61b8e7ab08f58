// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

func target(t testing.TB, raw string) check.Target {
	t.Helper()
	got, err := check.Limits{Declared: func(string, int) bool { return true }}.Parse(raw)
	if err != nil {
		t.Fatalf("Parse(%q): %v", raw, err)
	}
	return got
}

func sourced(t testing.TB, texts ...string) []Sourced {
	t.Helper()
	var out []Sourced
	for _, s := range texts {
		r, err := check.ParseRule(s)
		if err != nil {
			t.Fatalf("ParseRule(%q): %v", s, err)
		}
		out = append(out, Sourced{Rule: r, From: "config.yaml"})
	}
	return out
}

func book(t testing.TB, o Options) *Book {
	t.Helper()
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// person answers every question alike and keeps what was asked.
type person struct {
	choice Choice
	err    error
	asked  []Question
}

func (p *person) Ask(_ context.Context, q Question) (Choice, error) {
	p.asked = append(p.asked, q)
	return p.choice, p.err
}

// name spells an error as kind/cause.
func name(err error) string {
	if err == nil {
		return ""
	}
	e := fault.From(err)
	if e.Cause == "" {
		return string(e.Kind)
	}
	return string(e.Kind) + "/" + string(e.Cause)
}

const page = "https://docs.example.org/guide/start?page=2"

func TestJudge(t *testing.T) {
	list := func(places ...string) *Trusted {
		tr, err := NewTrusted(places, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	yes, no, nobody := Once, No, Choice("nobody")
	for _, c := range []struct {
		name             string
		deny, ask, allow string
		fallback, prov   string
		trusted          bool
		by               By
		seen, hop, flagY bool
		person           Choice // "": no Asker at all
		want             string // kind/cause, or "" for a pass
		asked            bool
		warn             string
	}{
		{name: "auto, person", by: Person},
		{name: "auto, model, nobody", by: Agent, warn: "allowed-unasked provenance"},
		{name: "auto, nobody named who", warn: "allowed-unasked provenance"},
		{name: "auto, model, asker says nobody", by: Agent, person: nobody, asked: true, warn: "allowed-unasked provenance"},
		{name: "auto, model, provenance off", by: Agent, prov: "off", warn: "allowed-unasked"},
		{name: "auto, model, seen", by: Agent, seen: true, person: no},
		{name: "auto, model, person says yes", by: Agent, person: yes, asked: true},
		{name: "auto, model, person says no", by: Agent, person: no, asked: true, want: "denied/person"},
		{name: "auto, model, flag says yes", by: Agent, flagY: true, person: no},
		{name: "auto, hop", by: Agent, hop: true, person: no},

		{name: "ask, nobody", fallback: "ask", by: Agent, want: "unasked/rule"},
		{name: "ask, asker says nobody", fallback: "ask", by: Agent, person: nobody, asked: true, want: "unasked/rule"},
		{name: "ask, typed URL too", fallback: "ask", by: Person, want: "unasked/rule"},
		{name: "ask, seen too", fallback: "ask", by: Agent, seen: true, want: "unasked/rule"},
		{name: "ask, hop too", fallback: "ask", by: Agent, hop: true, want: "unasked/rule"},
		{name: "ask, yes", fallback: "ask", by: Agent, person: yes, asked: true},
		{name: "ask, no", fallback: "ask", by: Agent, person: no, asked: true, want: "denied/person"},
		{name: "ask, an answer that is none", fallback: "ask", by: Agent, person: "maybe", asked: true, want: "denied/person"},
		{name: "ask, flag", fallback: "ask", by: Person, flagY: true},
		{name: "allow", fallback: "allow", by: Agent, warn: "provenance"},
		{name: "deny", fallback: "deny", by: Person, want: "denied/rule"},
		{name: "deny, flag", fallback: "deny", by: Person, flagY: true, want: "denied/rule"},
		{name: "deny, allow rule", fallback: "deny", allow: "domain:docs.example.org", by: Person},

		{name: "deny rule", deny: "domain:docs.example.org", by: Person, want: "denied/rule"},
		{name: "deny rule covers names below", deny: "domain:example.org", by: Person, want: "denied/rule"},
		{name: "deny rule before ask", deny: "domain:example.org", ask: "WebFetch", person: yes, by: Person, want: "denied/rule"},
		{name: "deny rule before allow", deny: "domain:*.example.org", allow: "domain:docs.example.org", by: Person, want: "denied/rule"},
		{name: "deny rule before flag", deny: "WebFetch", flagY: true, by: Person, want: "denied/rule"},
		{name: "deny rule before trusted", deny: "domain:example.org", trusted: true, by: Person, want: "denied/rule"},
		{name: "deny rule on a hop", deny: "https://docs.example.org/guide/", hop: true, by: Person, want: "denied/rule"},
		{name: "deny rule elsewhere", deny: "domain:example.com", by: Person},
		{name: "deny search does not deny a fetch", deny: "WebSearch", by: Person},
		{name: "deny server does not deny a fetch", deny: "mcp__server", by: Person},

		{name: "ask rule, typed URL", ask: "domain:docs.example.org", by: Person, person: yes, asked: true},
		{name: "ask rule, typed URL, no", ask: "domain:docs.example.org", by: Person, person: no, asked: true, want: "denied/person"},
		{name: "ask rule, nobody", ask: "domain:docs.example.org", by: Person, want: "unasked/rule"},
		{name: "ask rule over default allow", ask: "domain:docs.example.org", fallback: "allow", by: Agent, want: "unasked/rule"},
		{name: "ask rule, flag", ask: "domain:docs.example.org", by: Person, flagY: true},
		{name: "ask rule before allow", ask: "WebFetch", allow: "domain:docs.example.org", by: Agent, want: "unasked/rule"},
		{name: "ask rule before trusted", ask: "domain:docs.example.org", trusted: true, by: Person, want: "unasked/rule"},
		{name: "ask rule is exactly the host", ask: "domain:example.org", by: Person},
		{name: "ask rule with a star", ask: "domain:*.example.org", by: Person, want: "unasked/rule"},

		{name: "allow rule", allow: "domain:docs.example.org", fallback: "ask", by: Agent, seen: true},
		{name: "allow rule, unseen", allow: "domain:docs.example.org", fallback: "ask", by: Agent, warn: "provenance"},
		{name: "allow rule is exactly the host", allow: "domain:example.org", fallback: "ask", by: Agent, want: "unasked/rule"},
		{name: "allow rule with a star", allow: "domain:*.example.org", fallback: "ask", by: Agent, seen: true},
		{name: "allow rule with a path", allow: "https://docs.example.org/guide/", fallback: "ask", by: Agent, seen: true},
		{name: "allow rule with another path", allow: "https://docs.example.org/blog/", fallback: "ask", by: Agent, want: "unasked/rule"},
		{name: "allow everything", allow: "domain:*", fallback: "ask", by: Agent, seen: true},

		{name: "trusted", trusted: true, fallback: "ask", by: Agent, seen: true},
		{name: "trusted before default deny", trusted: true, fallback: "deny", by: Agent, seen: true},
		{name: "trusted, unseen", trusted: true, by: Agent, warn: "provenance"},

		{name: "enforce, unseen", prov: "enforce", by: Agent, want: "denied/provenance"},
		{name: "enforce, seen", prov: "enforce", by: Agent, seen: true},
		{name: "enforce, person", prov: "enforce", by: Person},
		{name: "enforce, hop", prov: "enforce", by: Agent, hop: true},
		{name: "enforce, flag does not help", prov: "enforce", by: Agent, flagY: true, want: "denied/provenance"},
		{name: "enforce, an allow rule does not help", prov: "enforce", allow: "domain:*", by: Agent, want: "denied/provenance"},
		{name: "enforce, a trusted place does not help", prov: "enforce", trusted: true, by: Agent, want: "denied/provenance"},
		{name: "enforce, nobody is asked", prov: "enforce", person: yes, by: Agent, want: "denied/provenance"},
		{name: "enforce, a deny rule speaks first", prov: "enforce", deny: "WebFetch", by: Agent, want: "denied/rule"},
		{name: "provenance ask, unseen, nobody", prov: "ask", by: Agent, want: "unasked/provenance"},
		{name: "provenance ask, unseen, default allow", prov: "ask", fallback: "allow", by: Agent, want: "unasked/provenance"},
		{name: "provenance ask, unseen, allow rule", prov: "ask", allow: "domain:*", by: Agent, want: "unasked/provenance"},
		{name: "provenance ask, unseen, yes", prov: "ask", by: Agent, person: yes, asked: true},
		{name: "provenance ask, unseen, no", prov: "ask", by: Agent, person: no, asked: true, want: "denied/person"},
		{name: "provenance ask, seen", prov: "ask", by: Agent, seen: true, person: no},
		{name: "provenance ask, flag", prov: "ask", by: Agent, flagY: true},
		{name: "provenance ask and default ask is one question", prov: "ask", fallback: "ask", by: Agent, person: yes, asked: true},
		{name: "provenance off", prov: "off", fallback: "allow", by: Agent},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Default: c.fallback, Provenance: c.prov}
			rules := func(s string) []Sourced { return sourced(t, strings.Fields(s)...) }
			o.Deny, o.Ask, o.Allow = rules(c.deny), rules(c.ask), rules(c.allow)
			if c.trusted {
				o.Trusted = list("docs.example.org")
			}
			p := &person{choice: c.person}
			if c.person == nobody {
				p.err = ErrNobody
			}
			if c.person != "" {
				o.Asker = p
			}
			seen := NewLedger()
			if c.seen {
				if err := seen.Add(t.Context(), FromPage, Key(target(t, page))); err != nil {
					t.Fatal(err)
				}
			}
			v, err := book(t, o).Judge(t.Context(), Request{Target: target(t, page), By: c.by, Seen: seen, Yes: c.flagY, Hop: c.hop})
			if got := name(err); got != c.want {
				t.Fatalf("got %q (%v), want %q", got, err, c.want)
			}
			if asked := len(p.asked) > 0; asked != c.asked || len(p.asked) > 1 {
				t.Errorf("%d questions, asked should be %v", len(p.asked), c.asked)
			}
			if err != nil {
				if e := fault.From(err); !strings.Contains(e.Detail, "https://docs.example.org/guide/start") {
					t.Errorf("the sentence does not name the URL: %s", e.Detail)
				}
				return
			}
			if v.Decision != Allow || v.Host != "docs.example.org" || v.Asked != (c.asked && c.person == yes) {
				t.Errorf("verdict %+v", v)
			}
			if got := strings.Join(v.Warnings, " "); got != c.warn || !strings.HasPrefix(c.warn, v.Warning) || (v.Warning == "") != (c.warn == "") {
				t.Errorf("warnings %q (first %q), want %q", got, v.Warning, c.warn)
			}
			if (v.Trusted == Docs) != c.trusted {
				t.Errorf("trusted %q", v.Trusted)
			}
		})
	}
}

func TestVerdictNamesTheRule(t *testing.T) {
	tr, err := NewTrusted([]string{"docs.example.org"}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		o          Options
		rule, from string
	}{
		{"allow rule", Options{Allow: sourced(t, "domain:other.example", "domain:*.example.org")}, "domain:*.example.org", "config.yaml"},
		{"trusted list", Options{Trusted: tr}, "docs.example.org", "trusted.add"},
		{"an allow rule speaks before the trusted list", Options{Trusted: tr, Allow: sourced(t, "WebFetch")}, "WebFetch", "config.yaml"},
		{"default", Options{}, "default: auto", "permissions.default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := book(t, c.o).Judge(t.Context(), Request{Target: target(t, page), By: Person})
			if err != nil || v.Rule != c.rule || v.From != c.from || v.Reason == "" {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

// Rules of one kind may stand in any order: neither which of them is written
// first nor how narrow it is changes what is decided.
func TestOrderOfRulesDoesNotMatter(t *testing.T) {
	texts := []string{"WebFetch", "domain:example.org", "domain:*.example.org", "domain:docs.example.org", "https://docs.example.org/guide/",
		"https://docs.example.org/blog/", "domain:*", "domain:example.*", "domain:other.example", "WebSearch", "mcp__server"}
	urls := []string{page, "https://example.org/", "https://other.example/x", "https://a.docs.example.org/", "https://docs.example.org.evil.example/"}
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func() []Sourced {
		rng.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		return sourced(t, texts[:rng.IntN(4)]...)
	}
	shuffled := func(s []Sourced) []Sourced {
		s = slices.Clone(s)
		rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		return s
	}
	verdicts := map[string]int{}
	for range 4000 {
		o := Options{Deny: pick(), Ask: pick(), Allow: pick(), Default: "deny"}
		again := Options{Deny: shuffled(o.Deny), Ask: shuffled(o.Ask), Allow: shuffled(o.Allow), Default: "deny"}
		u := target(t, urls[rng.IntN(len(urls))])
		_, first := book(t, o).Judge(t.Context(), Request{Target: u, By: Person})
		_, second := book(t, again).Judge(t.Context(), Request{Target: u, By: Person})
		if name(first) != name(second) {
			t.Fatalf("%s: %q, then %q with the rules in another order", u, name(first), name(second))
		}
		verdicts[name(first)]++
	}
	for _, want := range []string{"", "denied/rule", "unasked/rule"} {
		if verdicts[want] < 100 {
			t.Errorf("only %d verdicts %q: the rules tried are too much alike", verdicts[want], want)
		}
	}
}

func TestOneAllowedHostOpensNoOther(t *testing.T) {
	b := book(t, Options{Allow: sourced(t, "domain:example.org"), Default: "ask"})
	for _, u := range []string{"https://www.example.org/", "https://example.org.evil.example/", "https://evilexample.org/", "https://example.com/",
		"https://evil.example/?u=https://example.org/", "https://evil.example/example.org", "https://ex\u00e1mple.org/"} {
		if _, err := b.Judge(t.Context(), Request{Target: target(t, u), By: Agent}); name(err) != "unasked/rule" {
			t.Errorf("%s: %v", u, err)
		}
	}
}

func TestUnaskedSaysHowToGoOn(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"default", Options{Default: "ask"}, `dipper rules allow "domain:docs.example.org"`},
		{"ask rule", Options{Ask: sourced(t, "domain:docs.example.org")}, "-y"},
		{"provenance", Options{Provenance: "ask"}, "search"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := book(t, c.o).Judge(t.Context(), Request{Target: target(t, page), By: Agent})
			if say := fault.From(err).Say(); !strings.Contains(say, c.want) {
				t.Errorf("advice %q does not hold %q", say, c.want)
			}
		})
	}
}

func TestNewRefusesUnknownWords(t *testing.T) {
	for _, o := range []Options{{Default: "maybe"}, {Provenance: "strict"}, {Default: "Allow"}} {
		if _, err := New(o); !errors.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestZeroTargetIsNeverPermitted(t *testing.T) {
	b := book(t, Options{Allow: sourced(t, "WebFetch"), Default: "allow"})
	if _, err := b.Judge(t.Context(), Request{By: Person, Yes: true}); !errors.Is(err, fault.Internal) {
		t.Errorf("Judge: %v", err)
	}
	if _, err := b.Explain(t.Context(), check.Target{}, Person); !errors.Is(err, fault.Internal) {
		t.Errorf("Explain: %v", err)
	}
}

func TestExplain(t *testing.T) {
	o := Options{Deny: sourced(t, "domain:bad.example"), Ask: sourced(t, "domain:ask.example"), Allow: sourced(t, "domain:good.example")}
	p := &person{choice: Once}
	o.Asker = p
	b := book(t, o)
	for _, c := range []struct {
		url  string
		by   By
		want Decision
		rule string
	}{
		{"https://www.bad.example/", Person, Deny, "domain:bad.example"},
		{"https://ask.example/", Person, Ask, "domain:ask.example"},
		{"https://good.example/", Agent, Allow, "domain:good.example"},
		{"https://else.example/", Person, Allow, "default: auto"},
		{"https://else.example/", Agent, Ask, "default: auto"},
	} {
		v, err := b.Explain(t.Context(), target(t, c.url), c.by)
		if err != nil || v.Decision != c.want || v.Rule != c.rule || v.Reason == "" {
			t.Errorf("%s by %s: %+v, %v", c.url, c.by, v, err)
		}
	}
	if len(p.asked) > 0 {
		t.Error("Explain asked a person")
	}
}

func TestRulesListsKindsInOrder(t *testing.T) {
	b := book(t, Options{Allow: sourced(t, "WebSearch"), Deny: sourced(t, "domain:bad.example"), Ask: sourced(t, "domain:ask.example"), Memory: NewMemory()})
	if err := b.memory.Remember(t.Context(), Remembered{Kind: Deny, Rule: "domain:worse.example"}); err != nil {
		t.Fatal(err)
	}
	got, err := b.Rules(t.Context())
	want := []Listed{{Deny, "domain:bad.example", "config.yaml"}, {Deny, "domain:worse.example", "remembered"},
		{Ask, "domain:ask.example", "config.yaml"}, {Allow, "WebSearch", "config.yaml"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
