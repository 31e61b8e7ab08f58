// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/webtest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		os.Exit(writeForever(dir))
	}
	goleak.VerifyTestMain(m)
}

// notes gathers what OnNote hears.
type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) add(s string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, s)
}

func (n *notes) has(part string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.all, func(s string) bool { return strings.Contains(s, part) })
}

func open(t testing.TB, path string, o Options) *DB {
	t.Helper()
	d, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

func libraryPath(t testing.TB) string {
	return filepath.Join(t.TempDir(), "state", "library.db")
}

func page(name string, size int) cache.Entry {
	noise := rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%-32.32s", name))))
	data := make([]byte, size)
	_, _ = noise.Read(data)
	now := time.Now().UTC().Truncate(time.Microsecond)
	return cache.Entry{Key: "https://" + name + "/", ID: name, URL: "https://" + name + "/", Title: name,
		Data: data, StoredAt: now, CheckedAt: now}
}

func put(t testing.TB, s cache.Store, es ...cache.Entry) {
	t.Helper()
	for _, e := range es {
		if err := s.Put(t.Context(), e); err != nil {
			t.Fatalf("Put(%s): %v", e.Key, err)
		}
	}
}

func wantKept(t testing.TB, s cache.Store, es ...cache.Entry) {
	t.Helper()
	for _, e := range es {
		got, ok, err := s.Get(t.Context(), e.Key)
		if err != nil || !ok || !bytes.Equal(got.Data, e.Data) {
			t.Fatalf("Get(%s) = %d bytes, %v, %v, want the entry of %d bytes", e.Key, len(got.Data), ok, err, len(e.Data))
		}
	}
}

func wantMiss(t testing.TB, s cache.Store, key string) {
	t.Helper()
	if _, ok, err := s.Get(t.Context(), key); ok || err != nil {
		t.Fatalf("Get(%s) = %v, %v, want a miss", key, ok, err)
	}
}

// raw runs statements on a closed library, the way a stranger would.
// patient lets a test's own connection wait until those that were just closed have
// let go of their locks: database/sql closes some of them a moment later.
const patient = "?_pragma=busy_timeout(10000)"

func raw(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+patient)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func rawString(t testing.TB, path, query string) (s string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+patient)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(query).Scan(&s); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return s
}

func wantIntegrity(t testing.TB, path string) {
	t.Helper()
	if got := rawString(t, path, "PRAGMA integrity_check"); got != "ok" {
		t.Fatalf("integrity_check: %s", got)
	}
}

func onNetwork(string) (string, bool) { return "NFS", true }

func TestExam(t *testing.T) {
	shelf := func(o Options) func(t *testing.T) cache.Shelf {
		return func(t *testing.T) cache.Shelf { return open(t, libraryPath(t), o).Pages() }
	}
	t.Run("pages", func(t *testing.T) { webtest.Shelf(t, shelf(Options{})) })
	t.Run("pages on a network", func(t *testing.T) { webtest.Shelf(t, shelf(Options{network: onNetwork})) })
	t.Run("replies", func(t *testing.T) {
		webtest.Store(t, func(t *testing.T) cache.Store { return open(t, libraryPath(t), Options{}).Replies() })
	})
}

func TestKeptAcrossOpen(t *testing.T) {
	path := libraryPath(t)
	e := page("a.example", 10_000)
	first, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, first.Pages(), e)
	put(t, first.Replies(), cache.Entry{Key: "r", Data: []byte("reply")})
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := first.Pages().Get(t.Context(), e.Key); err == nil {
		t.Error("Get after Close succeeded")
	}
	second := open(t, path, Options{})
	wantKept(t, second.Pages(), e)
	wantKept(t, second.Replies(), cache.Entry{Key: "r", Data: []byte("reply")})
}

func TestFilesBelongToTheirOwner(t *testing.T) {
	path := libraryPath(t)
	d := open(t, path, Options{})
	put(t, d.Pages(), page("a.example", 100))
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v, want 0700", info.Mode(), err)
	}
	names, _ := filepath.Glob(path + "*")
	if len(names) < 3 {
		t.Fatalf("files are %q, want the library and its log", names)
	}
	for _, n := range names {
		if info, err := os.Stat(n); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want 0600", filepath.Base(n), info.Mode(), err)
		}
	}
}

func TestWiderFileIsNarrowed(t *testing.T) {
	path := libraryPath(t)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	open(t, path, Options{})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want 0600", info.Mode(), err)
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"with space.db", "what?mode=memory.db", "a#b%41.db", "[x]*.db", "ü.db"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			d := open(t, path, Options{})
			put(t, d.Pages(), page("a.example", 10))
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
			left, _ := os.ReadDir(filepath.Dir(path))
			for _, f := range left {
				if !strings.HasPrefix(f.Name(), name) {
					t.Errorf("a file %q was made", f.Name())
				}
			}
		})
	}
}

