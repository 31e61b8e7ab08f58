// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package preflight finds out whether anyone may read a host or page now: a
// block list of the user's own, the site's robots.txt, a remote service.
//
// The answer has three values. A Clearance means yes. fault.Blocked means no,
// and says who said so. fault.Unverified means that nobody could say, which is
// never taken for a yes: the page is not read.
package preflight

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// Ask is the page in question.
type Ask struct {
	Target check.Target
	Person bool // a person named this URL, not a model
	// Kept says that the page was fetched before and that no network may be asked
	// now: what was cleared then holds, and what was not is unverified.
	Kept bool
}

// Clearance says that a page may be read. Everything else is an error.
type Clearance struct {
	Reason string    // a few words: "no rule of robots.txt speaks against it"
	By     string    // who said so: list, robots, remote; several with ", " between; empty: nobody was asked
	At     time.Time // when it was found out; the oldest of several
}

// Checker finds out whether a page may be read. Its errors are fault.Blocked,
// fault.Unverified, and fault.Canceled when the caller gave up. It is safe for
// use by many at once.
type Checker interface {
	Check(ctx context.Context, a Ask) (Clearance, error)
}

// CheckerFunc is a function as a Checker.
type CheckerFunc func(ctx context.Context, a Ask) (Clearance, error)

// Check calls f.
func (f CheckerFunc) Check(ctx context.Context, a Ask) (Clearance, error) { return f(ctx, a) }

// None gives the Checker that asks nobody and clears everything.
func None() Checker {
	return CheckerFunc(func(context.Context, Ask) (Clearance, error) {
		return Clearance{Reason: "nothing is set up to be asked", At: time.Now()}, nil
	})
}

// All asks each Checker in the order given. The first error ends the round and
// is the answer; the clearances of all become one.
func All(cs ...Checker) Checker {
	return CheckerFunc(func(ctx context.Context, a Ask) (Clearance, error) {
		sum, err := None().Check(ctx, a)
		var by, why []string
		for _, c := range cs {
			got, err := c.Check(ctx, a)
			if err != nil {
				return Clearance{}, err
			}
			if got.By != "" {
				by, why = append(by, got.By), append(why, got.Reason)
			}
			if got.At.Before(sum.At) && !got.At.IsZero() {
				sum.At = got.At
			}
		}
		if len(by) > 0 {
			sum.By, sum.Reason = strings.Join(by, ", "), strings.Join(why, "; ")
		}
		return sum, err
	})
}

// unverified is the failure of a question that got no answer. When the caller
// gave up meanwhile, that is the failure; when his time ran out, nobody could
// say in the time there was.
func unverified(ctx context.Context, err error, by fault.Cause, format string, args ...any) *fault.Error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fault.From(ctx.Err())
	}
	return fault.Wrap(err, fault.Unverified, by, format, args...)
}
