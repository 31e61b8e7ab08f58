// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/internal/guard"
)

// A page of common size over a new TLS connection, beside net/http without a guard,
// limits or codings other than gzip.
func BenchmarkCold(b *testing.B) {
	a := newAuthority(b)
	text := strings.Repeat("<p>The ferry leaves at noon.</p>\n", 2000)
	for _, version := range []int{1, 2} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }))
		s.TLS = a.config(b, tomorrow(), "127.0.0.1")
		s.EnableHTTP2 = version == 2
		s.StartTLS()
		b.Cleanup(s.Close)
		b.Run(fmt.Sprintf("retrieve/HTTP%d", version), func(b *testing.B) {
			to := target(b, s.URL+"/")
			g := newGuard(b, guard.Options{})
			b.ReportAllocs()
			for b.Loop() {
				h, err := New(Options{Guard: g, Roots: a.pool()})
				if err != nil {
					b.Fatal(err)
				}
				p, err := h.Get(b.Context(), Request{Target: to})
				if err != nil || len(p.Body) != len(text) {
					b.Fatal(len(p.Body), err)
				}
				h.Close()
			}
		})
		b.Run(fmt.Sprintf("bare/HTTP%d", version), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.pool()}, ForceAttemptHTTP2: true}
				resp, err := (&http.Client{Transport: t}).Get(s.URL)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, resp.Body); err != nil || int(n) != len(text) {
					b.Fatal(n, err)
				}
				resp.Body.Close()
				t.CloseIdleConnections()
			}
		})
	}
}

// The same page again and again, on a connection that waits.
func BenchmarkWarm(b *testing.B) {
	s := listen(b, answerAll(page("200 OK", strings.Repeat(pageText, 100))))
	h := newHTTP(b, Options{})
	to := target(b, s.url+"/")
	b.Run("retrieve", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := h.Get(b.Context(), Request{Target: to}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		t := &http.Transport{}
		defer t.CloseIdleConnections()
		b.ReportAllocs()
		for b.Loop() {
			resp, err := (&http.Client{Transport: t}).Get(s.url)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadAll(resp.Body); err != nil {
				b.Fatal(err)
			}
			resp.Body.Close()
		}
	})
}