func TestStrangeFilesAreLeftAlone(t *testing.T) {
	tests := []struct {
		name string
		make []string
		want string
	}{
		{"newer schema", []string{"CREATE TABLE x (y)", "PRAGMA application_id=1145655378", "PRAGMA user_version=99"}, "newer Dipper"},
		{"another program's", []string{"CREATE TABLE x (y)"}, "not a library"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "library.db")
			raw(t, path, tt.make...)
			before, _ := os.ReadFile(path)
			_, err := Open(t.Context(), path, Options{})
			if err == nil || !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Open = %v, want invalid: %s", err, tt.want)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			if n, _ := filepath.Glob(path + aside + "*"); len(n) > 0 {
				t.Errorf("set aside as %q", n)
			}
		})
	}
}

func TestSchema(t *testing.T) {
	// A change to these is a new step of migrations, never an edit.
	path := libraryPath(t)
	open(t, path, Options{}).Close()
	if got := rawString(t, path, "PRAGMA user_version"); got != fmt.Sprint(len(migrations())) {
		t.Errorf("user_version = %s, want %d", got, len(migrations()))
	}
	if got := rawString(t, path, "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name)"); got != "consents,pages,pauses,replies,seen" {
		t.Errorf("tables are %s", got)
	}
}

func TestNetworkFileSystem(t *testing.T) {
	path := libraryPath(t)
	e := page("a.example", 5000)
	local, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, local.Pages(), e)
	local.Close()
	if got := rawString(t, path, "PRAGMA journal_mode"); got != "wal" {
		t.Fatalf("on a local disk the journal mode is %s, want wal", got)
	}
	var n notes
	far := open(t, path, Options{network: onNetwork, OnNote: n.add})
	wantKept(t, far.Pages(), e)
	put(t, far.Pages(), page("b.example", 5000))
	var mode string
	if err := far.pool.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "delete" {
		t.Errorf("on a network the journal mode is %s, %v, want delete", mode, err)
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Error("a log lies beside the file")
	}
	if !n.has("NFS") {
		t.Errorf("notes are %q, want one that names NFS", n.all)
	}
}

func TestReadOnly(t *testing.T) {
	path := libraryPath(t)
	if _, err := Open(t.Context(), path, Options{ReadOnly: true}); err == nil {
		t.Fatal("a missing file was opened")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Stat = %v, want no file made", err)
	}
	e := page("a.example", 5000)
	w := open(t, path, Options{})
	put(t, w.Pages(), e)
	d := open(t, path, Options{ReadOnly: true})
	wantKept(t, d.Pages(), e)
	err := d.Pages().Put(t.Context(), page("b.example", 10))
	if err == nil || !strings.Contains(err.Error(), "reading only") {
		t.Errorf("Put = %v, want a sentence about reading only", err)
	}
	// Without a log beside it, as on a read-only disk.
	w.Close()
	d.Close()
	wantKept(t, open(t, path, Options{ReadOnly: true}).Pages(), e)
}

func TestFullDisk(t *testing.T) {
	path := libraryPath(t)
	d := open(t, path, Options{})
	e := page("a.example", 50_000)
	put(t, d.Pages(), e)
	// SQLite's own bound on the file gives the same error as a full disk.
	d.pool.SetMaxOpenConns(1)
	var count int
	if err := d.pool.QueryRow("PRAGMA page_count").Scan(&count); err != nil {
		t.Fatal(err)
	}
	if err := drain(t.Context(), d.pool, fmt.Sprintf("PRAGMA max_page_count=%d", count+2)); err != nil {
		t.Fatal(err)
	}
	err := d.Pages().Put(t.Context(), page("b.example", 500_000))
	var f *fault.Error
	if !errors.As(err, &f) || !strings.Contains(f.Detail, "the disk is full") || f.Advice == "" {
		t.Fatalf("Put = %v, want a sentence about the full disk", err)
	}
	wantKept(t, d.Pages(), e)
	wantMiss(t, d.Pages(), "https://b.example/")
	if err := drain(t.Context(), d.pool, "PRAGMA max_page_count=1000000"); err != nil {
		t.Fatal(err)
	}
	put(t, d.Pages(), page("b.example", 500_000))
}

