// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import "testing"

func BenchmarkGet300KB(b *testing.B) {
	d := open(b, libraryPath(b), Options{})
	e := page("a.example", 300_000)
	for i := range e.Data { // text, more or less
		e.Data[i] = "etaoin shrdlu\n<p>"[e.Data[i]&15]
	}
	put(b, d.Pages(), e)
	b.SetBytes(int64(len(e.Data)))
	for b.Loop() {
		if _, ok, err := d.Pages().Get(b.Context(), e.Key); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkPut300KB(b *testing.B) {
	d := open(b, libraryPath(b), Options{})
	e := page("a.example", 300_000)
	for i := range e.Data {
		e.Data[i] = "etaoin shrdlu\n<p>"[e.Data[i]&15]
	}
	for b.Loop() {
		put(b, d.Pages(), e)
	}
}

func BenchmarkOpen(b *testing.B) {
	path := libraryPath(b)
	d := open(b, path, Options{})
	put(b, d.Pages(), page("a.example", 1000))
	d.Close()
	for b.Loop() {
		d, err := Open(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		d.Close()
	}
}
