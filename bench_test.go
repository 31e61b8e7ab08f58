// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/internal/webtest"
	"github.com/dipper-web/dipper/permit"
)

// largePage is a reference page of about 300 KB of HTML: sections, paragraphs with
// links and code, tables.
func largePage() string {
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=en><head><title>Reference of the harbour</title><style>p{margin:0}</style></head><body>" +
		"<nav><ul><li><a href=/>Home</a><li><a href=/all>All</a></ul></nav><main><h1 id=top>Reference of the harbour</h1>\n")
	for i := 0; b.Len() < 300_000; i++ {
		fmt.Fprintf(&b, "<h2 id=s%d>Mooring %d</h2>\n", i, i)
		for j := range 6 {
			fmt.Fprintf(&b, "<p>Mooring %d lies <em>%d metres</em> north of the old quay; see <a href=\"/m/%d#%d\">its sheet</a>, and call <code>moor(%d)</code> before you come. "+
				"Boats longer than %d metres ask the office, which answers from seven to noon.</p>\n", i, i*j, i, j, j, i+j)
		}
		fmt.Fprintf(&b, "<table><tr><th>Depth<th>Width</tr><tr><td>%d m<td>%d m</tr></table>\n<pre><code>depth %d\nwidth %d\n</code></pre>\n", i%9, i%7, i, i)
	}
	b.WriteString("</main></body></html>")
	return b.String()
}

// bench is a house with the large page on n hosts, without a Recorder.
func bench(b *testing.B, hosts int) *house {
	b.Helper()
	h := newHouse(b)
	h.opts.Recorder, h.opts.Pages = nil, nil
	p := webtest.Page{Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: largePage()}
	for i := range hosts {
		h.web.Handle(fmt.Sprintf("https://h%d.example/page", i), p)
	}
	return h.open()
}

func (h *house) run(b *testing.B, r dipper.Request) {
	b.Helper()
	r.NamedBy = permit.Person
	ans, err := h.Fetch(b.Context(), r)
	if err != nil || ans.Outcome != dipper.OK || ans.Result == "" {
		b.Fatalf("%+v, %v", ans, err)
	}
}

// BenchmarkKeptPage reads a page of 300 KB that is kept.
func BenchmarkKeptPage(b *testing.B) {
	for _, r := range []dipper.Request{
		{Mode: dipper.ModeMarkdown},
		{Mode: dipper.ModeExtract, Prompt: "How wide is mooring 17, and whom does a long boat ask?"},
	} {
		b.Run(string(r.Mode), func(b *testing.B) {
			h := bench(b, 1)
			r.URL = "https://h0.example/page"
			h.run(b, r)
			b.ReportAllocs()
			for b.Loop() {
				h.run(b, r)
			}
		})
	}
}

// BenchmarkColdFetch reads a page of 300 KB that is not kept over TLS on loopback,
// on a connection that is there already and on a new one, beside a bare client of
// net/http that reads the same body.
func BenchmarkColdFetch(b *testing.B) {
	for _, fresh := range []bool{false, true} {
		name := map[bool]string{false: "reused-connection", true: "new-connection"}[fresh]
		b.Run(name+"/net-http", func(b *testing.B) {
			h := bench(b, 1)
			client := bare(h)
			defer client.CloseIdleConnections()
			for i := 0; b.Loop(); i++ {
				if fresh {
					client.CloseIdleConnections()
				}
				download(b, client, fmt.Sprintf("https://h0.example/page?%d", i))
			}
		})
		b.Run(name+"/dipper", func(b *testing.B) {
			h := bench(b, 1)
			for i := 0; b.Loop(); i++ {
				if fresh {
					h.wire.Close()
				}
				h.run(b, dipper.Request{URL: fmt.Sprintf("https://h0.example/page?%d", i)})
				h.web.Asked()
			}
		})
	}
}

// bare is a client of net/http for the false web.
func bare(h *house) *http.Client {
	to := h.web.Resolve()["h0.example:443"]
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: h.web.Roots()},
		ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, to)
		},
	}}
}

func download(b *testing.B, client *http.Client, url string) {
	b.Helper()
	resp, err := client.Get(url)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		b.Fatal(err)
	}
}

// Benchmark200AtOnce fetches 200 pages of 300 KB from 50 hosts at once, and tells
// the largest live heap on the way. The server's part of it is included.
func Benchmark200AtOnce(b *testing.B) {
	const hosts, each = 50, 4
	h := bench(b, hosts)
	for i := range hosts { // certificates and connections are not what is measured
		h.run(b, dipper.Request{URL: fmt.Sprintf("https://h%d.example/page", i)})
	}
	runtime.GC()
	peak := watchHeap()
	round := 0
	for b.Loop() {
		round++
		var all sync.WaitGroup
		for n := range hosts * each {
			all.Go(func() {
				url := fmt.Sprintf("https://h%d.example/page?%d-%d", n%hosts, round, n)
				ans, err := h.Fetch(b.Context(), dipper.Request{URL: url, Prompt: "How wide is mooring 17?", NamedBy: permit.Person})
				if err != nil || ans.Outcome != dipper.OK {
					b.Errorf("%+v, %v", ans, err)
				}
			})
		}
		all.Wait()
		h.web.Asked()
	}
	b.ReportMetric(float64(peak())/(1<<20), "peak-heap-MB")
}

// watchHeap samples the heap until the function that it returns is called, which
// gives the largest value seen.
func watchHeap() (stop func() uint64) {
	quit, result := make(chan struct{}), make(chan uint64)
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		most := uint64(0)
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-quit:
				result <- most
				return
			}
		}
	}()
	return func() uint64 { close(quit); return <-result }
}
