// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"cmp"
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
	return b.judgeTool(ctx, yes, tool{
		what:  "a search with " + strings.Join(engines, ", "),
		hit:   func(s Sourced) bool { return s.Rule.Tool == check.Search },
		rest:  b.searchDefault(),
		allow: searchRule,
		q:     Question{Tool: check.Search, Engines: engines},
	})
}

// searchDefault is what the default says about a search.
func (b *Book) searchDefault() Verdict {
	v := b.byDefault()
	if b.fallback == Auto {
		v.Decision, v.Reason = Allow, "no rule speaks, and the engines are the user's own choice"
	}
	return v
}

// JudgeTool says whether a tool of an MCP server may be used. The rules
// mcp__server and mcp__server__tool decide; where none speaks it passes, since
// the user himself attached the server. The failures are those of Judge.
func (b *Book) JudgeTool(ctx context.Context, server, name string, yes bool) (Verdict, error) {
	return b.judgeTool(ctx, yes, tool{
		what: "the use of " + name + " on the server " + server,
		hit:  func(s Sourced) bool { return s.Rule.MatchesTool(server, name) },
		rest: Verdict{Decision: Allow, From: byDefault, Rule: "attached servers", Reason: "no rule speaks, and the user attached the server"},
		q:    Question{Tool: check.MCP},
	})
}

// tool is a call that rules speak about as a whole, without a URL.
type tool struct {
	what  string             // for a sentence
	hit   func(Sourced) bool // the rules about it
	rest  Verdict            // where none speaks
	allow string             // the rule that Always stores; empty: none
	q     Question
}

func (b *Book) judgeTool(ctx context.Context, yes bool, t tool) (Verdict, error) {
	v, err := b.weighTool(ctx, t)
	if err != nil {
		return Verdict{}, err
	}
	if v.Decision == Ask && !yes {
		if v, err = b.putTool(ctx, v, t); err != nil {
			return Verdict{}, err
		}
	}
	v.Decision = Allow
	return v, nil
}

// weighTool gives allow or ask; a denial is its error.
func (b *Book) weighTool(ctx context.Context, t tool) (Verdict, error) {
	set, err := b.all(ctx)
	if err != nil {
		return Verdict{}, err
	}
	v, ruled := set.first(t.hit, t.hit)
	if !ruled {
		v = t.rest
	}
	if v.Decision == Deny {
		return Verdict{}, fault.New(fault.Denied, fault.ByRule, "%s forbids %s", named(v), t.what)
	}
	return v, nil
}

// putTool is put for a tool.
func (b *Book) putTool(ctx context.Context, v Verdict, t tool) (Verdict, error) {
	done, waited, err := b.turns.take(ctx, cmp.Or(t.allow, t.what))
	if err != nil {
		return v, fault.From(err)
	}
	defer done()
	if waited {
		if v, err = b.weighTool(ctx, t); err != nil || v.Decision == Allow {
			return v, err
		}
	}
	t.q.What, t.q.Rule, t.q.From, t.q.Reason = t.what, v.Rule, v.From, v.Reason
	if v.From == byDefault {
		t.q.Always = t.allow
	}
	yes, err := b.question(ctx, t.q)
	switch {
	case errors.Is(err, ErrNobody):
		e := fault.Wrap(err, fault.Unasked, fault.ByRule, "%s wants a person asked before %s, and nobody can be asked here", named(v), t.what)
		e.Advice = "Ask the user, who can run it with -y or change the rules with dipper rules."
		if t.q.Always != "" {
			e.Advice = "Ask the user to allow it (dipper rules allow " + t.q.Always + "), then call again."
		}
		return v, e
	case err != nil:
		return v, err
	case !yes:
		return v, fault.New(fault.Denied, fault.ByPerson, "a person was asked about %s and said no", t.what)
	}
	v.Asked = true
	return v, nil
}
