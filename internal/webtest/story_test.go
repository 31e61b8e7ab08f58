// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package webtest

import (
	"fmt"
	"strings"
	"testing"
)

func TestStoriesThatAreNone(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":          "only words\n",
		"no want":          "-- 1 fetch --\nurl: x\n",
		"a gap":            "-- 2 fetch --\nurl: x\n-- 2 want --\noutcome: ok\n",
		"an unknown file":  "-- 1 fetsch --\nurl: x\n",
		"no number":        "-- one fetch --\nurl: x\n",
		"no key":           "-- 1 fetch --\nurl\n-- 1 want --\noutcome: ok\n",
		"a bad direction":  "-- https://a.example/ --\nDelay: soon\n\nx\n-- 1 fetch --\nurl: x\n-- 1 want --\noutcome: ok\n",
		"a bad escape":     "-- https://a.example/ --\nEscapes: yes\n\n\\q\n-- 1 fetch --\nurl: x\n-- 1 want --\noutcome: ok\n",
		"a body for heads": "-- https://a.example/ --\nonly text\n-- 1 fetch --\nurl: x\n-- 1 want --\noutcome: ok\n",
	} {
		if _, err := parseStory(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestParsePage(t *testing.T) {
	p, err := ParsePage("Status: 418\nX-A: 1\nX-A: 2\nRepeat: 2\nEscapes: yes\n\nhead\nline {{n}}\\u200b\n")
	if err != nil || p.Status != 418 || len(p.Header["X-A"]) != 2 || p.Header.Get("Status") != "" || p.Body != "head\nline 1\u200b\nline 2\u200b\n" {
		t.Errorf("%+v, %v", p, err)
	}
}

// recorder is a test that only counts its errors.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestCheck(t *testing.T) {
	got := map[string]any{"a": 1, "b": []any{map[string]any{"c": "x"}, map[string]any{"c": "y z"}}, "n": nil, "t": true, "e": ""}
	for line, holds := range map[string]bool{
		"a: 1": true, "a: 2": false, "a < 2": true, "a < 1": false, "a > 0": true, "a > 1": false, "e < 1": false,
		"b.c: x y z": true, "b.c ~ y": true, "b.c ~ q": false, "b.c !~ q": true, "b.c !~ x": false,
		"gone:": true, "a:": false, "n:": true, "t: true": true, "a.b:": true, "t.b:": true, "b:": true,
	} {
		l, err := ParseLines(line)
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{TB: t}
		Check(r, got, l)
		if (len(r.errors) == 0) != holds {
			t.Errorf("%s: %s", line, strings.Join(r.errors, "; "))
		}
	}
}

func TestWebFindsPagesAndFolders(t *testing.T) {
	w := NewWeb(t)
	w.Handle("https://a.example/x", Page{Body: "x"})
	w.Handle("https://a.example/", Page{Body: "front"})
	w.Handle("http://b.example:8080/dir/", Page{Body: "dir"})
	for at, want := range map[string]string{"https://a.example/x": "x", "https://a.example/": "front", "https://a.example/y": "", "http://a.example/x": "",
		"http://b.example:8080/dir/": "dir", "http://b.example:8080/dir/a/b": "dir", "http://b.example:8080/di": ""} {
		got, _ := w.find(at).(Page)
		if got.Body != want {
			t.Errorf("%s: %q, want %q", at, got.Body, want)
		}
	}
	r := w.Resolve()
	if len(r) != 2 || r["a.example:443"] != w.secure || r["b.example:8080"] != w.plain {
		t.Errorf("names %v", r)
	}
}
