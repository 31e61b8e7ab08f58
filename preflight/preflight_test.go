// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func target(t testing.TB, raw string) check.Target {
	t.Helper()
	got, err := check.Limits{Declared: func(string, int) bool { return true }}.Parse(raw)
	if err != nil {
		t.Fatalf("Parse(%q): %v", raw, err)
	}
	return got
}

// name spells an error as kind/cause.
func name(err error) string {
	if err == nil {
		return ""
	}
	e := fault.From(err)
	if e.Cause == "" {
		return string(e.Kind)
	}
	return string(e.Kind) + "/" + string(e.Cause)
}

// saying gives a Checker with one answer, and counts how often it is asked.
func saying(asked *int, c Clearance, err error) Checker {
	return CheckerFunc(func(context.Context, Ask) (Clearance, error) {
		*asked++
		return c, err
	})
}

func TestNoneClearsEverything(t *testing.T) {
	c, err := None().Check(t.Context(), Ask{Target: target(t, "https://example.com/")})
	if err != nil || c.By != "" || c.Reason == "" || c.At.IsZero() {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAllAsksInOrderAndStopsAtTheFirstError(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	blocked := fault.New(fault.Blocked, fault.ByList, "x")
	var first, second, third int
	ask := Ask{Target: target(t, "https://example.com/")}
	c, err := All(saying(&first, Clearance{"a", "list", old}, nil), None(), saying(&second, Clearance{"b", "robots", time.Now()}, nil)).Check(t.Context(), ask)
	if err != nil || c.By != "list, robots" || c.Reason != "a; b" || !c.At.Equal(old) {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = All(saying(&first, Clearance{}, nil), saying(&second, Clearance{}, blocked), saying(&third, Clearance{}, nil)).Check(t.Context(), ask)
	if !errors.Is(err, fault.Blocked) || first != 2 || second != 2 || third != 0 {
		t.Errorf("%v after %d, %d, %d questions", err, first, second, third)
	}
	if _, err := All().Check(t.Context(), ask); err != nil {
		t.Errorf("none to ask: %v", err)
	}
}

func TestUnverifiedIsCanceledOnlyForTheCaller(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for want, ctx := range map[string]context.Context{"canceled": gone, "unverified/remote": late} {
		if err := unverified(ctx, context.Canceled, fault.ByRemote, "x"); name(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestList(t *testing.T) {
	files := map[string]string{
		"lists/hosts": "\ufeff# a hosts file\n127.0.0.1 localhost localhost.localdomain\n::1 ip6-localhost\n0.0.0.0 0.0.0.0\n\n" +
			"0.0.0.0 ads.example two.example # sells names\r\n",
		"lists/plain": "plain.example\n*.below.example\nwith.example # has a reason\n",
		"bare.txt":    "bare.example",
	}
	open := func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no such file")
	}
	l, err := NewList([]string{"example.com", "*.wild.example", "Reason.Example # a trap for crawlers", "ads*.star.example", "10.1.2.3", "2001:db8::1",
		"[2001:db8::2]", "bücher.example", "zip", "0x7f.1", "lists/hosts # from the hosts file", "lists/plain", "bare.txt"}, open)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ url, says string }{ // says "": not blocked
		{"https://example.com/x", "example.com is on the block list (example.com in preflight.block)"},
		{"https://www.example.com/", "www.example.com is on"},
		{"https://a.b.example.com:8443/", "(example.com in"},
		{"https://example.com.evil.example/", ""},
		{"https://evilexample.com/", ""},
		{"https://a.wild.example/", "(*.wild.example in"},
		{"https://wild.example/", ""},
		{"https://reason.example/", ": a trap for crawlers"},
		{"https://ads1.star.example/", "(ads*.star.example in"},
		{"https://star.example/", ""},
		{"http://10.1.2.3/", "10.1.2.3"},
		{"http://0x0a.1.2.3/", "10.1.2.3"},
		{"http://10.1.2.4/", ""},
		{"http://[2001:db8::1]/", "2001:db8::1"},
		{"http://[2001:db8::2]/", "2001:db8::2"},
		{"http://127.0.0.1/", "127.0.0.1"},
		{"https://xn--bcher-kva.example/", "bcher"},
		{"https://any.zip/", "(zip in"},
		{"https://ads.example/", "(ads.example in hosts): sells names"},
		{"https://sub.two.example/", "(two.example in hosts)"},
		{"http://localhost/", ""},
		{"http://0.0.0.0/", ""},
		{"https://plain.example/", "(plain.example in plain)"},
		{"https://x.below.example/", "(*.below.example in plain)"},
		{"https://with.example/", ": has a reason"},
		{"https://bare.example/", "bare.txt"},
		{"https://docs.example/", ""},
	} {
		got, err := l.Check(t.Context(), Ask{Target: target(t, c.url), Person: true})
		switch {
		case c.says == "" && (err != nil || got.By != "list"):
			t.Errorf("%s: %+v, %v", c.url, got, err)
		case c.says != "" && name(err) != "blocked/list":
			t.Errorf("%s: %v", c.url, err)
		case c.says != "" && !strings.Contains(fault.From(err).Detail, c.says):
			t.Errorf("%s: %q does not say %q", c.url, fault.From(err).Detail, c.says)
		}
	}
}

func TestListIsReadWholeOrNotAtAll(t *testing.T) {
	files := map[string][]byte{"./bad": []byte("ok.example\nnot a host!\n"), "./url": []byte("https://example.com/\n"), "./big": make([]byte, maxListFile+1)}
	open := func(path string) ([]byte, error) {
		if data, ok := files[path]; ok {
			return data, nil
		}
		return nil, errors.New("no such file")
	}
	for entry, says := range map[string]string{
		"":                     "empty",
		"# only a reason":      "empty",
		"./none":               "./none",
		"/etc/none.txt":        "/etc/none.txt",
		"./bad":                "./bad:2",
		"./url":                "./url:1",
		"./big":                "32 MiB",
		"https://example.com/": "example.com",
		"exa*mple:x":           "exa*mple:x",
		"exa mple.com":         "exa mple.com",
		"user@example.com":     "user@example.com",
		"example.com:8080":     "example.com:8080",
		"..":                   "..",
		"a..b":                 "a..b",
	} {
		_, err := NewList([]string{"fine.example", entry}, open)
		if name(err) != "invalid" || !strings.Contains(fault.From(err).Detail, says) {
			t.Errorf("%q: %v", entry, err)
		}
	}
}

func TestListFromDisk(t *testing.T) {
	l, err := NewList([]string{"testdata/block.txt"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Check(t.Context(), Ask{Target: target(t, "https://www.tracker.example/")}); name(err) != "blocked/list" {
		t.Errorf("%v", err)
	}
	if _, err := NewList([]string{"testdata/none.txt"}, nil); name(err) != "invalid" {
		t.Errorf("%v", err)
	}
}

func TestLargeListIsFast(t *testing.T) {
	var text strings.Builder
	for i := range 200_000 {
		text.WriteString("0.0.0.0 a")
		text.WriteString(strings.Repeat(string(rune('a'+i%26)), 1+i%7))
		text.WriteString(".tracker")
		text.WriteByte(byte('0' + i%10))
		text.WriteString(".example\n")
	}
	start := time.Now()
	if _, err := NewList([]string{"./large"}, func(string) ([]byte, error) { return []byte(text.String()), nil }); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("200,000 lines took %v", took)
	}
}
