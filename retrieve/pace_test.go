// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(2, 0)
		var mu sync.Mutex
		now, most := map[string]int{}, map[string]int{}
		var wg sync.WaitGroup
		start := time.Now()
		for _, host := range []string{"a:80", "b:80"} {
			for range 10 {
				wg.Go(func() {
					leave, err := p.enter(t.Context(), host)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					now[host]++
					most[host] = max(most[host], now[host])
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					now[host]--
					mu.Unlock()
					leave()
				})
			}
		}
		wg.Wait()
		if most["a:80"] != 2 || most["b:80"] != 2 {
			t.Errorf("at once: %v", most)
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("took %v: one host waits for the other", took)
		}
		if len(p.lanes) != 0 {
			t.Errorf("%d lanes are left", len(p.lanes))
		}
	})
}

func TestGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(4, 3*time.Second)
		start := time.Now()
		for i := range 5 {
			leave, err := p.enter(t.Context(), "a:80")
			if err != nil {
				t.Fatal(err)
			}
			leave()
			if at := time.Since(start); at != time.Duration(i)*3*time.Second {
				t.Errorf("request %d started after %v", i, at)
			}
		}
	})
}

func TestTurnHonoursTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(1, 0)
		leave, err := p.enter(t.Context(), "a:80")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errTotal)
		defer cancel()
		if _, err := p.enter(ctx, "a:80"); !errors.Is(err, errTotal) {
			t.Errorf("got %v", err)
		}
		leave()
		if len(p.lanes) != 0 {
			t.Errorf("%d lanes are left", len(p.lanes))
		}
	})
}

// A turn that would come too late is given up at once.
func TestGapBeyondTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(4, time.Minute)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errTotal)
		defer cancel()
		leave, err := p.enter(ctx, "a:80")
		if err != nil {
			t.Fatal(err)
		}
		leave()
		if _, err := p.enter(ctx, "a:80"); !errors.Is(err, errTotal) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRequestsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(4, 0)
		var mu sync.Mutex
		now, most := 0, 0
		var wg sync.WaitGroup
		for i := range 3 * atOnce {
			wg.Go(func() {
				leave, err := p.enter(t.Context(), string(rune('a'+i)))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				now--
				mu.Unlock()
				leave()
			})
		}
		wg.Wait()
		if most != atOnce {
			t.Errorf("%d at once", most)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		value string
		want  time.Duration
	}{
		{"2", 2 * time.Second},
		{" 120 ", 2 * time.Minute},
		{"Sun, 01 Mar 2026 12:01:00 GMT", time.Minute},
		{"Fri, 31 Dec 2999 23:59:59 GMT", PauseLimit},
		{"999999999", PauseLimit},
		{"99999999999999999999999999", PauseDefault},
		{"Fri, 31 Dec 1999 23:59:59 GMT", PauseDefault},
		{"soon", PauseDefault},
		{"-5", PauseDefault},
		{"0", PauseDefault},
		{"", PauseDefault},
	} {
		if got := retryAfter(row.value, now); got != row.want {
			t.Errorf("%q: %v, want %v", row.value, got, row.want)
		}
	}
}

func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPauses()
		for _, host := range []string{"a:80", "b:80"} {
			_ = p.Pause(t.Context(), host, time.Now().Add(time.Minute))
		}
		time.Sleep(2 * time.Minute)
		_ = p.Pause(t.Context(), "c:80", time.Now().Add(time.Minute))
		if len(p.until) != 1 {
			t.Errorf("%d pauses are kept", len(p.until))
		}
	})
}

func TestLimited(t *testing.T) {
	for _, row := range []struct {
		status int
		after  string
		least  time.Duration
	}{{429, "120", 119 * time.Second}, {503, "", PauseDefault - time.Second}, {503, "999999999", PauseLimit - time.Second}} {
		asked := 0
		h := web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			if r.Host == "other.example" {
				return
			}
			if row.after != "" {
				w.Header().Set("Retry-After", row.after)
			}
			http.Error(w, "slow down", row.status)
		}), nil, Options{})
		p, err := get(t, h, "http://site.example/news")
		want(t, err, "")
		if p.Status != row.status || p.RetryAfter < row.least || p.RetryAfter > PauseLimit || string(p.Body) != "slow down\n" {
			t.Errorf("status %d, wait %v, body %q", p.Status, p.RetryAfter, p.Body)
		}
		_, err = get(t, h, "http://site.example/news?page=2")
		want(t, err, "limited/self")
		if _, err = get(t, h, "http://other.example/"); err != nil || asked != 2 {
			t.Errorf("another host: %v; %d requests", err, asked)
		}
	}
}

// lost is a store of pauses that fails.
type lost struct{}

func (lost) Until(context.Context, string) (time.Time, error) {
	return time.Now().Add(time.Hour), errors.New("no store")
}
func (lost) Pause(context.Context, string, time.Time) error { return errors.New("no store") }

func TestPausesThatFailStopNobody(t *testing.T) {
	h := web(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }), nil, Options{Pauses: lost{}})
	for range 2 {
		p, err := get(t, h, "http://site.example/")
		want(t, err, "")
		if p.Status != 503 {
			t.Errorf("status %d", p.Status)
		}
	}
}
