// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package webtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/fault"
)

// Store is the exam of every cache.Store. open gives an empty one for each
// part, with room for some megabytes at least.
func Store(t *testing.T, open func(t *testing.T) cache.Store) {
	t.Helper()
	parts := []struct {
		name string
		run  func(*testing.T, cache.Store)
	}{
		{"nothing kept is a miss without an error", storeMiss},
		{"an entry comes back as it was put in", storeRoundTrip},
		{"a later entry replaces the earlier", storeReplace},
		{"keys that look alike are told apart", storeKeys},
		{"callers share no bytes with the store", storeOwnBytes},
		{"a call with an ended context fails as canceled", storeCanceled},
		{"callers side by side", storeParallel},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.run(t, open(t)) })
	}
}

// Shelf is the exam of every cache.Shelf, the one of its Store included.
func Shelf(t *testing.T, open func(t *testing.T) cache.Shelf) {
	t.Helper()
	Store(t, func(t *testing.T) cache.Store { return open(t) })
	parts := []struct {
		name string
		run  func(*testing.T, cache.Shelf)
	}{
		{"an empty shelf", shelfEmpty},
		{"stats count what is kept", shelfStats},
		{"the list is newest first and holds no data", shelfList},
		{"an ID finds the entry checked last", shelfByID},
		{"remove takes exactly that URL", shelfRemove},
		{"clear takes all", shelfClear},
		{"random operations agree with a map", shelfModel},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.run(t, open(t)) })
	}
}

// examTime is a moment with no more than microseconds.
func examTime(minutes int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC).Add(time.Duration(minutes) * time.Minute)
}

func examEntry(name string, minutes int) cache.Entry {
	return cache.Entry{
		Key: "https://" + name + "/\x001f", ID: "id-" + name, URL: "https://" + name + "/", Title: "Title of " + name,
		Data: []byte("data of " + name), StoredAt: examTime(minutes), CheckedAt: examTime(minutes + 1),
	}
}

func examPut(t *testing.T, s cache.Store, es ...cache.Entry) {
	t.Helper()
	for _, e := range es {
		if err := s.Put(t.Context(), e); err != nil {
			t.Fatalf("Put(%q): %v", e.Key, err)
		}
	}
}

func examWant(t *testing.T, s cache.Store, want cache.Entry) {
	t.Helper()
	got, ok, err := s.Get(t.Context(), want.Key)
	if err != nil || !ok {
		t.Fatalf("Get(%q) = %v, %v, want the entry", want.Key, ok, err)
	}
	examSame(t, got, want)
}

func examSame(t *testing.T, got, want cache.Entry) {
	t.Helper()
	switch {
	case got.Key != want.Key || got.ID != want.ID || got.URL != want.URL || got.Title != want.Title:
		t.Errorf("got entry %q %q %q %q, want %q %q %q %q", got.Key, got.ID, got.URL, got.Title, want.Key, want.ID, want.URL, want.Title)
	case !bytes.Equal(got.Data, want.Data):
		t.Errorf("%s: got %d bytes that differ from the %d put in", want.Key, len(got.Data), len(want.Data))
	case got.Size != int64(len(want.Data)):
		t.Errorf("%s: Size = %d, want %d", want.Key, got.Size, len(want.Data))
	case !got.StoredAt.Equal(want.StoredAt) || !got.CheckedAt.Equal(want.CheckedAt):
		t.Errorf("%s: times %v %v, want %v %v", want.Key, got.StoredAt, got.CheckedAt, want.StoredAt, want.CheckedAt)
	}
}

func examMiss(t *testing.T, s cache.Store, key string) {
	t.Helper()
	if e, ok, err := s.Get(t.Context(), key); ok || err != nil {
		t.Errorf("Get(%q) = %q, %v, %v, want a miss", key, e.URL, ok, err)
	}
}

func storeMiss(t *testing.T, s cache.Store) {
	examMiss(t, s, "https://nobody.example/")
	examMiss(t, s, "")
}

func storeRoundTrip(t *testing.T, s cache.Store) {
	noise := make([]byte, 300_000)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(noise)
	datas := map[string][]byte{
		"empty": {}, "zeroes": make([]byte, 100_000), "noise": noise,
		"text": bytes.Repeat([]byte("the same words again "), 20_000), "not UTF-8": {0xff, 0, 0xfe, '\n', 0},
	}
	for name, data := range datas {
		e := examEntry(name, 0)
		e.Data = data
		e.Title = "Ünïcode – 標題 \x00 'quoted\" " + name
		examPut(t, s, e)
		examWant(t, s, e)
	}
	bare := cache.Entry{Key: "bare", Data: []byte("x")}
	examPut(t, s, bare)
	examWant(t, s, bare)
}

