// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/webtest"
	"github.com/dipper-web/dipper/permit"
)

// TestRememberedRules outlive the App that took them down, and are forgotten on
// request alone.
func TestRememberedRules(t *testing.T) {
	n := newNook(t).reach(newSite(t, ""))
	a := n.open()
	if err := a.RememberRule(t.Context(), permit.Deny, "domain:"); !errors.Is(err, fault.Invalid) {
		t.Errorf("a rule that is none: %v", err)
	}
	if err := a.RememberRule(t.Context(), permit.Deny, "domain:example.org"); err != nil {
		t.Fatal(err)
	}
	wantFault(t, a, dipper.Request{URL: lamps, NamedBy: permit.Person}, "denied/rule")
	a.Close()
	b := n.open()
	wantFault(t, b, dipper.Request{URL: lamps, NamedBy: permit.Person}, "denied/rule")
	for _, want := range []bool{true, false} {
		if was, err := b.ForgetRule(t.Context(), "domain:example.org"); err != nil || was != want {
			t.Errorf("forgotten %t, %v; want %t", was, err, want)
		}
	}
	fetch(t, b, dipper.Request{URL: lamps})
}

func TestMemoryAlone(t *testing.T) {
	n := newNook(t).reach(newSite(t, ""))
	n.user("cache: { store: mem }\n")
	a := n.open()
	if err := a.RememberRule(t.Context(), permit.Deny, "domain:example.org"); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "configuration") {
		t.Errorf("got %v", err)
	}
	if was, err := a.ForgetRule(t.Context(), "domain:example.org"); was || err != nil {
		t.Errorf("got %t, %v", was, err)
	}
	fetch(t, a, dipper.Request{URL: lamps})
	if ans := fetch(t, a, dipper.Request{URL: lamps}); ans.Source != "cache" {
		t.Errorf("from the %s", ans.Source)
	}
	if a.replies() != nil || a.seen("s") == nil {
		t.Error("replies are kept, or a session has no ledger")
	}
}

func TestForgetPage(t *testing.T) {
	n := newNook(t).reach(newSite(t, ""))
	a := n.open()
	fetch(t, a, dipper.Request{URL: lamps})
	for _, want := range []int{1, 0} {
		if got, err := a.ForgetPage(t.Context(), lamps); err != nil || got != want {
			t.Errorf("%d pages, %v; want %d", got, err, want)
		}
	}
	if _, err := a.ForgetPage(t.Context(), "not a URL"); !errors.Is(err, fault.Invalid) {
		t.Errorf("got %v", err)
	}
}

// TestTwoApps on one folder see each other's pages, rules, sessions and pauses.
func TestTwoApps(t *testing.T) {
	w := newSite(t, "")
	page(t, w, "http://docs.example.org/busy", "Status: 503\nRetry-After: 60\n\nlater")
	n := newNook(t).reach(w)
	a, b := n.open(), n.open()
	if len(a.Notes)+len(b.Notes) > 0 {
		t.Errorf("notes %q %q", a.Notes, b.Notes)
	}
	fetch(t, a, dipper.Request{URL: lamps, Session: "tea", NamedBy: permit.Person})
	w.Asked()
	if ans := fetch(t, b, dipper.Request{URL: lamps, Session: "tea"}); ans.Source != "cache" || len(ans.Warnings) > 0 {
		t.Errorf("from the %s, warnings %v", ans.Source, ans.Warnings)
	}
	wantFault(t, a, dipper.Request{URL: "http://docs.example.org/busy"}, "limited/site")
	wantFault(t, b, dipper.Request{URL: "http://docs.example.org/busy"}, "limited/self")
	if asked := w.Asked(); slices.Contains(asked, lamps) || len(asked) > 3 { // two robots.txt and one page at most
		t.Errorf("asked %q", asked)
	}
	if err := a.RememberRule(t.Context(), permit.Deny, "domain:example.org"); err != nil {
		t.Fatal(err)
	}
	wantFault(t, b, dipper.Request{URL: lamps}, "denied/rule")
}

