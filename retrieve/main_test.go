// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // net/http quotes there what broken servers send
	goleak.VerifyTestMain(m)
}

const pageText = "<!doctype html><title>Quay</title><p>The ferry leaves from MOORING-5 at noon.</p>"

// quick are deadlines that a test can wait for.
var quick = Timeouts{Connect: 300 * time.Millisecond, Headers: 350 * time.Millisecond, Idle: 200 * time.Millisecond, Total: 900 * time.Millisecond}

// slack is what an overloaded machine may add to a deadline. It stays far below the
// standard deadlines, which a test that waits in vain would run into.
const slack = 5 * time.Second

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// names is a resolver with fixed answers; a name it does not hold does not exist.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	var out []netip.Addr
	for _, s := range n[strings.TrimSuffix(host, ".")] {
		out = append(out, netip.MustParseAddr(s))
	}
	if out == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return out, nil
}

func newGuard(t testing.TB, o guard.Options) *guard.Guard {
	t.Helper()
	if o.Allow == nil {
		o.Allow = loopback
	}
	if o.Resolver == nil {
		o.Resolver = names{}
	}
	g, err := guard.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func newHTTP(t testing.TB, o Options) *HTTP {
	t.Helper()
	if o.Guard == nil {
		o.Guard = newGuard(t, guard.Options{})
	}
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func target(t testing.TB, raw string) check.Target {
	t.Helper()
	to, err := check.Parse(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return to
}

func get(t testing.TB, h *HTTP, raw string) (Page, error) {
	t.Helper()
	return h.Get(t.Context(), Request{Target: target(t, raw)})
}

// want checks a failure against "kind" or "kind/cause"; "" is success.
func want(t testing.TB, err error, name string) {
	t.Helper()
	if got := failure(err); got != name {
		t.Fatalf("got %q (%v), want %q", got, err, name)
	}
}

func failure(err error) string {
	var f *fault.Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &f):
		return "no fault: " + err.Error()
	case f.Cause == "":
		return string(f.Kind)
	}
	return string(f.Kind) + "/" + string(f.Cause)
}

// tcp is a server that is played byte by byte.
type tcp struct {
	net.Listener
	url   string
	conns atomic.Int64
	asked atomic.Int64 // requests whose head was read
	sent  atomic.Int64
	wg    sync.WaitGroup
	mu    sync.Mutex
	heads []string
	open  map[net.Conn]bool
}

// listen plays each connection with play, which gets the connection's number.
func listen(t testing.TB, play func(s *tcp, c net.Conn, n int)) *tcp {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &tcp{Listener: l, url: "http://" + l.Addr().String(), open: map[net.Conn]bool{}}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if raw, ok := c.(*net.TCPConn); ok {
				_ = raw.SetWriteBuffer(64 << 10)
			}
			n := int(s.conns.Add(1)) - 1
			s.track(c, true)
			s.wg.Go(func() {
				defer s.track(c, false)
				defer c.Close()
				play(s, c, n)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.mu.Lock()
		for c := range s.open {
			c.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

func (s *tcp) track(c net.Conn, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on {
		s.open[c] = true
	} else {
		delete(s.open, c)
	}
}

// head reads one request and gives its lines, "" at the end of the connection.
func (s *tcp) head(br *bufio.Reader) string {
	var b strings.Builder
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			return ""
		}
		if line == "\r\n" {
			s.asked.Add(1)
			s.mu.Lock()
			s.heads = append(s.heads, b.String())
			s.mu.Unlock()
			return b.String()
		}
		b.WriteString(line)
	}
}

func (s *tcp) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.heads...)
}

// put writes and reports whether the other side still listens.
func (s *tcp) put(c net.Conn, text string) bool {
	n, err := c.Write([]byte(text))
	s.sent.Add(int64(n))
	return err == nil
}

// silent waits until the other side goes.
func silent(c net.Conn) {
	b := make([]byte, 4096)
	for {
		if _, err := c.Read(b); err != nil {
			return
		}
	}
}

// says answers every request on a connection with the same bytes and closes it.
func says(answer string) func(*tcp, net.Conn, int) {
	return func(s *tcp, c net.Conn, _ int) {
		if s.head(bufio.NewReader(c)) != "" {
			s.put(c, answer)
		}
	}
}

// page is a whole answer with a length.
func page(status, body string, headers ...string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), lines(headers), body)
}

// open is the head of an answer without a length.
func open(headers ...string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + lines(headers) + "\r\n"
}

func lines(headers []string) string {
	if len(headers) == 0 {
		return ""
	}
	return strings.Join(headers, "\r\n") + "\r\n"
}

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// moving is a handler that redirects with a status.
func moving(status int, to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(status)
	}
}