func storeReplace(t *testing.T, s cache.Store) {
	first := examEntry("a.example", 0)
	second := examEntry("a.example", 10)
	second.Title, second.Data = "Another title", []byte("other and longer data")
	examPut(t, s, first, second)
	examWant(t, s, second)
	// Also by one that claims to be older: the clock may have been set back.
	examPut(t, s, first)
	examWant(t, s, first)
}

func storeKeys(t *testing.T, s cache.Store) {
	keys := []string{
		"http://a.example/", "https://a.example/", "https://A.example/", "https://a.example:444/",
		"https://a.example/?a=1&b=2", "https://a.example/?b=2&a=1", "https://a.example/p", "https://a.example/P",
		"https://a.example/p/", "https://a.example/ ", "https://a.example/%", "https://a.example/_", "é", "e\u0301",
	}
	for i, k := range keys {
		examPut(t, s, cache.Entry{Key: k, Data: fmt.Append(nil, i), StoredAt: examTime(i), CheckedAt: examTime(i)})
	}
	for i, k := range keys {
		examWant(t, s, cache.Entry{Key: k, Data: fmt.Append(nil, i), StoredAt: examTime(i), CheckedAt: examTime(i)})
	}
}

func storeOwnBytes(t *testing.T, s cache.Store) {
	e := examEntry("a.example", 0)
	mine := bytes.Clone(e.Data)
	put := e
	put.Data = mine
	examPut(t, s, put)
	mine[0] ^= 0xff
	examWant(t, s, e)
	got, _, _ := s.Get(t.Context(), e.Key)
	if len(got.Data) > 0 {
		got.Data[0] ^= 0xff
	}
	examWant(t, s, e)
}

func storeCanceled(t *testing.T, s cache.Store) {
	e := examEntry("a.example", 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Put(ctx, e); !errors.Is(err, fault.Canceled) {
		t.Errorf("Put = %v, want canceled", err)
	}
	if _, ok, err := s.Get(ctx, e.Key); ok || !errors.Is(err, fault.Canceled) {
		t.Errorf("Get = %v, %v, want canceled", ok, err)
	}
	examMiss(t, s, e.Key)
}

func storeParallel(t *testing.T, s cache.Store) {
	const workers, each = 8, 6
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				e := examEntry(fmt.Sprintf("w%d-%d.example", w, i), i)
				shared := examEntry("shared.example", i)
				shared.Data = bytes.Repeat([]byte{byte(w)}, 1000)
				for _, e := range []cache.Entry{e, shared} {
					if err := s.Put(t.Context(), e); err != nil {
						t.Errorf("Put(%q): %v", e.Key, err)
					}
				}
				got, ok, err := s.Get(t.Context(), shared.Key)
				if err != nil || !ok || len(got.Data) != 1000 || bytes.Count(got.Data, got.Data[:1]) != 1000 {
					t.Errorf("Get(shared) = %d bytes, %v, %v, want one writer's whole data", len(got.Data), ok, err)
				}
			}
		})
	}
	wg.Wait()
	for w := range workers {
		for i := range each {
			examWant(t, s, examEntry(fmt.Sprintf("w%d-%d.example", w, i), i))
		}
	}
}

func shelfEmpty(t *testing.T, s cache.Shelf) {
	st, err := s.Stats(t.Context())
	if err != nil || st.Count != 0 || st.Bytes != 0 || !st.Oldest.IsZero() || !st.Newest.IsZero() {
		t.Errorf("Stats = %+v, %v, want nothing", st, err)
	}
	if list, err := s.List(t.Context(), 0); err != nil || len(list) != 0 {
		t.Errorf("List = %v, %v, want nothing", list, err)
	}
	for _, id := range []string{"", "id-a.example"} {
		if _, ok, err := s.ByID(t.Context(), id); ok || err != nil {
			t.Errorf("ByID(%q) = %v, %v, want a miss", id, ok, err)
		}
	}
	if n, err := s.Clear(t.Context()); n != 0 || err != nil {
		t.Errorf("Clear = %d, %v, want 0", n, err)
	}
}

func shelfStats(t *testing.T, s cache.Shelf) {
	a, b := examEntry("a.example", 5), examEntry("b.example", 3)
	examPut(t, s, a, b, a)
	st, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.Count != 2 || st.Bytes != int64(len(a.Data)+len(b.Data)) {
		t.Errorf("Stats count %d entries of %d bytes, want 2 of %d", st.Count, st.Bytes, len(a.Data)+len(b.Data))
	}
	if !st.Oldest.Equal(b.StoredAt) || !st.Newest.Equal(a.StoredAt) {
		t.Errorf("Stats span %v to %v, want %v to %v", st.Oldest, st.Newest, b.StoredAt, a.StoredAt)
	}
	if st.Used <= 0 || st.Limit < st.Used {
		t.Errorf("Stats say %d of %d bytes are used", st.Used, st.Limit)
	}
}

