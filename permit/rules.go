// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"context"
	"fmt"
	"slices"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// byDefault and byMemory are the From of a verdict that no written rule gave.
const (
	byDefault = "permissions.default"
	byMemory  = "remembered"
)

type ruleSet struct{ deny, ask, allow []Sourced }

// all gives the configured rules with the remembered ones behind them.
func (b *Book) all(ctx context.Context) (ruleSet, error) {
	kept, err := b.memory.Recall(ctx)
	if err != nil {
		return ruleSet{}, broken(ctx, err, "the remembered permissions could not be read")
	}
	set := b.set
	for _, k := range kept {
		rule, err := check.ParseRule(k.Rule)
		if err != nil {
			return ruleSet{}, fault.Wrap(err, fault.Internal, "",
				"the remembered rule %q cannot be understood, so nothing was permitted; dipper rules remove %q takes it away", k.Rule, k.Rule)
		}
		if err := set.add(k.Kind, Sourced{Rule: rule, From: byMemory}); err != nil {
			return ruleSet{}, err
		}
	}
	return set, nil
}

// add appends to a copy: the configured rules are shared by every call.
func (s *ruleSet) add(kind Decision, r Sourced) error {
	switch kind {
	case Deny:
		s.deny = append(slices.Clip(s.deny), r)
	case Ask:
		s.ask = append(slices.Clip(s.ask), r)
	case Allow:
		s.allow = append(slices.Clip(s.allow), r)
	default:
		return fault.New(fault.Internal, "", "the remembered rule %q is neither allow nor ask nor deny, so nothing was permitted", r.Rule.Text)
	}
	return nil
}

// decide names what speaks about a fetch: deny, ask, allow, trusted list, default.
func (b *Book) decide(set ruleSet, t check.Target) Verdict {
	entry, trusted := b.trusted.Match(t)
	covers := func(s Sourced) bool { return s.Rule.Covers(t) }
	matches := func(s Sourced) bool { return s.Rule.Matches(t) }
	v, ruled := set.first(covers, matches)
	switch {
	case ruled:
	case trusted:
		v = Verdict{Decision: Allow, Rule: entry.String(), From: entry.From, Reason: "trusted: " + entry.Reason}
	default:
		v = b.byDefault()
	}
	v.Host, v.Trusted = t.Host(), entry.Tier
	return v
}

// first gives the first rule that speaks: all of deny before all of ask before
// all of allow. How narrow a rule is does not matter.
func (s ruleSet) first(covers, matches func(Sourced) bool) (Verdict, bool) {
	for _, k := range []struct {
		kind  Decision
		rules []Sourced
		hit   func(Sourced) bool
	}{{Deny, s.deny, covers}, {Ask, s.ask, matches}, {Allow, s.allow, matches}} {
		if i := slices.IndexFunc(k.rules, k.hit); i >= 0 {
			r := k.rules[i]
			return Verdict{Decision: k.kind, Rule: r.Rule.Text, From: r.From,
				Reason: fmt.Sprintf("the %s rule %s decides", k.kind, r.Rule.Text)}, true
		}
	}
	return Verdict{}, false
}

func (b *Book) byDefault() Verdict {
	v := Verdict{Rule: "default: " + b.fallback, From: byDefault}
	switch b.fallback {
	case Auto:
		v.Decision = Ask
		v.Reason = "no rule speaks; a URL that nobody named is a question where somebody can be asked, else it passes with a warning"
	case string(Ask):
		v.Decision, v.Reason = Ask, "no rule speaks, and the default is to ask"
	case string(Allow):
		v.Decision, v.Reason = Allow, "no rule speaks, and the default is to allow"
	default:
		v.Decision, v.Reason = Deny, "no rule speaks, and the default is to deny"
	}
	return v
}

// named gives the subject of a sentence about what decided.
func named(v Verdict) string {
	if v.From == byDefault {
		return fmt.Sprintf("no rule allows it, and permissions.default, which is %s,", v.Rule[len("default: "):])
	}
	if v.From == "" {
		return fmt.Sprintf("the %s rule %q", v.Decision, v.Rule)
	}
	return fmt.Sprintf("the %s rule %q (%s)", v.Decision, v.Rule, v.From)
}
