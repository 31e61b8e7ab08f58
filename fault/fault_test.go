// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func TestKindIsAnErrorValue(t *testing.T) {
	err := fmt.Errorf("reading: %w", Wrap(io.ErrUnexpectedEOF, Unreachable, Reset, "the connection to example.com broke"))
	if !errors.Is(err, Unreachable) {
		t.Error("errors.Is(err, Unreachable) = false")
	}
	if errors.Is(err, Timeout) {
		t.Error("errors.Is(err, Timeout) = true")
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the wrapped cause is lost")
	}
}

func TestEveryKindHasAFullRow(t *testing.T) {
	kinds := []Kind{Invalid, Denied, Unasked, Unsafe, Blocked, Unverified, Unreachable, Timeout,
		Refused, Limited, TooLarge, Unreadable, Model, Engine, Canceled, Internal}
	if len(Table()) != len(kinds) {
		t.Fatalf("the table has %d rows for %d kinds", len(Table()), len(kinds))
	}
	for _, k := range kinds {
		r := Of(k)
		if r.Kind != k || r.Exit == 0 || r.HTTP < 400 || r.Retry == ByRow || r.Meaning == "" || !strings.HasSuffix(r.Advice, ".") {
			t.Errorf("%s: the row is not full: %+v", k, r)
		}
		seen := map[Cause]bool{}
		for _, c := range r.Causes {
			if c.Name == "" || c.Meaning == "" || seen[c.Name] {
				t.Errorf("%s: cause %q is empty, unexplained or there twice", k, c.Name)
			}
			seen[c.Name] = true
		}
	}
}

func TestContractFigures(t *testing.T) {
	for _, c := range []struct {
		kind       Kind
		exit, http int
	}{
		{Invalid, 2, 400}, {Denied, 3, 403}, {Unasked, 3, 403}, {Unsafe, 3, 403}, {Blocked, 3, 403},
		{Unverified, 4, 503}, {Unreachable, 4, 502}, {Timeout, 4, 504}, {Refused, 4, 502}, {Limited, 4, 429},
		{TooLarge, 5, 413}, {Unreadable, 5, 422}, {Model, 6, 502}, {Engine, 6, 502}, {Canceled, 130, 499}, {Internal, 1, 500},
	} {
		if r := Of(c.kind); r.Exit != c.exit || r.HTTP != c.http {
			t.Errorf("%s: exit %d, HTTP %d; want %d and %d", c.kind, r.Exit, r.HTTP, c.exit, c.http)
		}
	}
}

func TestRetryable(t *testing.T) {
	for _, c := range []struct {
		err  *Error
		want bool
	}{
		{New(Unreachable, DNS, ""), true},
		{New(Unreachable, TLS, ""), false},
		{New(Unreachable, Proxy, ""), false},
		{New(Unreachable, Offline, ""), false},
		{New(Timeout, Idle, ""), true},
		{&Error{Kind: Refused, Cause: Status, Code: 500}, true},
		{&Error{Kind: Refused, Cause: Status, Code: 403}, false},
		{New(Refused, Loop, ""), false},
		{New(Limited, BySite, ""), true},
		{New(Unasked, ByRule, ""), false},
		{New(Invalid, "", ""), false},
		{New(Unverified, ByRobots, ""), true},
	} {
		if got := c.err.Retryable(); got != c.want {
			t.Errorf("%s/%s (code %d): retryable %v, want %v", c.err.Kind, c.err.Cause, c.err.Code, got, c.want)
		}
	}
}

func TestFrom(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	for _, c := range []struct {
		err  error
		want Kind
	}{
		{context.Canceled, Canceled},
		{ctx.Err(), Timeout},
		{Denied, Denied},
		{fmt.Errorf("x: %w", New(Blocked, ByList, "y")), Blocked},
		{io.EOF, Internal},
	} {
		if got := From(c.err); got.Kind != c.want {
			t.Errorf("From(%v) = %s, want %s", c.err, got.Kind, c.want)
		}
	}
	if From(nil) != nil {
		t.Error("From(nil) is not nil")
	}
}

func TestSay(t *testing.T) {
	e := New(Limited, BySite, "slow down")
	if e.Say() != Of(Limited).Advice {
		t.Errorf("advice = %q, want the table's", e.Say())
	}
	e.Advice = "Wait two seconds."
	if e.Say() != "Wait two seconds." {
		t.Errorf("advice = %q, want its own", e.Say())
	}
	if e.Error() != "limited/site: slow down" {
		t.Errorf("Error() = %q", e.Error())
	}
}

func TestAdviceOfACause(t *testing.T) {
	if a, b := New(Unreachable, Offline, "").Say(), New(Unreachable, DNS, "").Say(); a == b {
		t.Errorf("offline and dns get the same advice %q", a)
	}
	if got := New(Unreachable, DNS, "").Say(); got != Of(Unreachable).Advice {
		t.Errorf("dns has no advice of its own, yet gets %q", got)
	}
}