func shelfList(t *testing.T, s cache.Shelf) {
	old, mid, young := examEntry("old.example", 0), examEntry("mid.example", 5), examEntry("young.example", 9)
	examPut(t, s, mid, young, old)
	for limit, want := range map[int][]string{
		0: {young.URL, mid.URL, old.URL}, -1: {young.URL, mid.URL, old.URL}, 2: {young.URL, mid.URL}, 9: {young.URL, mid.URL, old.URL},
	} {
		list, err := s.List(t.Context(), limit)
		var urls []string
		for _, e := range list {
			urls = append(urls, e.URL)
			if e.Data != nil || e.Size == 0 {
				t.Errorf("List(%d) has %d bytes of data and Size %d for %s", limit, len(e.Data), e.Size, e.URL)
			}
		}
		if err != nil || !slices.Equal(urls, want) {
			t.Errorf("List(%d) = %q, %v, want %q", limit, urls, err, want)
		}
	}
	examWant(t, s, old) // a list takes nothing from what is kept
}

func shelfByID(t *testing.T, s cache.Shelf) {
	a, b, c := examEntry("a.example", 0), examEntry("b.example", 9), examEntry("c.example", 4)
	b.ID, c.ID = a.ID, a.ID
	bare := examEntry("bare.example", 0)
	bare.ID = ""
	examPut(t, s, a, b, c, bare)
	got, ok, err := s.ByID(t.Context(), a.ID)
	if err != nil || !ok {
		t.Fatalf("ByID = %v, %v, want an entry", ok, err)
	}
	examSame(t, got, b)
	for _, id := range []string{"", "id-nobody", "ID-A.EXAMPLE", "%"} {
		if _, ok, err := s.ByID(t.Context(), id); ok || err != nil {
			t.Errorf("ByID(%q) = %v, %v, want a miss", id, ok, err)
		}
	}
}

func shelfRemove(t *testing.T, s cache.Shelf) {
	a, b := examEntry("a.example", 0), examEntry("b.example", 0)
	a2 := a
	a2.Key = "another view of a"
	below := examEntry("a.example", 0)
	below.Key, below.URL = "below", a.URL+"below"
	examPut(t, s, a, a2, b, below)
	for _, url := range []string{"", "https://a.example", "https://%.example/", "https://A.example/"} {
		if n, err := s.Remove(t.Context(), url); n != 0 || err != nil {
			t.Errorf("Remove(%q) = %d, %v, want 0", url, n, err)
		}
	}
	if n, err := s.Remove(t.Context(), a.URL); n != 2 || err != nil {
		t.Errorf("Remove(%q) = %d, %v, want 2", a.URL, n, err)
	}
	if n, err := s.Remove(t.Context(), b.Key); n != 1 || err != nil {
		t.Errorf("Remove(%q) = %d, %v, want 1", b.Key, n, err)
	}
	examMiss(t, s, a.Key)
	examMiss(t, s, a2.Key)
	examMiss(t, s, b.Key)
	examWant(t, s, below)
}

func shelfClear(t *testing.T, s cache.Shelf) {
	a, b := examEntry("a.example", 0), examEntry("b.example", 0)
	examPut(t, s, a, b)
	if n, err := s.Clear(t.Context()); n != 2 || err != nil {
		t.Errorf("Clear = %d, %v, want 2", n, err)
	}
	shelfEmpty(t, s)
	examMiss(t, s, a.Key)
	examPut(t, s, a)
	examWant(t, s, a)
}

// shelfModel runs random operations against the shelf and a map, and wants the
// same from both. The amounts are far from any bound.
func shelfModel(t *testing.T, s cache.Shelf) {
	const operations = 250
	r := rand.New(rand.NewPCG(2026, 3))
	model := map[string]cache.Entry{}
	for i := range operations {
		e := examEntry(fmt.Sprintf("m%d.example", r.IntN(12)), i)
		switch r.IntN(10) {
		case 0, 1, 2, 3:
			e.Data = bytes.Repeat([]byte{byte(i)}, r.IntN(5000))
			examPut(t, s, e)
			model[e.Key] = e
		case 4:
			n, err := s.Remove(t.Context(), e.URL)
			if _, had := model[e.Key]; err != nil || n == 1 != had {
				t.Fatalf("operation %d: Remove(%q) = %d, %v, want it to be there: %v", i, e.URL, n, err, had)
			}
			delete(model, e.Key)
		case 5:
			if r.IntN(8) > 0 {
				continue
			}
			if n, err := s.Clear(t.Context()); n != len(model) || err != nil {
				t.Fatalf("operation %d: Clear = %d, %v, want %d", i, n, err, len(model))
			}
			clear(model)
		default:
			if want, ok := model[e.Key]; ok {
				examWant(t, s, want)
			} else {
				examMiss(t, s, e.Key)
			}
		}
		if st, err := s.Stats(t.Context()); err != nil || st.Count != len(model) {
			t.Fatalf("operation %d: Stats count %d, %v, want %d", i, st.Count, err, len(model))
		}
	}
}
