// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	want   = cache.Want[string]
	filled = cache.Filled[string]
	got    = cache.Got[string]
)

// fills counts its calls and gives their number as the value.
type fills struct{ n atomic.Int32 }

func (f *fills) keep(context.Context, *string) (filled, error) {
	return filled{Value: fmt.Sprintf("fill %d", f.n.Add(1)), Keep: true}, nil
}

func do(t *testing.T, v *cache.View[string], w want, fill func(context.Context, *string) (filled, error)) got {
	t.Helper()
	g, err := v.Do(t.Context(), w, fill)
	if err != nil {
		t.Fatalf("Do: %v", err)
	}
	return g
}

func wantGot(t *testing.T, g got, value, source string) {
	t.Helper()
	if g.Value != value || g.Source != source || g.Joined {
		t.Errorf("got %q from %s (joined: %v), want %q from %s", g.Value, g.Source, g.Joined, value, source)
	}
}

func TestFreshThenStale(t *testing.T) {
	for name, store := range map[string]cache.Store{"memory alone": nil, "store alone": cache.NewMemory(0), "both": cache.NewMemory(0)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := cache.ViewOptions[string]{Store: store}
				if name == "store alone" {
					o.Memory = -1
				}
				v, w, f := cache.NewView(o), want{Key: "k"}, &fills{}
				first := do(t, v, w, f.keep)
				wantGot(t, first, "fill 1", cache.Network)
				time.Sleep(15*time.Minute - time.Nanosecond)
				wantGot(t, do(t, v, w, f.keep), "fill 1", cache.Kept)
				time.Sleep(time.Nanosecond)

				second := do(t, v, w, func(ctx context.Context, stale *string) (filled, error) {
					if stale == nil || *stale != "fill 1" {
						t.Errorf("fill was handed %v, want the stale value", stale)
						return f.keep(ctx, nil)
					}
					return filled{Value: *stale, Keep: true, Revalidated: true}, nil
				})
				wantGot(t, second, "fill 1", cache.Revalidated)
				if !second.StoredAt.Equal(first.StoredAt) || second.CheckedAt.Sub(first.CheckedAt) != 15*time.Minute {
					t.Errorf("revalidated: stored %v, checked %v, want %v and 15 minutes later", second.StoredAt, second.CheckedAt, first.StoredAt)
				}
				time.Sleep(14 * time.Minute)
				again := do(t, v, w, f.keep)
				wantGot(t, again, "fill 1", cache.Kept)
				if !again.StoredAt.Equal(first.StoredAt) {
					t.Errorf("StoredAt = %v, want %v", again.StoredAt, first.StoredAt)
				}
				time.Sleep(time.Minute)
				third := do(t, v, w, f.keep)
				wantGot(t, third, "fill 2", cache.Network)
				if !third.StoredAt.Equal(third.CheckedAt) {
					t.Errorf("anew: stored %v, checked %v, want the same", third.StoredAt, third.CheckedAt)
				}
			})
		})
	}
}

