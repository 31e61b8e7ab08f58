// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/dipper-web/dipper/internal/app"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// web is a site with one page of every kind. Its hang ends with the test.
func web(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(path, kind, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, body)
		})
	}
	serve("/page", "text/html; charset=utf-8", `<!doctype html><title>Tides</title><main><h1>Tides</h1><p>The tide is highest when moon and sun stand in one line. See <a href="/next">the next page</a> for more.</p></main>`)
	serve("/next", "text/html; charset=utf-8", `<!doctype html><title>Next</title><main><h1>Next</h1><p>The next page says that a neap tide is the lowest of a month.</p></main>`)
	serve("/picture", "image/png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"+strings.Repeat("\x00\x01", 50))
	serve("/long", "text/html; charset=utf-8", longPage())
	serve("/long.md", "text/markdown; charset=utf-8", "# Long\n\n"+strings.Repeat("A line of \"Markdown\" that says something of tides, ships & harbours.\n\n", 900))
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/", http.StatusMovedPermanently)
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "short and stout")
	})
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := httptest.NewServer(mux)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// longPage has many sections; its quotation marks and line ends cost most in JSON.
func longPage() string {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Long</title><main><h1>Long</h1>")
	for i := range 400 {
		fmt.Fprintf(&b, "<h2 id=s%d>Section %d of the harbour book</h2><p>The harbour master wrote \"number %d\" into the book, and then he wrote of tides &amp; ships.</p><pre>a = \"b\"\n\tc = \"d\"\n</pre>", i, i, i)
	}
	return b.String() + "</main>"
}

// options are those of dipper mcp with the given settings on top.
func options(t *testing.T, settings ...string) Options {
	t.Helper()
	env := []string{"DIPPER_NETWORK_ALLOW=127.0.0.0/8", "DIPPER_NETWORK_PROXY=off", "DIPPER_CACHE_STORE=mem", "DIPPER_PREFLIGHT_ROBOTS=ignore",
		"DIPPER_MODEL_PROVIDER=none", "DIPPER_HOME=" + t.TempDir(), "DIPPER_PERMISSIONS_DEFAULT=allow"}
	l, err := app.Load(app.Source{Env: append(settings, env...)})
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), l, app.Doors{MaxTotal: MaxTotal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return Options{Client: a.Client, Version: "test"}
}

// wire is the client's end of a running server.
type wire struct {
	in    io.WriteCloser
	out   *io.PipeReader
	ended chan error
}

// start runs a server on pipes.
func start(t *testing.T, o Options) *wire {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	w := &wire{in: inWrite, out: outRead, ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		err := ServeStdio(ctx, o, inRead, outWrite)
		outWrite.Close()
		w.ended <- err
	}()
	t.Cleanup(func() { cancel(); inWrite.Close(); outRead.Close(); inRead.Close() })
	return w
}

// connect gives a client of the SDK, of a revision of the protocol.
func connect(t *testing.T, o Options, revision string) *mcp.ClientSession {
	t.Helper()
	w := start(t, o)
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := c.Connect(t.Context(), &mcp.IOTransport{Reader: w.out, Writer: w.in}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
