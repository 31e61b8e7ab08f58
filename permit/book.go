// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"context"
	"slices"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// Book holds the rules and judges by them. It is safe for use by many at once.
type Book struct {
	set        ruleSet // as configured; the remembered rules are read at every call
	fallback   string
	provenance string
	trusted    *Trusted
	memory     Memory
	asker      Asker
	turns      turns
}

// New makes a Book. An unknown default or provenance mode is fault.Invalid.
func New(o Options) (*Book, error) {
	b := &Book{
		set:        ruleSet{deny: slices.Clone(o.Deny), ask: slices.Clone(o.Ask), allow: slices.Clone(o.Allow)},
		fallback:   o.Default,
		provenance: o.Provenance,
		trusted:    o.Trusted,
		memory:     o.Memory,
		asker:      o.Asker,
	}
	if b.fallback == "" {
		b.fallback = Auto
	}
	if b.provenance == "" {
		b.provenance = ProvenanceWarn
	}
	if b.memory == nil {
		b.memory = NewMemory()
	}
	if !slices.Contains([]string{Auto, string(Ask), string(Allow), string(Deny)}, b.fallback) {
		return nil, fault.New(fault.Invalid, "", "permissions.default is %q; it is one of auto, ask, allow, deny", o.Default)
	}
	if !slices.Contains([]string{ProvenanceOff, ProvenanceWarn, ProvenanceAsk, ProvenanceEnforce}, b.provenance) {
		return nil, fault.New(fault.Invalid, "", "provenance is %q; it is one of off, warn, ask, enforce", o.Provenance)
	}
	return b, nil
}

// Judge says whether a URL may be read: a Verdict when it may, else a failure of
// kind denied (rule, person, provenance) or unasked (rule, provenance). It asks
// a person where one must be asked and can be, and fails at once where none can.
// A failing Memory or Seen fails the call.
func (b *Book) Judge(ctx context.Context, r Request) (Verdict, error) {
	if r.Target.IsZero() {
		return Verdict{}, fault.New(fault.Internal, "", "a URL that was never checked came to be judged")
	}
	m, err := b.weigh(ctx, r)
	if err != nil {
		return Verdict{}, err
	}
	switch {
	case !m.asks:
	case r.Yes || answered(r, m):
		m.verdict.Warning, m.verdict.Warnings = "", nil
	default:
		if m, err = b.put(ctx, r, m); err != nil {
			return Verdict{}, err
		}
	}
	m.verdict.Decision = Allow
	if named := r.By == Person || m.verdict.Asked; named && r.Seen != nil {
		if err := r.Seen.Add(ctx, FromUser, Key(r.Target)); err != nil {
			return Verdict{}, broken(ctx, err, "what this session has shown could not be written down")
		}
	}
	return m.verdict, nil
}

// answered reports whether the question of a hop was put for the first URL
// already: the same rule about the same host, and a person said yes.
func answered(r Request, m matter) bool {
	return r.Hop && r.Prior != nil && r.Prior.Asked && r.Prior.Rule == m.verdict.Rule && r.Prior.Host == m.verdict.Host
}

// matter is a call on the way to its verdict.
type matter struct {
	verdict Verdict
	asks    bool        // a person has to say yes
	soft    bool        // it passes, with Warnings, where nobody can be asked
	cause   fault.Cause // why it asks: rule or provenance
	lasting bool        // an allow rule would answer the question for good
}

// weigh goes through the rules and the provenance of one URL. What they forbid
// is its error; what is left for a person to say is marked in the matter.
func (b *Book) weigh(ctx context.Context, r Request) (matter, error) {
	set, err := b.all(ctx)
	if err != nil {
		return matter{}, err
	}
	v := b.decide(set, r.Target)
	if v.Decision == Deny {
		return matter{}, fault.New(fault.Denied, fault.ByRule, "%s forbids %s", named(v), r.Target)
	}
	known, err := b.known(ctx, r)
	if err != nil {
		return matter{}, err
	}
	if !known && b.provenance == ProvenanceEnforce {
		return matter{}, fault.New(fault.Denied, fault.ByProvenance,
			"%s was named neither by a person nor by anything this session has shown", r.Target)
	}
	m := matter{verdict: v, cause: fault.ByRule, lasting: v.From == byDefault}
	auto := v.From == byDefault && b.fallback == Auto
	switch {
	case v.Decision == Ask && !auto:
		m.asks = true
	case known:
	case b.provenance == ProvenanceAsk:
		m.asks, m.cause, m.lasting = true, fault.ByProvenance, false
		m.verdict.Reason = "nobody named this URL, and this session has not shown it"
	case auto:
		m.asks, m.soft = true, true
		m.warn(AllowedUnasked)
	}
	if !known && b.provenance == ProvenanceWarn && (!m.asks || m.soft) {
		m.warn(Unseen)
	}
	return m, nil
}

func (m *matter) warn(code string) {
	if m.verdict.Warning == "" {
		m.verdict.Warning = code
	}
	m.verdict.Warnings = append(m.verdict.Warnings, code)
}

// known reports whether a person named the URL, a site led here, or the session
// has shown it.
func (b *Book) known(ctx context.Context, r Request) (bool, error) {
	if r.By == Person || r.Hop {
		return true, nil
	}
	needed := b.provenance != ProvenanceOff || b.fallback == Auto
	if r.Seen == nil || !needed {
		return !needed, nil
	}
	has, err := r.Seen.Has(ctx, Key(r.Target))
	if err != nil {
		return false, broken(ctx, err, "what this session has shown could not be read")
	}
	return has, nil
}

// Explain says which rule decides about a URL and how, for a URL that nothing
// but its name is known of. It asks nobody and is never a denial: the Decision
// of the Verdict tells. The error is one of Memory.
func (b *Book) Explain(ctx context.Context, t check.Target, by By) (Verdict, error) {
	if t.IsZero() {
		return Verdict{}, fault.New(fault.Internal, "", "a URL that was never checked came to be judged")
	}
	set, err := b.all(ctx)
	if err != nil {
		return Verdict{}, err
	}
	v := b.decide(set, t)
	if v.From == byDefault && b.fallback == Auto && by == Person {
		v.Decision, v.Reason = Allow, "a URL that a person names passes"
	}
	return v, nil
}

// Trust gives the tier of a URL on the trusted list: docs, open, or empty. It is
// asked for the final URL at every read; the answer is never stored.
func (b *Book) Trust(t check.Target) string {
	e, _ := b.trusted.Match(t)
	return e.Tier
}

// Rules lists every rule in the order in which kinds are judged, remembered ones
// after configured ones.
func (b *Book) Rules(ctx context.Context) ([]Listed, error) {
	set, err := b.all(ctx)
	if err != nil {
		return nil, err
	}
	var out []Listed
	for _, k := range []struct {
		kind  Decision
		rules []Sourced
	}{{Deny, set.deny}, {Ask, set.ask}, {Allow, set.allow}} {
		for _, s := range k.rules {
			out = append(out, Listed{Kind: k.kind, Rule: s.Rule.Text, From: s.From})
		}
	}
	return out, nil
}

// broken is the failure of a store that permission hangs on. A call that was
// canceled meanwhile is reported as that.
func broken(ctx context.Context, err error, sentence string) error {
	if ctx.Err() != nil {
		return fault.From(ctx.Err())
	}
	return fault.Wrap(err, fault.Internal, "", "%s, so nothing was permitted", sentence)
}
