// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
)

func TestConsents(t *testing.T) {
	path := libraryPath(t)
	d := open(t, path, Options{})
	c := d.Consents()
	if all, err := c.Recall(t.Context()); err != nil || len(all) != 0 {
		t.Fatalf("Recall = %v, %v, want nothing", all, err)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	allow := permit.Remembered{Kind: permit.Allow, Rule: "domain:docs.example", At: at}
	deny := permit.Remembered{Kind: permit.Deny, Rule: "domain:ads.example", At: at.Add(time.Minute)}
	changed := permit.Remembered{Kind: permit.Deny, Rule: allow.Rule, At: at.Add(time.Hour)}
	for _, r := range []permit.Remembered{allow, deny, changed} {
		if err := c.Remember(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	d.Close()
	c = open(t, path, Options{}).Consents()
	if all, err := c.Recall(t.Context()); err != nil || !slices.Equal(all, []permit.Remembered{deny, changed}) {
		t.Errorf("Recall = %v, %v, want %v", all, err, []permit.Remembered{deny, changed})
	}
	for rule, want := range map[string]bool{"domain:nobody.example": false, deny.Rule: true} {
		if had, err := c.Forget(t.Context(), rule); had != want || err != nil {
			t.Errorf("Forget(%q) = %v, %v, want %v", rule, had, err, want)
		}
	}
	if all, err := c.Recall(t.Context()); err != nil || !slices.Equal(all, []permit.Remembered{changed}) {
		t.Errorf("Recall = %v, %v, want %v", all, err, changed)
	}
}

func TestDamagedAnswerIsAFailure(t *testing.T) {
	path := closedLibrary(t)
	raw(t, path, "UPDATE consents SET kind = 'allow'")
	d := open(t, path, Options{})
	all, err := d.Consents().Recall(t.Context())
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Internal || f.Advice == "" {
		t.Fatalf("Recall = %v, %v, want a failure with advice", all, err)
	}
	if had, err := d.Consents().Forget(t.Context(), "domain:bad.example"); !had || err != nil {
		t.Fatalf("Forget = %v, %v", had, err)
	}
	if _, err := d.Consents().Recall(t.Context()); err != nil {
		t.Errorf("Recall after Forget = %v", err)
	}
}

func TestSeen(t *testing.T) {
	d := open(t, libraryPath(t), Options{})
	one, two := d.Seen("one"), d.Seen("two")
	if err := one.Add(t.Context(), "user"); err != nil {
		t.Fatal(err)
	}
	if err := one.Add(t.Context(), "search", "https://a.example/", "https://b.example/", "https://a.example/"); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		seen permit.Seen
		key  string
		want bool
	}{
		{"added", one, "https://a.example/", true},
		{"added too", one, "https://b.example/", true},
		{"never added", one, "https://c.example/", false},
		{"another session's", two, "https://a.example/", false},
		{"the same session, opened again", d.Seen("one"), "https://a.example/", true},
	}
	for _, tt := range tests {
		if got, err := tt.seen.Has(t.Context(), tt.key); got != tt.want || err != nil {
			t.Errorf("%s: Has = %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}

func TestSeenIsBounded(t *testing.T) {
	d := open(t, libraryPath(t), Options{})
	s := d.Seen("long")
	keys := func(prefix string, n int) []string {
		var ks []string
		for i := range n {
			ks = append(ks, fmt.Sprintf("https://%s.example/%d", prefix, i))
		}
		return ks
	}
	add := func(origin string, ks ...string) {
		t.Helper()
		if err := s.Add(t.Context(), origin, ks...); err != nil {
			t.Fatal(err)
		}
	}
	add("user", "https://typed.example/")
	add("page", "https://typed.example/") // a page that links it does not make it a mere link
	add("page", keys("old", 100)...)
	add("page", keys("new", maxSeen-1)...)
	var n int
	if err := d.pool.QueryRow("SELECT count(*) FROM seen").Scan(&n); err != nil || n != maxSeen {
		t.Errorf("%d URLs are remembered, %v, want %d", n, err, maxSeen)
	}
	for key, want := range map[string]bool{"https://typed.example/": true, "https://old.example/0": false, "https://new.example/0": true} {
		if got, err := s.Has(t.Context(), key); got != want || err != nil {
			t.Errorf("Has(%s) = %v, %v, want %v", key, got, err, want)
		}
	}
}

func TestSeenOfLongAgoEnds(t *testing.T) {
	d := open(t, libraryPath(t), Options{})
	if err := d.Seen("old").Add(t.Context(), "user", "https://a.example/"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.pool.Exec("UPDATE seen SET at = ?", time.Now().AddDate(0, 0, -seenDays-1).UnixMicro()); err != nil {
		t.Fatal(err)
	}
	if err := d.Seen("new").Add(t.Context(), "user", "https://b.example/"); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Seen("old").Has(t.Context(), "https://a.example/"); got || err != nil {
		t.Errorf("Has = %v, %v, want it gone", got, err)
	}
}

func TestPauses(t *testing.T) {
	path := libraryPath(t)
	d := open(t, path, Options{})
	p := d.Pauses()
	now := time.Now().UTC().Truncate(time.Microsecond)
	set := func(host string, until time.Time) {
		t.Helper()
		if err := p.Pause(t.Context(), host, until); err != nil {
			t.Fatal(err)
		}
	}
	set("a.example:443", now.Add(5*time.Minute))
	set("a.example:443", now.Add(time.Minute)) // the later end stands
	set("over.example:443", now.Add(-time.Second))
	set("long.example:443", now.Add(24*time.Hour))
	other := open(t, path, Options{}).Pauses() // another process sees them
	for host, want := range map[string]time.Time{"a.example:443": now.Add(5 * time.Minute), "a.example:8443": {}, "over.example:443": {}} {
		if got, err := other.Until(t.Context(), host); !got.Equal(want) || err != nil {
			t.Errorf("Until(%s) = %v, %v, want %v", host, got, err, want)
		}
	}
	if got, err := other.Until(t.Context(), "long.example:443"); err != nil || time.Until(got) > maxPause || time.Until(got) < maxPause-time.Minute {
		t.Errorf("Until(long) = %v, %v, want fifteen minutes from now", got, err)
	}
	// The clock was set back by a day: the pause counts for nothing, and the next
	// one takes its place.
	if _, err := d.pool.Exec("UPDATE pauses SET until = until + 86400000000"); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Until(t.Context(), "a.example:443"); !got.IsZero() || err != nil {
		t.Errorf("Until = %v, %v, want no pause", got, err)
	}
	set("a.example:443", now.Add(time.Minute))
	if got, err := p.Until(t.Context(), "a.example:443"); !got.Equal(now.Add(time.Minute)) || err != nil {
		t.Errorf("Until = %v, %v, want a minute", got, err)
	}
	var n int
	if err := d.pool.QueryRow("SELECT count(*) FROM pauses").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows are left, %v, want 1", n, err)
	}
}

// TestAnswersWithoutOpening: they are all read, or none.
func TestAnswersWithoutOpening(t *testing.T) {
	path := closedLibrary(t, page("a.example", 10))
	if all, err := Answers(t.Context(), path); err != nil || len(all) != 1 || all[0].Kind != permit.Deny {
		t.Errorf("Answers = %v, %v", all, err)
	}
	raw(t, path, "UPDATE consents SET kind = 'allow'")
	if all, err := Answers(t.Context(), path); err == nil || all != nil {
		t.Errorf("Answers = %v, %v, want an error", all, err)
	}
	if all, err := Answers(t.Context(), path+".none"); err == nil || all != nil {
		t.Errorf("Answers = %v, %v, want an error", all, err)
	}
}
