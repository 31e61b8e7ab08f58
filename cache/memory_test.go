// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/webtest"
)

func TestMemoryExam(t *testing.T) {
	webtest.Shelf(t, func(*testing.T) cache.Shelf { return cache.NewMemory(10 << 20) })
}

func TestMemoryIsBounded(t *testing.T) {
	const limit = 1 << 20
	m := cache.NewMemory(limit)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		e := cache.Entry{Key: fmt.Sprint(r.IntN(300)), Data: make([]byte, r.IntN(60_000)), Title: strings.Repeat("t", r.IntN(50))}
		if err := m.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if st, _ := m.Stats(t.Context()); st.Used > limit || st.Bytes > st.Used {
			t.Fatalf("after %d entries %d bytes are used (%d of data), the bound is %d", i, st.Used, st.Bytes, limit)
		}
		if got, ok, _ := m.Get(t.Context(), e.Key); !ok || !bytes.Equal(got.Data, e.Data) {
			t.Fatalf("the entry just put is not there")
		}
	}
	for i := range 10_000 { // entries of nothing cost something too
		if err := m.Put(t.Context(), cache.Entry{Key: fmt.Sprintf("empty %d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if st, _ := m.Stats(t.Context()); st.Count > limit/100 {
		t.Errorf("%d empty entries are held in %d bytes", st.Count, limit)
	}
	big := cache.Entry{Key: "1", Data: make([]byte, limit)}
	if err := m.Put(t.Context(), big); !errors.Is(err, fault.TooLarge) {
		t.Errorf("Put beyond the bound = %v, want toolarge", err)
	}
	if _, ok, _ := m.Get(t.Context(), "1"); ok {
		t.Error("an older entry is given out in its place")
	}
}
