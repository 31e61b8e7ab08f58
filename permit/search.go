// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"context"
	"errors"
	"strings"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// searchRule is the one rule that speaks about searches.
const searchRule = "WebSearch"

// JudgeSearch says whether a search may be run, before any engine is asked. The
// bare rule WebSearch decides, else the default. Under default auto a search
// passes whoever wants it: its query goes to engines that the user configured,
// not to a place that a model chose. The failures are those of Judge.
func (b *Book) JudgeSearch(ctx context.Context, _ By, engines []string, yes bool) (Verdict, error) {
	v, err := b.weighSearch(ctx)
	if err != nil {
		return Verdict{}, err
	}
	if v.Decision == Ask && !yes {
		if v, err = b.putSearch(ctx, v, engines); err != nil {
			return Verdict{}, err
		}
	}
	v.Decision = Allow
	return v, nil
}

func (b *Book) weighSearch(ctx context.Context) (Verdict, error) {
	set, err := b.all(ctx)
	if err != nil {
		return Verdict{}, err
	}
	v := b.decideSearch(set)
	if v.Decision == Deny {
		return Verdict{}, fault.New(fault.Denied, fault.ByRule, "%s forbids searching", named(v))
	}
	if v.From == byDefault && b.fallback == Auto {
		v.Decision, v.Reason = Allow, "no rule speaks, and the engines are the user's own choice"
	}
	return v, nil
}

func (b *Book) putSearch(ctx context.Context, v Verdict, engines []string) (Verdict, error) {
	done, waited, err := b.turns.take(ctx, searchRule)
	if err != nil {
		return v, fault.From(err)
	}
	defer done()
	if waited {
		if v, err = b.weighSearch(ctx); err != nil || v.Decision == Allow {
			return v, err
		}
	}
	q := Question{Tool: check.Search, Engines: engines, Rule: v.Rule, From: v.From, Reason: v.Reason}
	if v.From == byDefault {
		q.Always = searchRule
	}
	yes, err := b.question(ctx, q)
	switch {
	case errors.Is(err, ErrNobody):
		e := fault.Wrap(err, fault.Unasked, fault.ByRule, "%s wants a person asked before a search with %s, and nobody can be asked here",
			named(v), strings.Join(engines, ", "))
		e.Advice = "Ask the user to allow searches (dipper rules allow WebSearch), or to run this one with -y."
		return v, e
	case err != nil:
		return v, err
	case !yes:
		return v, fault.New(fault.Denied, fault.ByPerson, "a person was asked about this search and said no")
	}
	v.Asked = true
	return v, nil
}
