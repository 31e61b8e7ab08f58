// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/permit"
)

// overwrite changes a file behind SQLite's back.
func overwrite(t testing.TB, path string, at int64, with []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(with, at)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// closedLibrary makes a library with these pages and closes it.
func closedLibrary(t testing.TB, es ...cache.Entry) string {
	t.Helper()
	path := libraryPath(t)
	d, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, d.Pages(), es...)
	if err := d.Consents().Remember(t.Context(), permit.Remembered{Kind: permit.Deny, Rule: "domain:bad.example", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDamagedFileIsSetAside(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, path string)
	}{
		{"header overwritten", func(t *testing.T, path string) { overwrite(t, path, 0, bytes.Repeat([]byte("x"), 100)) }},
		{"not a database at all", func(t *testing.T, path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("hello "), 1000), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"schema overwritten", func(t *testing.T, path string) { overwrite(t, path, 100, make([]byte, 3900)) }},
		{"cut after the first page", func(t *testing.T, path string) {
			if err := os.Truncate(path, 4096); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := page("a.example", 50_000)
			path := closedLibrary(t, e)
			tt.damage(t, path)
			var n notes
			d := open(t, path, Options{OnNote: n.add})
			// Damage deeper in the file is found by the call that meets it; the next
			// one heals.
			for range 2 {
				if got, ok, _ := d.Pages().Get(t.Context(), e.Key); ok && !bytes.Equal(got.Data, e.Data) {
					t.Fatal("wrong bytes")
				}
			}
			put(t, d.Pages(), e)
			wantKept(t, d.Pages(), e)
			kept, _ := filepath.Glob(path + aside + "*")
			if len(kept) != 1 || !n.has("set aside as "+filepath.Base(kept[0])) {
				t.Errorf("set aside: %q, notes: %q", kept, n.all)
			}
		})
	}
}

func TestAnEmptyFileIsANewLibrary(t *testing.T) {
	path := closedLibrary(t)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	d := open(t, path, Options{})
	put(t, d.Pages(), page("a.example", 10))
}

func TestAnswersAreCarriedOver(t *testing.T) {
	e := page("a.example", 500_000)
	path := closedLibrary(t, e)
	d := open(t, path, Options{})
	var root int64
	if err := d.pool.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'pages'").Scan(&root); err != nil {
		t.Fatal(err)
	}
	d.Close()
	overwrite(t, path, (root-1)*4096, bytes.Repeat([]byte{0xa5}, 4096))
	var n notes
	d = open(t, path, Options{OnNote: n.add})
	if _, ok, err := d.Pages().Get(t.Context(), e.Key); ok || err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Fatalf("Get = %v, %v, want an error about damage", ok, err)
	}
	wantMiss(t, d.Pages(), e.Key)
	all, err := d.Consents().Recall(t.Context())
	if err != nil || len(all) != 1 || all[0].Kind != permit.Deny || all[0].Rule != "domain:bad.example" {
		t.Errorf("Recall = %v, %v, want the one answer", all, err)
	}
	if !n.has("1 remembered permissions were carried over") {
		t.Errorf("notes are %q", n.all)
	}
}

func TestOnlyTheLatestDamagedFileStays(t *testing.T) {
	path := closedLibrary(t)
	for range 3 {
		overwrite(t, path, 0, bytes.Repeat([]byte("x"), 100))
		open(t, path, Options{}).Close()
		time.Sleep(2 * time.Millisecond) // names tell milliseconds apart
	}
	if kept, _ := filepath.Glob(path + aside + "*"); len(kept) != 1 {
		t.Errorf("%d files are set aside, want 1: %q", len(kept), kept)
	}
}

func TestManyMeetTheSameDamage(t *testing.T) {
	path := closedLibrary(t, page("a.example", 1000))
	overwrite(t, path, 0, bytes.Repeat([]byte("x"), 100))
	var n notes
	var wg sync.WaitGroup
	dbs := make([]*DB, 4)
	for i := range dbs {
		wg.Go(func() {
			d, err := Open(t.Context(), path, Options{OnNote: n.add})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			dbs[i] = d
			if err := d.Pages().Put(t.Context(), page(fmt.Sprintf("p%d.example", i), 1000)); err != nil {
				t.Errorf("Put: %v", err)
			}
		})
	}
	wg.Wait()
	for i, d := range dbs {
		if d != nil {
			wantKept(t, d.Pages(), page(fmt.Sprintf("p%d.example", i), 1000))
			d.Close()
		}
	}
	if len(n.all) != 1 {
		t.Errorf("%d notes, want one: %q", len(n.all), n.all)
	}
}

