// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/internal/webtest"
)

// kept gives the names in a folder.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func keep(t *testing.T, f dipper.Keeper, name, body string) string {
	t.Helper()
	path, err := f.Keep(t.Context(), name, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != body {
		t.Fatalf("%s holds %q, %v; want %q", path, got, err, body)
	}
	return path
}

func TestKeepOnce(t *testing.T) {
	f := folder{filepath.Join(t.TempDir(), "saved")}
	first := keep(t, f, "map.pdf", "%PDF one")
	if again := keep(t, f, "map.pdf", "%PDF one"); again != first {
		t.Errorf("%s and %s", first, again)
	}
	if other := keep(t, f, "map.pdf", "%PDF two"); other == first {
		t.Error("two bodies share a file")
	}
	if names := kept(t, f.dir); len(names) != 2 {
		t.Errorf("kept %v", names)
	}
	for path, mode := range map[string]os.FileMode{f.dir: 0o700, first: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	keep(t, f, "empty.bin", "")
}

// TestKeepMends: a file that does not hold what its name says is replaced, and
// what a link leads to is left alone.
func TestKeepMends(t *testing.T) {
	f := folder{t.TempDir()}
	path := keep(t, f, "map.pdf", "%PDF one")
	other := filepath.Join(t.TempDir(), "precious")
	damages := map[string]func() error{
		"cut short":              func() error { return os.WriteFile(path, []byte("%P"), 0o600) },
		"changed, the size kept": func() error { return os.WriteFile(path, []byte("%PDF ONE"), 0o600) },
		"a link": func() error {
			return errors.Join(os.WriteFile(other, []byte("%PDF one"), 0o600), os.Remove(path), os.Symlink(other, path))
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			if err := damage(); err != nil {
				t.Fatal(err)
			}
			if again := keep(t, f, "map.pdf", "%PDF one"); again != path {
				t.Errorf("%s, want %s", again, path)
			}
			if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "%PDF one" {
		t.Errorf("the target of the link holds %q, %v", text, err)
	}
}

func TestKeepHostileNames(t *testing.T) {
	f := folder{filepath.Join(t.TempDir(), "saved")}
	names := []string{"", ".", "..", "../../etc/passwd", "/etc/passwd", `..\..\boot.ini`, "a\x00b", "a\nb", "C:evil", "con", strings.Repeat("é", 300) + ".tar.gz", "\xff\xfe", "-rf", " "}
	for i, name := range names {
		path := keep(t, f, name, "body "+string(rune('a'+i)))
		base := filepath.Base(path)
		if filepath.Dir(path) != f.dir || len(base) > 255 || !utf8.ValidString(base) || strings.ContainsAny(base, "/\\:\x00\n") || strings.HasPrefix(base, "-") {
			t.Errorf("%q became %q", name, path)
		}
		if strings.HasSuffix(name, ".tar.gz") && !strings.HasSuffix(base, ".tar.gz") {
			t.Errorf("%q lost its ending: %q", name, base)
		}
	}
	if got := kept(t, f.dir); len(got) != len(names) {
		t.Errorf("kept %d of %d: %q", len(got), len(names), got)
	}
}

func FuzzPlainFileName(f *testing.F) {
	for _, s := range []string{"../x", "a/b", "\x00", strings.Repeat("ü", 200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := plainFileName(name)
		if len(got) > keepName || !utf8.ValidString(got) || strings.ContainsAny(got, "/\\\x00") {
			t.Errorf("%q became %q", name, got)
		}
	})
}

// TestKeepFails: no half file, no temporary one, and an error that names the place.
func TestKeepFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (folder{filepath.Join(file, "saved")}).Keep(t.Context(), "x", []byte("y")); err == nil {
		t.Error("a folder was made below a file")
	}
	f := folder{filepath.Join(dir, "saved")}
	path := keep(t, f, "x", "y")
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Keep(t.Context(), "x", []byte("y")); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a folder of that name: %v", err)
	}
	if names := kept(t, f.dir); len(names) != 1 {
		t.Errorf("left behind: %q", names)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Keep(ctx, "x", []byte("y")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestScratch: without a state folder bodies go to a folder that nobody else can
// have made before.
func TestScratch(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := &scratch{}
	one, two := keep(t, s, "a.bin", "one"), keep(t, s, "b.bin", "two")
	if filepath.Dir(one) != filepath.Dir(two) || filepath.Dir(filepath.Dir(one)) != os.Getenv("TMPDIR") {
		t.Errorf("%s and %s", one, two)
	}
	if info, err := os.Stat(filepath.Dir(one)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if other := keep(t, &scratch{}, "a.bin", "one"); other == one {
		t.Error("two Apps share a temporary folder")
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	if _, err := (&scratch{}).Keep(t.Context(), "a", nil); err == nil {
		t.Error("it keeps where no temporary folder is")
	}
}

// TestSavedPage: a binary page lands beside the library.
// TestEither: where the first place cannot be written to, a new folder takes the body.
func TestEither(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := &either{first: folder{filepath.Join(file, "saved")}}
	path := keep(t, e, "a.bin", "body")
	defer os.RemoveAll(e.then.dir)
	if filepath.Dir(path) != e.then.dir {
		t.Errorf("kept as %s", path)
	}
	good := &either{first: folder{filepath.Join(t.TempDir(), "saved")}}
	if path := keep(t, good, "a.bin", "body"); good.then.dir != "" || !strings.Contains(path, "saved") {
		t.Errorf("kept as %s", path)
	}
}

func TestSavedPage(t *testing.T) {
	w := webtest.NewWeb(t)
	page(t, w, "http://docs.example.org/map.pdf", "Content-Type: application/pdf\n\n%PDF-1.7 a map")
	a := newNook(t).reach(w).open()
	ans := fetch(t, a, dipper.Request{URL: "http://docs.example.org/map.pdf"})
	if ans.Outcome != dipper.Saved || ans.Saved == nil || filepath.Dir(ans.Saved.Path) != filepath.Join(a.Loaded.DataDir, "saved") {
		t.Fatalf("%s %+v", ans.Outcome, ans.Saved)
	}
}