func TestDiskBound(t *testing.T) {
	const limit, size = 2 << 20, 100_000
	path := libraryPath(t)
	d := open(t, path, Options{DiskBytes: limit})
	first := page("first.example", size)
	put(t, d.Pages(), first)
	var last cache.Entry
	for i := range 60 {
		last = page(fmt.Sprintf("p%d.example", i), size/2+i*1000)
		put(t, d.Pages(), last)
		if i%5 == 0 {
			put(t, d.Replies(), cache.Entry{Key: fmt.Sprint(i), Data: page("reply", 10_000).Data})
			wantKept(t, d.Pages(), first) // used again and again, so it stays
		}
		var used int64
		if st, err := d.Pages().Stats(t.Context()); err != nil {
			t.Fatal(err)
		} else if used = st.Used; used > limit {
			t.Fatalf("after %d entries %d bytes are used, the bound is %d", i, used, limit)
		}
	}
	wantKept(t, d.Pages(), first, last)
	wantMiss(t, d.Pages(), "https://p0.example/")
	if err := d.checkpoint(t.Context(), "TRUNCATE"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > limit {
		t.Errorf("the file has %d bytes, the bound is %d", info.Size(), limit)
	}
	if err := d.Pages().Put(t.Context(), page("huge.example", limit+1)); !errors.Is(err, fault.TooLarge) {
		t.Errorf("Put of a page beyond the bound = %v, want toolarge", err)
	}
	wantKept(t, d.Pages(), first, last)
}

func TestLoweredBound(t *testing.T) {
	path := libraryPath(t)
	d := open(t, path, Options{})
	for i := range 40 {
		put(t, d.Pages(), page(fmt.Sprintf("p%d.example", i), 100_000))
	}
	d.Close()
	d = open(t, path, Options{DiskBytes: 1 << 20})
	put(t, d.Pages(), page("new.example", 1000))
	if err := d.checkpoint(t.Context(), "TRUNCATE"); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Size() > 1<<20 {
		t.Errorf("the file still has %d bytes", info.Size())
	}
	wantKept(t, d.Pages(), page("p39.example", 100_000))
}

func TestClearGivesSpaceBack(t *testing.T) {
	path := libraryPath(t)
	d := open(t, path, Options{})
	secret := []byte("a sentence nobody else should find on the disk")
	e := page("a.example", 2_000_000)
	put(t, d.Pages(), e, cache.Entry{Key: "secret", Title: string(secret), Data: secret})
	put(t, d.Replies(), cache.Entry{Key: "reply", Data: secret})
	if n, err := d.Pages().Clear(t.Context()); n != 2 || err != nil {
		t.Fatalf("Clear = %d, %v", n, err)
	}
	wantMiss(t, d.Replies(), "reply")
	names, _ := filepath.Glob(path + "*")
	var total int
	for _, n := range names {
		b, _ := os.ReadFile(n)
		total += len(b)
		if bytes.Contains(b, secret) {
			t.Errorf("%s still holds what was cleared", filepath.Base(n))
		}
	}
	if total > 200_000 {
		t.Errorf("%d bytes are left on the disk", total)
	}
}

func TestRemoveTakesReplies(t *testing.T) {
	d := open(t, libraryPath(t), Options{})
	e := page("a.example", 10)
	put(t, d.Pages(), e)
	put(t, d.Replies(), cache.Entry{Key: "of a", URL: e.URL, Data: []byte("1")}, cache.Entry{Key: "of b", URL: "https://b.example/", Data: []byte("2")})
	if n, err := d.Pages().Remove(t.Context(), e.URL); n != 1 || err != nil {
		t.Fatalf("Remove = %d, %v", n, err)
	}
	wantMiss(t, d.Replies(), "of a")
	wantKept(t, d.Replies(), cache.Entry{Key: "of b", Data: []byte("2")})
}

func TestHeldLockEndsWithTheContext(t *testing.T) {
	path := libraryPath(t)
	d := open(t, path, Options{})
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	err = d.Pages().Put(ctx, page("a.example", 10))
	if !errors.Is(err, fault.Internal) || errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Minute {
		t.Errorf("Put = %v after %v, want a failure of the library at once", err, time.Since(start))
	}
	if said := fault.From(err).Detail; !strings.HasSuffix(said, "another process holds it; the page was not kept") {
		t.Errorf("Put says %q", said)
	}
	gone, leave := context.WithCancel(t.Context())
	time.AfterFunc(30*time.Millisecond, leave)
	if err := d.Pages().Put(gone, page("a.example", 10)); !errors.Is(err, fault.Canceled) {
		t.Errorf("Put = %v, want it canceled", err)
	}
	wantMiss(t, d.Pages(), "https://a.example/") // readers wait for nobody
	time.AfterFunc(30*time.Millisecond, func() { _, _ = other.Exec("COMMIT") })
	put(t, d.Pages(), page("a.example", 10))
}
