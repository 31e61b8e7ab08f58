// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/internal/guard"
)

func TestConditional(t *testing.T) {
	h := web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"v1"` || r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Last-Modified", "Sun, 01 Mar 2026 12:00:00 GMT")
		fmt.Fprint(w, "text")
	}), nil, Options{})
	to := target(t, "http://site.example/p")
	first, err := h.Get(t.Context(), Request{Target: to})
	want(t, err, "")
	if first.ETag != `"v1"` || first.LastModified == "" || first.NotModified {
		t.Errorf("first: %+v", first)
	}
	for _, r := range []Request{{Target: to, ETag: first.ETag}, {Target: to, LastModified: first.LastModified}} {
		p, err := h.Get(t.Context(), r)
		want(t, err, "")
		if !p.NotModified || p.Status != 304 || len(p.Body) != 0 {
			t.Errorf("again: %+v", p)
		}
	}
	// A validator that would break the header is not sent.
	p, err := h.Get(t.Context(), Request{Target: to, ETag: "\"v1\"\r\nX: y"})
	want(t, err, "")
	if string(p.Body) != "text" {
		t.Errorf("body %q", p.Body)
	}
}

func TestHeaders(t *testing.T) {
	for _, row := range []struct {
		name, value string
		noStore     bool
	}{
		{"Cache-Control", "private, max-age=0", false},
		{"Cache-Control", "no-cache, No-Store", true},
		{"Cache-Control", "x-no-store", false},
		{"Vary", "Accept, Accept-Encoding", false},
		{"Vary", "Accept, *", true},
	} {
		h := web(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set(row.name, row.value) }), nil, Options{})
		p, err := get(t, h, "http://site.example/")
		want(t, err, "")
		if p.NoStore != row.noStore {
			t.Errorf("%s: %s gives %v", row.name, row.value, p.NoStore)
		}
	}
}

func TestStatusText(t *testing.T) {
	for _, row := range []struct {
		status int
		sent   string
		want   string
	}{{200, "Fine", "OK"}, {404, "", "Not Found"}, {999, "Go\x1b[31m away\x07", "Go[31m away"}, {799, strings.Repeat("x", 100), strings.Repeat("x", phraseLimit)}, {599, "", ""}} {
		if got := statusText(row.status, row.sent); got != row.want {
			t.Errorf("%d %q: %q, want %q", row.status, row.sent, got, row.want)
		}
	}
}

func TestProgress(t *testing.T) {
	h := web(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 200_000)) }), nil, Options{})
	var last int64
	p, err := h.Get(t.Context(), Request{Target: target(t, "http://site.example/"), Progress: func(n int64) {
		if n <= last {
			t.Errorf("%d after %d", n, last)
		}
		last = n
	}})
	want(t, err, "")
	if last != 200_000 || p.WireBytes != last {
		t.Errorf("last %d, page %d", last, p.WireBytes)
	}
}

func TestAcceptAndAgent(t *testing.T) {
	var got http.Header
	h := web(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }), nil, Options{UserAgent: "Reader/1.0"})
	_, err := h.Get(t.Context(), Request{Target: target(t, "http://site.example/"), Accept: "text/plain"})
	want(t, err, "")
	if got.Get("Accept") != "text/plain" || got.Get("User-Agent") != "Reader/1.0" {
		t.Errorf("sent %v", got)
	}
}

func TestNew(t *testing.T) {
	g := newGuard(t, guard.Options{})
	public := Reach{Allow: []netip.Prefix{netip.MustParsePrefix("192.0.0.0/2")}}
	for _, o := range []Options{{Reach: public}, {Guard: g, Upgrade: "sometimes"}, {Guard: g, UserAgent: "a\r\nb"}} {
		_, err := New(o)
		want(t, err, "invalid")
	}
	_, err := newHTTP(t, Options{}).Get(t.Context(), Request{Target: check.Target{}})
	want(t, err, "invalid")
	h, err := New(Options{Reach: Reach{Resolve: map[string]string{"site.example:443": "127.0.0.1"}}})
	want(t, err, "")
	defer h.Close()
	if !h.Declared("site.example", 443) || h.Declared("site.example", 80) || h.MayReach(netip.MustParseAddr("127.0.0.1")) {
		t.Error("the guard is not made from Reach")
	}
}
