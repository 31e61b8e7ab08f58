// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
)

// smallDisk mounts a file system of its own; only root can make one.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// ballast fills a disk to the last byte and gives the file that does.
func ballast(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{64 << 10, 4096, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	return f.Name()
}

func deny(t *testing.T, d *DB, rule string) {
	t.Helper()
	if err := d.Consents().Remember(t.Context(), permit.Remembered{Kind: permit.Deny, Rule: rule, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
}

func wantRules(t *testing.T, d *DB, n int) {
	t.Helper()
	if all, err := d.Consents().Recall(t.Context()); err != nil || len(all) != n {
		t.Errorf("Recall = %v, %v, want %d", all, err, n)
	}
}

// TestNoByteLeft: what is kept is read, nothing new is kept, and to clear the
// library is the cure.
func TestNoByteLeft(t *testing.T) {
	dir := smallDisk(t, "800k")
	path := filepath.Join(dir, "library.db")
	d := open(t, path, Options{})
	a, b := page("a.example", 150_000), page("b.example", 20_000)
	put(t, d.Pages(), a, b)
	deny(t, d, "domain:bad.example")
	d.Close()
	ballast(t, dir)

	var n notes
	d = open(t, path, Options{OnNote: n.add})
	if !n.has("the disk is full") {
		t.Errorf("notes %q", n.all)
	}
	wantKept(t, d.Pages(), a, b)
	wantRules(t, d, 1)
	err := d.Pages().Put(t.Context(), page("c.example", 10))
	if f := fault.From(err); err == nil || !strings.HasSuffix(f.Detail, "the disk is full; the page was not kept") || !strings.Contains(f.Advice, "cache clear") {
		t.Errorf("Put = %v", err)
	}
	if gone, err := d.Pages().Remove(t.Context(), b.URL); gone != 1 || err != nil {
		t.Errorf("Remove = %d, %v", gone, err)
	}
	wantMiss(t, d.Pages(), b.Key)
	wantKept(t, d.Pages(), a)
	if gone, err := d.Pages().Clear(t.Context()); gone != 1 || err != nil {
		t.Errorf("Clear = %d, %v", gone, err)
	}
	put(t, d.Pages(), page("c.example", 10))
	wantRules(t, d, 1)
	d.Close()
	wantIntegrity(t, path)
}

// TestFullDiskWithALog: what a killed process left in the log counts.
func TestFullDiskWithALog(t *testing.T) {
	whole := closedLibrary(t, page("a.example", 10_000))
	w := open(t, whole, Options{})
	put(t, w.Pages(), page("b.example", 10_000))
	deny(t, w, "domain:worse.example")
	for _, size := range []string{"1m", "300k"} {
		t.Run(size, func(t *testing.T) {
			dir := smallDisk(t, size)
			path := filepath.Join(dir, "library.db")
			for _, end := range []string{"", "-wal"} {
				text, err := os.ReadFile(whole + end)
				if err == nil {
					err = os.WriteFile(path+end, text, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			ballast(t, dir)
			d := open(t, path, Options{})
			wantKept(t, d.Pages(), page("a.example", 10_000), page("b.example", 10_000))
			wantRules(t, d, 2)
		})
	}
}

// TestRoomComesBack: who frees space need not start again.
func TestRoomComesBack(t *testing.T) {
	dir := smallDisk(t, "400k")
	path := filepath.Join(dir, "library.db")
	open(t, path, Options{}).Close()
	full := ballast(t, dir)
	d := open(t, path, Options{})
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	d.looked.Store(time.Now().Add(-lookEvery).UnixNano())
	put(t, d.Pages(), page("a.example", 10_000))
	wantKept(t, d.Pages(), page("a.example", 10_000))
}

// TestNothingBegunOnAFullDisk: the file that could not be begun holds nothing, and
// says so.
func TestNothingBegunOnAFullDisk(t *testing.T) {
	for name, room := range map[string]int64{"no byte": 0, "one page": 4096, "a few pages": 20_000} {
		t.Run(name, func(t *testing.T) {
			dir := smallDisk(t, "300k")
			full := ballast(t, dir)
			if info, err := os.Stat(full); err != nil || os.Truncate(full, info.Size()-room) != nil {
				t.Fatal("no room was made")
			}
			path := filepath.Join(dir, "library.db")
			d, err := Open(t.Context(), path, Options{})
			if err == nil {
				d.Close()
				t.Fatal("it was opened")
			}
			if f := fault.From(err); !strings.Contains(f.Detail, "the disk is full") {
				t.Errorf("Open = %v", err)
			}
			if !Blank(path) {
				t.Error("it is said to hold something")
			}
			if err := os.Remove(full); err != nil {
				t.Fatal(err)
			}
			put(t, open(t, path, Options{}).Pages(), page("a.example", 10))
		})
	}
}