func TestWants(t *testing.T) {
	never := func(string) bool { return false }
	tests := []struct {
		name   string
		kept   bool
		age    time.Duration
		want   want
		value  string
		source string
		fault  fault.Cause
	}{
		{"offline, fresh", true, 0, want{Offline: true}, "kept", cache.Offline, ""},
		{"offline, a year old", true, 365 * 24 * time.Hour, want{Offline: true}, "kept", cache.Offline, ""},
		{"offline wins over refresh", true, 0, want{Offline: true, Refresh: true}, "kept", cache.Offline, ""},
		{"offline, not kept", false, 0, want{Offline: true}, "", "", fault.Offline},
		{"offline, not valid", true, 0, want{Offline: true, Valid: never}, "", "", fault.Offline},
		{"refresh, fresh", true, 0, want{Refresh: true}, "fill 1", cache.Network, ""},
		{"refresh, not kept", false, 0, want{Refresh: true}, "fill 1", cache.Network, ""},
		{"any age, fresh", true, 0, want{AnyAge: true}, "kept", cache.Kept, ""},
		{"any age, a year old", true, 365 * 24 * time.Hour, want{AnyAge: true}, "kept", cache.Kept, ""},
		{"any age, not kept", false, 0, want{AnyAge: true}, "fill 1", cache.Network, ""},
		{"any age, not valid", true, 0, want{AnyAge: true, Valid: never}, "fill 1", cache.Network, ""},
		{"refresh wins over any age", true, 0, want{AnyAge: true, Refresh: true}, "fill 1", cache.Network, ""},
		{"fresh, not valid", true, 0, want{Valid: never}, "fill 1", cache.Network, ""},
		{"checked in the future", true, -24 * time.Hour, want{}, "fill 1", cache.Network, ""},
		{"checked in the future, offline", true, -24 * time.Hour, want{Offline: true}, "kept", cache.Offline, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := cache.NewMemory(0)
			if tt.kept {
				at := time.Now().Add(-tt.age)
				if err := store.Put(t.Context(), cache.Entry{Key: "k", Data: []byte(`"kept"`), StoredAt: at, CheckedAt: at}); err != nil {
					t.Fatal(err)
				}
			}
			f := &fills{}
			tt.want.Key = "k"
			g, err := cache.NewView(cache.ViewOptions[string]{Store: store}).Do(t.Context(), tt.want, f.keep)
			if tt.fault != "" {
				var e *fault.Error
				if !errors.As(err, &e) || e.Kind != fault.Unreachable || e.Cause != tt.fault {
					t.Fatalf("Do = %+v, %v, want unreachable/%s", g, err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantGot(t, g, tt.value, tt.source)
			if calls := f.n.Load(); calls > 1 || (calls == 1) != (tt.source == cache.Network) {
				t.Errorf("fill ran %d times", calls)
			}
		})
	}
}

func TestInvalidIsNotHandedToFill(t *testing.T) {
	v := cache.NewView(cache.ViewOptions[string]{Fresh: -1})
	v.Put(t.Context(), "k", "kept")
	do(t, v, want{Key: "k", Valid: func(s string) bool { return s != "kept" }}, func(_ context.Context, stale *string) (filled, error) {
		if stale != nil {
			t.Errorf("fill was handed %q, which may not be given to this caller", *stale)
		}
		return filled{Value: "new"}, nil
	})
}

func TestNotKept(t *testing.T) {
	store := cache.NewMemory(0)
	v := cache.NewView(cache.ViewOptions[string]{Store: store})
	f := &fills{}
	passing := func(ctx context.Context, s *string) (filled, error) {
		r, err := f.keep(ctx, s)
		r.Keep = false
		return r, err
	}
	failing := func(context.Context, *string) (filled, error) {
		f.n.Add(1)
		return filled{Value: "x", Keep: true}, fault.New(fault.Refused, fault.Status, "no")
	}
	wantGot(t, do(t, v, want{Key: "k"}, passing), "fill 1", cache.Network)
	for range 2 {
		if _, err := v.Do(t.Context(), want{Key: "k"}, failing); !errors.Is(err, fault.Refused) {
			t.Fatalf("Do = %v, want the failure of fill", err)
		}
	}
	wantGot(t, do(t, v, want{Key: "k"}, passing), "fill 4", cache.Network)
	if st, _ := store.Stats(t.Context()); st.Count != 0 {
		t.Errorf("%d entries reached the store", st.Count)
	}
}

func TestStampede(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers = 1000
		v := cache.NewView(cache.ViewOptions[string]{})
		f := &fills{}
		slow := func(ctx context.Context, s *string) (filled, error) {
			time.Sleep(time.Second)
			return f.keep(ctx, s)
		}
		var joined, failed atomic.Int32
		first, cancel := context.WithCancel(t.Context())
		go func() {
			if _, err := v.Do(first, want{Key: "k"}, slow); !errors.Is(err, fault.Canceled) {
				t.Errorf("the first caller, who gave up, got %v", err)
			}
		}()
		synctest.Wait()
		for range callers - 1 {
			go func() {
				g, err := v.Do(t.Context(), want{Key: "k"}, slow)
				if err != nil || g.Value != "fill 1" {
					failed.Add(1)
				}
				if g.Joined {
					joined.Add(1)
				}
			}()
		}
		synctest.Wait()
		start := time.Now()
		cancel()
		synctest.Wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("giving up took %v", took)
		}
		time.Sleep(2 * time.Second)
		if f.n.Load() != 1 || failed.Load() != 0 || joined.Load() != callers-1 {
			t.Errorf("%d fills, %d failures, %d joined, want 1, 0, %d", f.n.Load(), failed.Load(), joined.Load(), callers-1)
		}
		wantGot(t, do(t, v, want{Key: "k"}, slow), "fill 1", cache.Kept)
	})
}

func TestNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cache.NewMemory(0)
		v := cache.NewView(cache.ViewOptions[string]{Store: store})
		var ended atomic.Int32
		hanging := func(ctx context.Context, _ *string) (filled, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // it does not notice at once
			ended.Add(1)
			return filled{Value: "late", Keep: true}, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := v.Do(ctx, want{Key: "k"}, hanging); !errors.Is(err, fault.Timeout) {
					t.Errorf("Do = %v, want timeout", err)
				}
			})
		}
		wg.Wait()
		// The canceled flight still runs; nobody joins it.
		f := &fills{}
		wantGot(t, do(t, v, want{Key: "k"}, f.keep), "fill 1", cache.Network)
		time.Sleep(time.Minute)
		if ended.Load() != 1 {
			t.Errorf("%d hanging fills ended, want 1", ended.Load())
		}
		wantGot(t, do(t, v, want{Key: "k"}, f.keep), "fill 1", cache.Kept)
	})
}

type ctxKey struct{}

func TestFillContext(t *testing.T) {
	v := cache.NewView(cache.ViewOptions[string]{})
	ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), ctxKey{}, "run 7"), time.Hour)
	defer cancel()
	_, err := v.Do(ctx, want{Key: "k"}, func(ctx context.Context, _ *string) (filled, error) {
		if ctx.Value(ctxKey{}) != "run 7" {
			t.Error("the values of the caller's context are missing")
		}
		if _, ok := ctx.Deadline(); ok {
			t.Error("the deadline of the first caller holds for all")
		}
		return filled{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := v.Do(ctx, want{Key: "k"}, nil); !errors.Is(err, fault.Canceled) {
		t.Errorf("Do with an ended context = %v, want canceled", err)
	}
}

func TestFillThatBreaks(t *testing.T) {
	tests := map[string]func(context.Context, *string) (filled, error){
		"panic":  func(context.Context, *string) (filled, error) { panic("boom") },
		"goexit": func(context.Context, *string) (filled, error) { runtime.Goexit(); return filled{}, nil },
	}
	for name, broken := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := cache.NewView(cache.ViewOptions[string]{})
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						_, err := v.Do(t.Context(), want{Key: "k"}, func(ctx context.Context, s *string) (filled, error) {
							time.Sleep(time.Second)
							return broken(ctx, s)
						})
						if !errors.Is(err, fault.Internal) {
							t.Errorf("Do = %v, want internal", err)
						}
					})
				}
				wg.Wait()
				wantGot(t, do(t, v, want{Key: "k"}, (&fills{}).keep), "fill 1", cache.Network)
			})
		})
	}
}

func TestJoiningSomebodyWithOtherWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := cache.NewView(cache.ViewOptions[string]{})
		f := &fills{}
		slow := func(ctx context.Context, s *string) (filled, error) {
			time.Sleep(time.Second)
			return f.keep(ctx, s)
		}
		var wg sync.WaitGroup
		try := func(w want, value string) {
			wg.Go(func() {
				if g := do(t, v, w, slow); g.Value != value {
					t.Errorf("%+v: got %q, want %q", w.Party, g.Value, value)
				}
			})
			time.Sleep(time.Millisecond) // so that fills end in the order they began
		}
		try(want{Key: "k"}, "fill 1")
		try(want{Key: "k", Refresh: true}, "fill 1") // a fill under way is as new as one can get
		try(want{Key: "k", Party: "other"}, "fill 2")
		// What the others get may not be given to this caller: it fills for itself.
		try(want{Key: "k", Valid: func(s string) bool { return s != "fill 1" && s != "fill 2" }}, "fill 3")
		wg.Wait()
		if f.n.Load() != 3 {
			t.Errorf("%d fills, want 3", f.n.Load())
		}
	})
}

func TestAnotherProcessRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cache.NewMemory(0)
		a, b := cache.NewView(cache.ViewOptions[string]{Store: store}), cache.NewView(cache.ViewOptions[string]{Store: store})
		f := &fills{}
		do(t, a, want{Key: "k"}, f.keep)
		time.Sleep(10 * time.Minute)
		do(t, b, want{Key: "k", Refresh: true}, f.keep)
		time.Sleep(10 * time.Minute)
		wantGot(t, do(t, a, want{Key: "k"}, f.keep), "fill 2", cache.Kept)
	})
}

func TestLabelAndPut(t *testing.T) {
	store := cache.NewMemory(0)
	v := cache.NewView(cache.ViewOptions[string]{Store: store, Label: func(s string) (string, string, string) {
		return "id " + s, "url " + s, "title " + s
	}})
	v.Put(t.Context(), "k", "x")
	e, ok, err := store.ByID(t.Context(), "id x")
	if !ok || err != nil || e.Key != "k" || e.URL != "url x" || e.Title != "title x" {
		t.Errorf("ByID = %+v, %v, %v", e, ok, err)
	}
	wantGot(t, do(t, v, want{Key: "k"}, nil), "x", cache.Kept)
	_, _ = store.Clear(t.Context())
	wantGot(t, do(t, v, want{Key: "k"}, nil), "x", cache.Kept) // still held in memory
	v.Drop("k")
	f := &fills{}
	wantGot(t, do(t, v, want{Key: "k"}, f.keep), "fill 1", cache.Network)
	_, _ = store.Clear(t.Context())
	v.DropAll()
	wantGot(t, do(t, v, want{Key: "k"}, f.keep), "fill 2", cache.Network)
}

func TestViewMemoryIsBounded(t *testing.T) {
	v := cache.NewView(cache.ViewOptions[string]{Memory: 100_000})
	f := &fills{}
	for i := range 50 {
		v.Put(t.Context(), fmt.Sprint(i), strings.Repeat("x", 10_000))
		do(t, v, want{Key: "0"}, f.keep) // used all the time
	}
	if f.n.Load() != 0 {
		t.Error("the value used last was pushed out")
	}
	do(t, v, want{Key: "49"}, f.keep)
	do(t, v, want{Key: "1"}, f.keep)
	if f.n.Load() != 1 {
		t.Errorf("%d fills, want 1: the value used longest ago is gone, the newest is held", f.n.Load())
	}
	v.Put(t.Context(), "0", strings.Repeat("x", 200_000))
	do(t, v, want{Key: "0"}, f.keep)
	if f.n.Load() != 2 {
		t.Error("a value bigger than the memory was held, or the one before it was given out")
	}
}

// TestRandomCancels lets many callers give up at random moments: all return,
// nothing is left behind, and who stays gets an answer.
func TestRandomCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := cache.NewView(cache.ViewOptions[string]{Fresh: 50 * time.Millisecond, Store: cache.NewMemory(0)})
		r := rand.New(rand.NewPCG(3, 4))
		var wg sync.WaitGroup
		for range 5000 {
			key, patience := fmt.Sprint(r.IntN(5)), time.Duration(r.IntN(200))*time.Millisecond
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				start := time.Now()
				g, err := v.Do(ctx, want{Key: key}, func(ctx context.Context, _ *string) (filled, error) {
					select {
					case <-time.After(100 * time.Millisecond):
						return filled{Value: key, Keep: true}, nil
					case <-ctx.Done():
						return filled{}, ctx.Err()
					}
				})
				if took := time.Since(start); took > patience {
					t.Errorf("a caller with %v returned after %v", patience, took)
				}
				if err == nil && g.Value != key || err != nil && !errors.Is(err, fault.Timeout) {
					t.Errorf("Do(%s) = %q, %v", key, g.Value, err)
				}
			})
			time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
		}
		wg.Wait()
	})
}

func BenchmarkDoKept(b *testing.B) {
	v := cache.NewView(cache.ViewOptions[string]{})
	v.Put(b.Context(), "k", strings.Repeat("x", 300_000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.Do(b.Context(), want{Key: "k"}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
