// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"context"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dipper-web/dipper/internal/guard"
)

// A connection serves the next request only after an answer whose end is certain.
func TestReuse(t *testing.T) {
	for _, row := range []struct {
		name, answer string
		conns        int64
	}{
		{"length", page("200 OK", pageText), 1},
		{"chunks", open("Transfer-Encoding: chunked") + chunk(pageText) + "0\r\n\r\n", 1},
		{"chunks with trailers", open("Transfer-Encoding: chunked") + chunk(pageText) + "0\r\nA: b\r\n\r\n", 1},
		{"nothing to read", "HTTP/1.1 204 No Content\r\n\r\n", 1},
		{"coded", page("200 OK", gz(t, pageText), "Content-Encoding: gzip"), 1},
		{"asked to close", page("200 OK", pageText, "Connection: close"), 3},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ntext", 3},
		{"bytes beyond the length", page("200 OK", pageText) + "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nSMUGGLED", 3},
		{"length beside chunks", open("Content-Length: 5", "Transfer-Encoding: chunked") + chunk(pageText) + "0\r\n\r\n", 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := listen(t, answerAll(row.answer))
			h := newHTTP(t, Options{})
			for range 3 {
				p, err := get(t, h, s.url+"/p")
				want(t, err, "")
				if len(p.Body) > len(pageText) {
					t.Errorf("body %q", p.Body)
				}
			}
			if n := s.conns.Load(); n != row.conns {
				t.Errorf("%d connections for three requests, want %d", n, row.conns)
			}
		})
	}
}

// What arrives on a waiting connection is nobody's answer.
func TestUnaskedAnswer(t *testing.T) {
	s := listen(t, func(s *tcp, c net.Conn, n int) {
		br := bufio.NewReader(c)
		s.head(br)
		s.put(c, page("200 OK", pageText))
		if n == 0 {
			time.Sleep(20 * time.Millisecond)
			s.put(c, page("200 OK", "SMUGGLED"))
		}
		s.head(br)
		silent(c)
	})
	h := newHTTP(t, Options{Timeouts: quick})
	for range 2 {
		p, err := get(t, h, s.url+"/p")
		want(t, err, "")
		if string(p.Body) != pageText {
			t.Errorf("body %q", p.Body)
		}
		time.Sleep(40 * time.Millisecond)
	}
	if s.conns.Load() != 2 {
		t.Errorf("%d connections", s.conns.Load())
	}
}

// A waiting connection that the server closed is replaced without a word.
func TestClosedWhileWaiting(t *testing.T) {
	s := listen(t, says(page("200 OK", pageText)))
	h := newHTTP(t, Options{})
	for range 3 {
		p, err := get(t, h, s.url+"/p")
		want(t, err, "")
		if string(p.Body) != pageText {
			t.Errorf("body %q", p.Body)
		}
	}
	if s.asked.Load() != 3 {
		t.Errorf("%d requests", s.asked.Load())
	}
}

// A connection that is no socket is listened to instead.
func TestQuiet(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	w := newWire(a, 1)
	if !w.quiet() {
		t.Error("silence is not quiet")
	}
	go func() { _, _ = b.Write([]byte("x")) }()
	time.Sleep(5 * time.Millisecond)
	if w.quiet() {
		t.Error("a byte is quiet")
	}
	b.Close()
	if w.quiet() {
		t.Error("a closed connection is quiet")
	}
}

func TestPoolIsBounded(t *testing.T) {
	p := newPool()
	var open atomic.Int64
	add := func(key string) {
		a, b := net.Pipe()
		open.Add(1)
		go func() { silent(b); b.Close(); open.Add(-1) }()
		w := newWire(a, 1)
		p.put(key, newH1(w, w, 1, nil))
	}
	for range 3 * idlePerHost {
		add("one")
	}
	eventually(t, func() bool { return open.Load() == idlePerHost })
	for i := range 2 * idleTotal {
		add(string(rune('a' + i)))
	}
	eventually(t, func() bool { return open.Load() == idleTotal })
	p.close()
	add("late")
	eventually(t, func() bool { return open.Load() == 0 })
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to that")
		}
	}
}

// flips answers with one address first and another from then on.
type flips struct {
	first, then netip.Addr
	asked       atomic.Int64
}

func (f *flips) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	if f.asked.Add(1) == 1 {
		return []netip.Addr{f.first}, nil
	}
	return []netip.Addr{f.then}, nil
}

// A name that leads inside now is refused, whatever connection waits for it.
func TestRebinding(t *testing.T) {
	s := listen(t, answerAll(page("200 OK", pageText)))
	_, port, _ := net.SplitHostPort(s.Addr().String())
	names := &flips{first: netip.MustParseAddr("127.0.0.1"), then: netip.MustParseAddr("169.254.169.254")}
	h := newHTTP(t, Options{Guard: newGuard(t, guard.Options{Resolver: names}), Upgrade: UpgradeNever})
	_, err := get(t, h, "http://flip.example:"+port+"/p")
	want(t, err, "")
	for range 100 {
		_, err = get(t, h, "http://flip.example:"+port+"/p")
		want(t, err, "unsafe/address")
	}
	if s.asked.Load() != 1 {
		t.Errorf("%d requests", s.asked.Load())
	}
}

func TestAddressOfThePage(t *testing.T) {
	s := listen(t, says(page("200 OK", pageText)))
	h := newHTTP(t, Options{})
	p, err := get(t, h, s.url+"/p")
	want(t, err, "")
	if p.Addr != netip.MustParseAddr("127.0.0.1") || !p.Private || !h.MayReach(p.Addr) {
		t.Errorf("address %v private %v", p.Addr, p.Private)
	}
	if closed := newHTTP(t, Options{Guard: newGuard(t, guard.Options{Allow: []netip.Prefix{}})}); closed.MayReach(p.Addr) {
		t.Error("the address may be reached without its range")
	}
}