// TestManyApps open, write and close on one folder at once.
func TestManyApps(t *testing.T) {
	w := webtest.NewWeb(t)
	const apps = 4
	for i := range apps {
		page(t, w, fmt.Sprintf("http://docs.example.org/%d", i), article)
	}
	n := newNook(t).reach(w)
	var all sync.WaitGroup
	for i := range apps {
		l := n.load()
		all.Go(func() {
			a, err := Open(t.Context(), l, Doors{})
			if err != nil {
				t.Error(err)
				return
			}
			defer a.Close()
			if _, err := a.Client.Fetch(t.Context(), dipper.Request{URL: fmt.Sprintf("http://docs.example.org/%d", i)}); err != nil {
				t.Error(err)
			}
			if err := a.RememberRule(t.Context(), permit.Allow, fmt.Sprintf("domain:h%d.example", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	a := n.open()
	stats, err := a.Library.Stats(t.Context())
	rules, err2 := a.Book.Rules(t.Context())
	if err != nil || err2 != nil || stats.Count != apps || len(rules) != apps {
		t.Errorf("%d pages, %d rules, %v, %v", stats.Count, len(rules), err, err2)
	}
}

// TestStateCannotBeMade: where nothing is lost a note will do; a place that
// somebody named must be usable.
func TestStateCannotBeMade(t *testing.T) {
	below := func(n *nook) string { // a file, where a folder would have to be
		n.write(filepath.Join(n.home, "file"), "")
		return filepath.Join(n.home, "file", "share")
	}
	t.Run("by default", func(t *testing.T) {
		n := newNook(t).reach(newSite(t, ""))
		n.Env = append(n.Env, "XDG_DATA_HOME="+below(n))
		a := n.open()
		if len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "kept in memory only") || !strings.Contains(a.Notes[0], "DIPPER_HOME") || a.Place() != "memory" {
			t.Errorf("%s, notes %q", a.Place(), a.Notes)
		}
		fetch(t, a, dipper.Request{URL: lamps})
		if _, ok := a.keeper().(*scratch); !ok {
			t.Errorf("bodies go to %v", a.keeper())
		}
	})
	t.Run("no home", func(t *testing.T) {
		n := newNook(t)
		n.Env = nil
		if a := n.open(); len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "no home folder") {
			t.Errorf("notes %q", a.Notes)
		}
	})
	for name, set := range map[string]func(n *nook){
		"named by DIPPER_HOME": func(n *nook) { n.Env = append(n.Env, "DIPPER_HOME="+below(n)) },
		"named by cache.store": func(n *nook) {
			n.Env = append(n.Env, "XDG_DATA_HOME="+below(n))
			n.user("cache: { store: sqlite }\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNook(t)
			set(n)
			if a := n.open(); len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "state folder") || a.Place() != "memory" {
				t.Errorf("%s, notes %q", a.Place(), a.Notes)
			}
		})
	}
}

// TestHomesThatCannotBeMade: nothing is kept there, so nothing is lost, and what is
// said is no text of Go's.
func TestHomesThatCannotBeMade(t *testing.T) {
	for name, home := range map[string]string{"no such place": "/proc/nope", "a device": "/dev/null/x"} {
		t.Run(name, func(t *testing.T) {
			n := newNook(t).reach(newSite(t, ""))
			n.Env = append(n.Env, "DIPPER_HOME="+home)
			a := n.open()
			notes := strings.Join(a.Notes, " ")
			if !strings.Contains(notes, home+" cannot be made") || !strings.Contains(notes, "memory only") || strings.Contains(notes, "mkdir") || strings.Contains(notes, "stat ") {
				t.Errorf("notes %q", notes)
			}
			fetch(t, a, dipper.Request{URL: lamps, Session: "tea", NamedBy: permit.Person})
		})
	}
}

// TestLibraryThatCannotBeOpened: what was answered counts, or nothing is read.
func TestLibraryThatCannotBeOpened(t *testing.T) {
	n := newNook(t).reach(newSite(t, ""))
	a := n.open()
	if err := a.RememberRule(t.Context(), permit.Deny, "domain:secret.example.org"); err != nil {
		t.Fatal(err)
	}
	path := a.Place()
	a.Close()
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	n.write(filepath.Join(path+".lock", "inside"), "a folder where the lock would be")
	b := n.open()
	if notes := strings.Join(b.Notes, " "); b.Place() != "memory" || !strings.Contains(notes, "what was answered before counts") {
		t.Errorf("%s, notes %q", b.Place(), notes)
	}
	wantFault(t, b, dipper.Request{URL: "http://secret.example.org/"}, "denied/rule")
	fetch(t, b, dipper.Request{URL: lamps})
	if err := b.RememberRule(t.Context(), permit.Deny, "domain:other.example"); err == nil {
		t.Error("a rule was remembered in memory only")
	}
	if _, err := b.ForgetRule(t.Context(), "domain:secret.example.org"); err == nil {
		t.Error("a rule is said not to be there")
	}
	n.write(path, strings.Repeat("no library at all ", 1000))
	if f := n.fails(); f.Kind != fault.Internal {
		t.Errorf("got %v", f)
	}
}

// TestHeldLibrary: pages are fetched all the same, and the note says who is in the way.
func TestHeldLibrary(t *testing.T) {
	n := newNook(t).reach(newSite(t, ""))
	heard := &ears{}
	a := n.openWith(Doors{Recorder: heard})
	other, err := sql.Open("sqlite", a.Place())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	seen := &shared{here: permit.NewLedger(), disk: a.db.Seen("tea"), note: a.note}
	if err := seen.Add(t.Context(), permit.FromUser, "k"); err != nil {
		t.Error(err)
	}
	if has, err := seen.Has(t.Context(), "k"); !has || err != nil {
		t.Errorf("has %t, %v", has, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := a.Library.Put(ctx, cache.Entry{Key: "k", URL: "k"}); err == nil || !strings.Contains(fault.From(err).Detail, "another process holds it; the page was not kept") {
		t.Errorf("got %v", err)
	}
	if said := heard.notes(); !strings.Contains(said, "another process holds it") || strings.Contains(said, "timeout") {
		t.Errorf("notes %q", said)
	}
}

// TestLibraryIsDamaged: it is set aside, and that is said.
func TestLibraryIsDamaged(t *testing.T) {
	n := newNook(t).reach(newSite(t, ""))
	a := n.open()
	fetch(t, a, dipper.Request{URL: lamps})
	path := a.Place()
	a.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < len(text); i++ {
		text[i] = 0xAA
	}
	n.write(path, string(text))
	b := n.open()
	if len(b.Notes) != 1 || !strings.Contains(b.Notes[0], "set aside") && !strings.Contains(b.Notes[0], "damaged") {
		t.Errorf("notes %q", b.Notes)
	}
	fetch(t, b, dipper.Request{URL: lamps})
}

// TestLibraryIsSomethingElse: a file that is no library is neither used nor touched.
func TestLibraryIsSomethingElse(t *testing.T) {
	n := newNook(t)
	path := filepath.Join(n.load().DataDir, "library.db")
	n.write(filepath.Join(path, "inside"), "a folder of that name")
	f := n.fails()
	if f.Kind != fault.Internal || !strings.Contains(f.Detail, path) {
		t.Errorf("got %v", f)
	}
	if text, err := os.ReadFile(filepath.Join(path, "inside")); err != nil || len(text) == 0 {
		t.Errorf("%q, %v", text, err)
	}
}
