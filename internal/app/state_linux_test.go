// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/permit"
)

// mount gives a small file system of its own; only root can make one.
func mount(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// seal makes a mounted file system read-only.
func seal(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

// fill leaves no room on a mounted file system.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{64 << 10, 4096, 1} {
		for block := bytes.Repeat([]byte{1}, size); err == nil; {
			_, err = f.Write(block)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		err = nil
	}
}

// TestReadOnlyState: what is kept there still counts, and nothing new is kept.
func TestReadOnlyState(t *testing.T) {
	dir := mount(t, "size=8m")
	n := newNook(t).reach(newSite(t, ""))
	n.Env = append(n.Env, "XDG_DATA_HOME="+dir)
	a := n.open()
	fetch(t, a, dipper.Request{URL: lamps})
	if err := a.RememberRule(t.Context(), permit.Deny, "domain:secret.example.org"); err != nil {
		t.Fatal(err)
	}
	a.Close()
	seal(t, dir)
	b := n.open()
	if len(b.Notes) != 1 || !strings.Contains(b.Notes[0], "cannot be written") {
		t.Errorf("notes %q", b.Notes)
	}
	if ans := fetch(t, b, dipper.Request{URL: lamps}); ans.Source != "cache" {
		t.Errorf("from the %s", ans.Source)
	}
	wantFault(t, b, dipper.Request{URL: "http://secret.example.org/"}, "denied/rule")
	if err := b.RememberRule(t.Context(), permit.Deny, "domain:other.example"); err == nil {
		t.Error("a rule was remembered where nothing can be written")
	}
	if err := b.TryStore(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("got %v", err)
	}
}

// TestReadOnlyPlace: where no library is, none is needed.
func TestReadOnlyPlace(t *testing.T) {
	dir := mount(t, "size=1m")
	seal(t, dir)
	n := newNook(t).reach(newSite(t, ""))
	n.Env = append(n.Env, "XDG_DATA_HOME="+dir)
	a := n.open()
	if len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "read-only file system") && !strings.Contains(a.Notes[0], "kept in memory only") {
		t.Errorf("notes %q", a.Notes)
	}
	fetch(t, a, dipper.Request{URL: lamps})
	n.Env = append(n.Env, "DIPPER_HOME="+filepath.Join(dir, "dipper"))
	if a := n.open(); a.Place() != "memory" || !strings.Contains(strings.Join(a.Notes, " "), dir) {
		t.Errorf("%s, notes %q", a.Place(), a.Notes)
	}
}

// TestFullDisk: pages are read all the same, and no rule is lost.
func TestFullDisk(t *testing.T) {
	t.Run("from the start", func(t *testing.T) {
		dir := mount(t, "size=64k")
		fill(t, dir)
		n := newNook(t).reach(newSite(t, ""))
		n.Env = append(n.Env, "XDG_DATA_HOME="+dir)
		a := n.open()
		if len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "kept in memory only") {
			t.Errorf("notes %q", a.Notes)
		}
		fetch(t, a, dipper.Request{URL: lamps})
	})
	t.Run("while it is open", func(t *testing.T) {
		dir := mount(t, "size=8m")
		w := newSite(t, "")
		noise := make([]byte, 1<<20) // more than the log has left, and nothing to compress
		rand.Read(noise)
		page(t, w, "http://docs.example.org/noise", "Content-Type: text/plain\n\n"+hex.EncodeToString(noise))
		n := newNook(t).reach(w)
		n.Env = append(n.Env, "XDG_DATA_HOME="+dir)
		heard := &ears{}
		a := n.openWith(Doors{Recorder: heard})
		if err := a.RememberRule(t.Context(), permit.Deny, "domain:secret.example.org"); err != nil {
			t.Fatal(err)
		}
		fill(t, dir)
		fetch(t, a, dipper.Request{URL: "http://docs.example.org/noise", Mode: dipper.ModeRaw})
		fetch(t, a, dipper.Request{URL: lamps})
		wantFault(t, a, dipper.Request{URL: "http://secret.example.org/"}, "denied/rule")
		said := heard.notes()
		if !strings.Contains(said, "full") {
			t.Errorf("nobody was told: %q", said)
		}
	})
	t.Run("cleared", func(t *testing.T) {
		dir := mount(t, "size=300k")
		n := newNook(t).reach(newSite(t, ""))
		n.Env = append(n.Env, "DIPPER_HOME="+dir)
		a := n.open()
		fetch(t, a, dipper.Request{URL: lamps, Session: "tea", NamedBy: permit.Person})
		a.Close()
		fill(t, dir)
		heard := &ears{}
		b := n.openWith(Doors{Recorder: heard})
		if ans := fetch(t, b, dipper.Request{URL: lamps, Session: "tea", NamedBy: permit.Person}); ans.Source != "cache" {
			t.Errorf("from the %s", ans.Source)
		}
		fetch(t, b, dipper.Request{URL: lamps, Refresh: true, Session: "tea"})
		if said := heard.notes(); !strings.Contains(said, "the disk is full; the page was not kept") || strings.Contains(said, "internal:") || strings.Contains(said, "put") {
			t.Errorf("notes %q", said)
		}
		if _, err := b.Book.Rules(t.Context()); err != nil {
			t.Error(err)
		}
		if gone, err := b.Library.Clear(t.Context()); gone != 1 || err != nil {
			t.Errorf("%d pages cleared, %v", gone, err)
		}
		if stats, err := b.Library.Stats(t.Context()); stats.Count != 0 || err != nil {
			t.Errorf("%d pages are left, %v", stats.Count, err)
		}
	})
	t.Run("when it is opened again", func(t *testing.T) {
		dir := mount(t, "size=8m")
		n := newNook(t).reach(newSite(t, ""))
		n.Env = append(n.Env, "XDG_DATA_HOME="+dir)
		a := n.open()
		if err := a.RememberRule(t.Context(), permit.Deny, "domain:secret.example.org"); err != nil {
			t.Fatal(err)
		}
		a.Close()
		fill(t, dir)
		// What was remembered holds, pages are read, and nothing new is kept.
		b := n.open()
		if !strings.Contains(strings.Join(b.Notes, " "), "the disk is full") {
			t.Errorf("notes %q", b.Notes)
		}
		wantFault(t, b, dipper.Request{URL: "http://secret.example.org/"}, "denied/rule")
		fetch(t, b, dipper.Request{URL: lamps})
		if err := b.RememberRule(t.Context(), permit.Deny, "domain:other.example"); err == nil {
			t.Error("a rule was remembered where there is no room")
		}
		b.Close()
		if err := os.Remove(filepath.Join(dir, "ballast")); err != nil {
			t.Fatal(err)
		}
		wantFault(t, n.open(), dipper.Request{URL: "http://secret.example.org/"}, "denied/rule")
	})
}

// TestKeepOnFullDisk: an error, and no half file.
func TestKeepOnFullDisk(t *testing.T) {
	dir := mount(t, "size=64k")
	f := folder{filepath.Join(dir, "saved")}
	keep(t, f, "small.bin", "small")
	_, err := f.Keep(t.Context(), "large.bin", make([]byte, 1<<20))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "large.bin") {
		t.Errorf("got %v", err)
	}
	if names := kept(t, f.dir); len(names) != 1 {
		t.Errorf("left behind: %q", names)
	}
	seal(t, dir)
	if _, err := f.Keep(t.Context(), "new.bin", []byte("new")); !errors.Is(err, syscall.EROFS) {
		t.Errorf("got %v", err)
	}
	keep(t, f, "small.bin", "small") // it is there already
}
