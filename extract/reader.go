// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dipper-web/dipper/fault"
)

// Answer lets the helper model answer the prompt from the page alone, and checks
// the answer against the page. The page stands in the prompt between tags of a
// random name; of a page longer than MaxPageChars the parts that fit the prompt
// are chosen, and the reply is Partial.
//
// A model that takes longer than the reader's Timeout is left alone: the best
// passages come back, Partial, with warning model-timeout. A model that fails,
// refuses or says nothing is fault.Model; the end of ctx is fault.Canceled or
// fault.Timeout. What a model says about its own failure is never the reply.
func (r *Reader) Answer(ctx context.Context, a Ask) (Reply, error) {
	if a.PassagesOnly {
		return Passages(a), nil
	}
	if r.Model == nil {
		return Reply{}, fault.New(fault.Invalid, "", "answering needs a helper model, and none is configured")
	}
	if a.MaxQuote <= 0 {
		a.MaxQuote = r.MaxQuote
	}
	a.MaxQuote = quoteCap(a)
	budget := a.Budget
	if budget <= 0 {
		budget = AnswerBudget
	}
	v := look(a, MaxPageChars)
	name := fenceName(a.Doc.Markdown + a.Prompt + a.Doc.Title + a.Doc.URL)
	c, err := r.complete(ctx, compose(a, v, name, budget, a.MaxQuote))
	if errors.Is(err, errTooSlow) {
		return late(a), nil
	}
	if err != nil {
		return Reply{}, err
	}
	if err := r.usable(c); err != nil {
		return Reply{}, err
	}
	out := review(a, v, c, name, budget)
	out.Calls = []Call{r.call(c)}
	return out, nil
}

// errTooSlow says that the reader's own time ran out, not the caller's.
var errTooSlow = errors.New("the helper model took too long")

func (r *Reader) complete(ctx context.Context, p Prompt) (Completion, error) {
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = ModelTimeout
	}
	own, cancel := context.WithTimeoutCause(ctx, timeout, errTooSlow)
	defer cancel()
	c, err := r.Model.Complete(own, p)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return c, fault.From(ctx.Err())
	case errors.Is(context.Cause(own), errTooSlow):
		return c, errTooSlow
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return c, err
	}
	return c, fault.Wrap(err, fault.Model, "", "the helper model %s failed", r.Model.Name())
}

// usable refuses what is no answer.
func (r *Reader) usable(c Completion) error {
	switch {
	case c.Stop == StopRefusal:
		return fault.New(fault.Model, "", "the helper model %s refused to answer about this page", r.Model.Name())
	case strings.TrimSpace(c.Text) == "":
		return fault.New(fault.Model, "", "the helper model %s gave an empty answer", r.Model.Name())
	}
	return nil
}

func (r *Reader) call(c Completion) Call {
	name := c.Model
	if name == "" {
		name = r.Model.Name()
	}
	prices := r.Prices
	if prices == nil {
		prices = BuiltinPrices()
	}
	cost, _ := prices.Cost(name, c.Usage)
	return Call{Purpose: "reader", Model: name, Usage: c.Usage, CostUSD: cost}
}

// late is the reply when the model was too slow.
func late(a Ask) Reply {
	out := Passages(a)
	out.Partial = true
	out.Warnings = append(out.Warnings, Warning{Code: WarnModelTimeout,
		Message: "the helper model took too long; these are the passages of the page that fit the prompt best"})
	return out
}

// review turns what a model said into a reply: cleaned, checked against the page,
// cut to the budget.
func review(a Ask, v view, c Completion, name string, budget int) Reply {
	text, cleaned := clean(unfenced(c.Text, name))
	checked := check(a, v.text, text)
	out := Reply{Text: checked.text, Path: PathHelper, Citations: checked.citations, Warnings: append(cleaned, checked.warnings...)}
	if v.partial() {
		out.note(fmt.Sprintf("[The page was cut for the helper model: it saw %s of %s characters.]", thousands(v.shown), thousands(v.total)), budget,
			fmt.Sprintf("the helper model saw %s of %s characters of the page; name a section to read another part", thousands(v.shown), thousands(v.total)))
	}
	if c.Stop == StopLength {
		out.note("[The answer was cut at its budget.]", budget, "the answer reached its budget and is not whole; ask with a larger budget")
	} else if Tokens(out.Text) > budget {
		out.note("[The answer was cut at its budget.]", budget, fmt.Sprintf("the answer was cut at %s tokens; ask with a larger budget", thousands(budget)))
	}
	return measured(out)
}

// note marks a reply as cut, in its text and by a warning, within the budget.
func (r *Reply) note(mark string, budget int, message string) {
	r.Partial = true
	r.Warnings = append(r.Warnings, Warning{Code: WarnTruncated, Message: message})
	if room := budget - Tokens(mark) - 1; room > 0 {
		text := r.Text
		if Tokens(text) > room {
			text = text[:Cut(text, room)]
		}
		r.Text = strings.TrimRight(text, " \n") + "\n\n" + mark
	} else {
		r.Text = cutTokens(r.Text, budget)
	}
}

// unfenced takes the tags out of an answer that repeats them.
func unfenced(s, name string) string {
	if !strings.Contains(s, name) {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	for l := range strings.Lines(s) {
		if t := strings.TrimSpace(l); !strings.Contains(t, name) || t[0] != '<' {
			b.WriteString(strings.ReplaceAll(l, name, "page"))
		}
	}
	return strings.TrimSpace(b.String())
}
