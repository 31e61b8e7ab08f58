// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/dipper-web/dipper/internal/guard"
)

// drip sends first, then one byte every gap.
func drip(first, text string, gap time.Duration) func(*tcp, net.Conn, int) {
	return func(s *tcp, c net.Conn, _ int) {
		s.head(bufio.NewReader(c))
		s.put(c, first)
		for i := 0; s.put(c, text[i%len(text):][:1]); i++ {
			time.Sleep(gap)
		}
	}
}

func TestDeadlines(t *testing.T) {
	for _, row := range []struct {
		name       string
		play       func(*tcp, net.Conn, int)
		fails, cut string
		least      time.Duration
		most       time.Duration
	}{
		{"silence", func(_ *tcp, c net.Conn, _ int) { silent(c) }, "timeout/headers", "", quick.Headers, quick.Headers},
		{"header byte by byte", drip("", open()+strings.Repeat("X-A: b\r\n", 100), 50*time.Millisecond), "timeout/headers", "", quick.Headers, quick.Headers},
		{"body stands still", func(s *tcp, c net.Conn, _ int) { s.put(c, open()+"begin"); silent(c) }, "", "idle", quick.Idle, quick.Idle},
		{"body never comes", func(s *tcp, c net.Conn, _ int) { s.put(c, open()); silent(c) }, "timeout/idle", "", quick.Idle, quick.Idle},
		{"body just fast enough", drip(open(), "x", quick.Idle/10), "", "total", quick.Total, quick.Total},
		{"coded body without text", drip(open("Content-Encoding: gzip")+"\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xff", "n", quick.Idle/10), "timeout/total", "", quick.Total, quick.Total},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := listen(t, row.play)
			start := time.Now()
			p, err := get(t, newHTTP(t, Options{Timeouts: quick}), s.url+"/p")
			took := time.Since(start)
			want(t, err, row.fails)
			if p.Cut != row.cut {
				t.Errorf("cut %q, want %q", p.Cut, row.cut)
			}
			if took < row.least || took > row.most+slack {
				t.Errorf("took %v, want %v", took, row.most)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = get(t, newHTTP(t, Options{}), "http://"+l.Addr().String()+"/p")
	want(t, err, "unreachable/connect")
}

func TestCanceled(t *testing.T) {
	for _, row := range []struct{ name, head string }{{"before the header", ""}, {"inside the body", open() + "some text"}} {
		t.Run(row.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := listen(t, func(s *tcp, c net.Conn, _ int) {
				s.head(bufio.NewReader(c))
				s.put(c, row.head)
				time.AfterFunc(50*time.Millisecond, cancel)
				silent(c)
			})
			h := newHTTP(t, Options{})
			start := time.Now()
			_, err := h.Get(ctx, Request{Target: target(t, s.url+"/p")})
			want(t, err, "canceled")
			if took := time.Since(start); took > slack {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestCallersDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	s := listen(t, func(_ *tcp, c net.Conn, _ int) { silent(c) })
	_, err := newHTTP(t, Options{}).Get(ctx, Request{Target: target(t, s.url+"/p")})
	want(t, err, "timeout/total")
}

// One silent path does not hold up another.
func TestSilentPathDisturbsNobody(t *testing.T) {
	s := listen(t, func(s *tcp, c net.Conn, _ int) {
		if head := s.head(bufio.NewReader(c)); strings.HasPrefix(head, "GET /silent") {
			silent(c)
			return
		}
		s.put(c, page("200 OK", "still here"))
	})
	h := newHTTP(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { _, err := h.Get(ctx, Request{Target: target(t, s.url+"/silent")}); done <- err }()
	eventually(t, func() bool { return s.asked.Load() == 1 })
	p, err := get(t, h, s.url+"/fine")
	want(t, err, "")
	if string(p.Body) != "still here" || len(done) != 0 {
		t.Errorf("%q, and the silent path had its end first: %v", p.Body, len(done) != 0)
	}
	cancel()
	want(t, <-done, "canceled")
}

// slowNames answers when the lookup is given up.
type slowNames struct{}

func (slowNames) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestSlowLookup(t *testing.T) {
	h := newHTTP(t, Options{Guard: newGuard(t, guard.Options{Resolver: slowNames{}}), Timeouts: quick})
	start := time.Now()
	_, err := get(t, h, "https://slow.example/")
	want(t, err, "timeout/connect")
	if took := time.Since(start); took > quick.Connect+slack {
		t.Errorf("took %v", took)
	}
}