// TestBitFlips turns one random bit at a time. Whatever comes back then is what
// was put in, or nothing.
func TestBitFlips(t *testing.T) {
	const flips = 100
	var es []cache.Entry
	for i := range 12 {
		es = append(es, page(fmt.Sprintf("p%d.example", i), 200+i*700))
	}
	path := closedLibrary(t, es...)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	served, missed := 0, 0
	for range flips {
		flipped := bytes.Clone(whole)
		at := r.IntN(len(flipped))
		flipped[at] ^= 1 << r.IntN(8)
		dir := t.TempDir()
		copied := filepath.Join(dir, "library.db")
		if err := os.WriteFile(copied, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Open(t.Context(), copied, Options{})
		if err != nil {
			missed += len(es)
			continue
		}
		for _, e := range es {
			got, ok, err := d.Pages().Get(t.Context(), e.Key)
			switch {
			case err != nil || !ok:
				missed++
			case !bytes.Equal(got.Data, e.Data) || got.Key != e.Key || got.URL != e.URL || got.Title != e.Title ||
				!got.StoredAt.Equal(e.StoredAt) || !got.CheckedAt.Equal(e.CheckedAt):
				t.Fatalf("bit flip at byte %d: a wrong entry was served for %s", at, e.Key)
			default:
				served++
			}
		}
		if err := d.Close(); err != nil && !isDamage(err) {
			t.Errorf("Close: %v", err)
		}
	}
	if missed == 0 {
		t.Error("no flip was noticed: the test tests nothing")
	}
	t.Logf("%d flips: %d entries served whole, %d missed", flips, served, missed)
}

func TestDamagedEntryIsAMissWithANote(t *testing.T) {
	a, b := page("a.example", 1000), page("b.example", 1000)
	for _, column := range []string{"data = zeroblob(length(data))", "title = 'Other'", "checked_at = checked_at + 3600000000", "url = 'https://evil.example/'"} {
		path := closedLibrary(t, a, b)
		raw(t, path, "UPDATE pages SET "+column+" WHERE id = 'a.example'")
		var n notes
		d := open(t, path, Options{OnNote: n.add})
		wantMiss(t, d.Pages(), a.Key)
		if _, ok, err := d.Pages().ByID(t.Context(), a.ID); ok || err != nil {
			t.Errorf("%s: ByID = %v, %v, want a miss", column, ok, err)
		}
		wantKept(t, d.Pages(), b)
		if !n.has("was damaged on the disk") {
			t.Errorf("%s: notes are %q", column, n.all)
		}
		put(t, d.Pages(), a)
		wantKept(t, d.Pages(), a)
	}
}

func TestRemovedFilesAreNoticed(t *testing.T) {
	tests := []struct {
		name string
		ends []string
		kept bool // what was put before is still there
	}{
		{"log", []string{"-wal"}, true},
		{"log and index", []string{"-wal", "-shm"}, true},
		{"everything", []string{"", "-wal", "-shm"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := libraryPath(t)
			d := open(t, path, Options{})
			a, b := page("a.example", 1000), page("b.example", 1000)
			put(t, d.Pages(), a)
			for _, end := range tt.ends {
				if err := os.Remove(path + end); err != nil {
					t.Fatal(err)
				}
			}
			put(t, d.Pages(), b)
			other := open(t, path, Options{}) // sees what the first one wrote
			wantKept(t, other.Pages(), b)
			if tt.kept {
				wantKept(t, other.Pages(), a)
			} else {
				wantMiss(t, other.Pages(), a.Key)
			}
			other.Close()
			d.Close()
			wantIntegrity(t, path)
		})
	}
}

// TestTornFile cuts a copy of the files at every page, as a crash of the
// machine might leave them.
func TestTornFile(t *testing.T) {
	path := libraryPath(t)
	d := open(t, path, Options{})
	var es []cache.Entry
	for i := range 10 {
		e := page(fmt.Sprintf("p%d.example", i), 2000)
		es = append(es, e)
		put(t, d.Pages(), e)
	}
	file, err1 := os.ReadFile(path)
	log, err2 := os.ReadFile(path + "-wal")
	if err := errors.Join(err1, err2); err != nil || len(log) == 0 {
		t.Fatalf("the log has %d bytes, %v", len(log), err)
	}
	for cut := 0; cut <= len(log); cut += 4000 {
		torn := filepath.Join(t.TempDir(), "library.db")
		if err := errors.Join(os.WriteFile(torn, file, 0o600), os.WriteFile(torn+"-wal", log[:cut], 0o600)); err != nil {
			t.Fatal(err)
		}
		d, err := Open(t.Context(), torn, Options{})
		if err != nil {
			t.Fatalf("log cut at byte %d: %v", cut, err)
		}
		gap := false
		for _, e := range es {
			got, ok, err := d.Pages().Get(t.Context(), e.Key)
			if err != nil || ok && !bytes.Equal(got.Data, e.Data) {
				t.Fatalf("log cut at byte %d: Get(%s) = %v, %v", cut, e.Key, ok, err)
			}
			if ok && gap {
				t.Fatalf("log cut at byte %d: %s is there, an earlier one is not", cut, e.Key)
			}
			gap = gap || !ok
		}
		put(t, d.Pages(), es[0])
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		wantIntegrity(t, torn)
	}
}
