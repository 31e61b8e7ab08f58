// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/webtest"
	"github.com/dipper-web/dipper/permit"
	"github.com/dipper-web/dipper/retrieve"
)

// inProcess is a Getter without a network, for tests that live in a bubble of time.
type inProcess func(ctx context.Context, r retrieve.Request) (retrieve.Page, error)

func (g inProcess) Get(ctx context.Context, r retrieve.Request) (retrieve.Page, error) {
	return g(ctx, r)
}
func (inProcess) MayReach(netip.Addr) bool { return true }

// textPage is a whole page of text.
func textPage(t check.Target, text string) retrieve.Page {
	return retrieve.Page{Final: t, Status: 200, StatusText: "OK", Type: "text/plain", Body: []byte(text), ETag: `"1"`, Header: http.Header{}}
}

// timed makes a client over a Getter, with the options' zero values.
func timed(t *testing.T, get inProcess, helper *webtest.Model) *dipper.Client {
	t.Helper()
	book, err := permit.New(permit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := dipper.Options{Permit: book, Get: get}
	if helper != nil {
		o.Helper = &dipper.Helper{Model: helper}
	}
	c, err := dipper.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPagesAreFreshForFifteenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var conditional []bool
		c := timed(t, func(_ context.Context, r retrieve.Request) (retrieve.Page, error) {
			conditional = append(conditional, r.ETag != "")
			p := textPage(r.Target, "The tide table.")
			p.NotModified = r.ETag != ""
			return p, nil
		}, nil)
		source := func() string {
			ans, err := c.Fetch(t.Context(), dipper.Request{URL: ferry, NamedBy: permit.Person})
			if err != nil {
				t.Fatal(err)
			}
			return ans.Source
		}
		steps := []struct {
			after time.Duration
			want  string
		}{
			{0, "network"}, {15*time.Minute - time.Second, "cache"}, {time.Second, "revalidated"},
			{15*time.Minute - time.Second, "cache"}, {24 * time.Hour, "revalidated"},
		}
		for i, s := range steps {
			time.Sleep(s.after)
			if got := source(); got != s.want {
				t.Errorf("step %d: %s, want %s", i+1, got, s.want)
			}
		}
		if fmt.Sprint(conditional) != "[false true true]" {
			t.Errorf("requests, conditional or not: %v", conditional)
		}
	})
}

func TestAFetchTakesAtMostSixtySeconds(t *testing.T) {
	silent := func(ctx context.Context, r retrieve.Request) (retrieve.Page, error) {
		<-ctx.Done()
		return retrieve.Page{}, fault.From(ctx.Err())
	}
	late := func(d time.Duration) inProcess {
		return func(_ context.Context, r retrieve.Request) (retrieve.Page, error) {
			time.Sleep(d)
			return textPage(r.Target, "The ferry leaves at noon."), nil
		}
	}
	for name, row := range map[string]struct {
		get        inProcess
		want       string
		from, till time.Duration
	}{
		"a silent site":                      {silent, "timeout/total", 55 * time.Second, 60 * time.Second},
		"a silent model has 45 s":            {late(0), "passages", 45 * time.Second, 45 * time.Second},
		"a silent model after a slow site":   {late(40 * time.Second), "passages", 55 * time.Second, 60 * time.Second},
		"a silent model after a slower site": {late(58 * time.Second), "passages", 58 * time.Second, 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := timed(t, row.get, webtest.Hangs())
				start := time.Now()
				ans, err := c.Fetch(t.Context(), dipper.Request{URL: ferry, Prompt: "When does it leave?", NamedBy: permit.Person})
				if took := time.Since(start); took < row.from || took > row.till {
					t.Errorf("it took %v", took)
				}
				if row.want != "passages" {
					wantFault(t, err, row.want)
				} else if err != nil || ans.Path != "passages" || ans.Outcome != dipper.Partial {
					t.Errorf("%+v, %v", ans, err)
				}
				synctest.Wait()
			})
		})
	}
}

// Whatever ends first, a caller's own deadline holds as well.
func TestTheCallersDeadlineHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := timed(t, func(_ context.Context, r retrieve.Request) (retrieve.Page, error) {
			return textPage(r.Target, "The ferry leaves at noon."), nil
		}, webtest.Hangs())
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		ans, err := c.Fetch(ctx, dipper.Request{URL: ferry, Prompt: "When does it leave?", NamedBy: permit.Person})
		if err != nil || ans.Path != "passages" {
			t.Errorf("%+v, %v", ans, err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		synctest.Wait()
	})
}

// Callers that share a reply have their own deadlines.
func TestCallersOfOneReplyKeepTheirOwnDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := timed(t, func(_ context.Context, r retrieve.Request) (retrieve.Page, error) {
			return textPage(r.Target, "The ferry leaves at noon."), nil
		}, webtest.Hangs())
		var wg sync.WaitGroup
		for _, limit := range []time.Duration{40 * time.Second, 5 * time.Second} {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				start := time.Now()
				ans, err := c.Fetch(ctx, dipper.Request{URL: ferry, Prompt: "When does it leave?", NamedBy: permit.Person})
				if took := time.Since(start); err != nil || ans.Path != "passages" || took > limit {
					t.Errorf("limit %v: %+v, %v after %v", limit, ans, err, took)
				}
			})
			time.Sleep(time.Millisecond)
		}
		wg.Wait()
	})
}
