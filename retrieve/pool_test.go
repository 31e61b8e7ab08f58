// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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
		// net/http does not tell of the length beside the chunks; what a smuggler would put
		// behind either of the two ends is found on the connection.
		{"length beside chunks", open("Content-Length: 5", "Transfer-Encoding: chunked") + chunk(pageText) + "0\r\n\r\n", 1},
		{"length beside chunks, and more", open("Content-Length: 500", "Transfer-Encoding: chunked") + chunk(pageText) + "0\r\n\r\n" + page("200 OK", "SMUGGLED"), 3},
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

// However close the next request follows: what lies behind an answer is not its answer.
func TestBytesBehindAnAnswer(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		play := answerAll(page("200 OK", pageText) + page("200 OK", "SMUGGLED"))
		s, h := site(t, play, nil, Options{Upgrade: UpgradeNever, Parallel: 8}, "close.example")
		raw := "https://close.example/"
		if scheme == "http" {
			s = listen(t, play)
			raw = s.url + "/"
			h = newHTTP(t, Options{Parallel: 8})
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 50 {
					p, err := get(t, h, raw)
					if err != nil || string(p.Body) != pageText {
						t.Errorf("%s: body %q, %v", scheme, p.Body, err)
					}
				}
			})
		}
		wg.Wait()
		// More is fine: net/http dials ahead.
		if n := s.conns.Load(); n < 400 || s.asked.Load() != 400 {
			t.Errorf("%s: %d connections and %d requests for 400 answers of doubtful end", scheme, n, s.asked.Load())
		}
		h.Close()
	}
}

// What arrives on a waiting connection is nobody's answer: the connection is closed.
func TestUnaskedAnswer(t *testing.T) {
	read, closed := make(chan struct{}), make(chan struct{})
	s := listen(t, func(s *tcp, c net.Conn, n int) {
		s.head(bufio.NewReader(c))
		s.put(c, page("200 OK", pageText))
		if n > 0 {
			silent(c)
			return
		}
		<-read
		s.put(c, page("200 OK", "SMUGGLED"))
		silent(c)
		close(closed)
	})
	h := newHTTP(t, Options{})
	for i := range 2 {
		p, err := get(t, h, s.url+"/p")
		if i == 0 {
			close(read) // before anything can fail, since the server waits for it
		}
		want(t, err, "")
		if string(p.Body) != pageText {
			t.Errorf("body %q", p.Body)
		}
		<-closed
	}
	if s.conns.Load() != 2 || s.asked.Load() != 2 {
		t.Errorf("%d connections, %d requests", s.conns.Load(), s.asked.Load())
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

// A waiting connection is taken only when net/http listens on it: then nothing lies
// unread between the last answer and the next.
func TestClaimWaitsForSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		w := newWire(a, 1<<20, time.Now().Add(time.Minute))
		claimed := make(chan bool, 1)
		go func() { claimed <- w.claim(t.Context(), true) }()
		time.Sleep(settleTime / 2)
		synctest.Wait()
		if len(claimed) > 0 {
			t.Fatal("taken before anybody listened")
		}
		read := make(chan error, 1)
		go func() { _, err := w.Read(make([]byte, 1)); read <- err }()
		if !<-claimed {
			t.Error("an open connection counts as closed")
		}
		w.Close()
		if <-read == nil {
			t.Error("a closed connection was read")
		}
		if w.claim(t.Context(), true) {
			t.Error("a closed connection was taken")
		}
	})
}

// A connection on which nobody listens is closed after a bounded wait, or when the
// caller goes.
func TestClaimGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, patience := range []time.Duration{time.Minute, settleTime / 2} {
			a, b := net.Pipe()
			w := newWire(a, 1<<20, time.Now().Add(time.Minute))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			start := time.Now()
			if w.claim(ctx, true) {
				t.Error("taken although nobody listens")
			}
			if took := time.Since(start); took != min(patience, settleTime) {
				t.Errorf("gave up after %v", took)
			}
			if _, err := b.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("the connection is not closed: %v", err)
			}
			cancel()
		}
	})
}

// If net/http did not read on while a connection waits, another one would be dialled.
func TestConnectionThatDoesNotSettle(t *testing.T) {
	s := listen(t, answerAll(page("200 OK", pageText)))
	h := newHTTP(t, Options{})
	var first *wire
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GetConn: func(string) {
			if first == nil {
				return
			}
			first.mu.Lock()
			defer first.mu.Unlock()
			first.reading = false // as it would be without the Read that waits
		},
		GotConn: func(info httptrace.GotConnInfo) {
			if first == nil {
				first = wireOf(info.Conn)
			}
		},
	})
	for range 2 {
		p, err := h.Get(ctx, Request{Target: target(t, s.url+"/p")})
		want(t, err, "")
		if string(p.Body) != pageText {
			t.Errorf("body %q", p.Body)
		}
		eventually(t, func() bool { first.mu.Lock(); defer first.mu.Unlock(); return first.reading || first.gone })
	}
	if s.conns.Load() != 2 || s.asked.Load() != 2 {
		t.Errorf("%d connections, %d requests", s.conns.Load(), s.asked.Load())
	}
}

// What a server says before it was asked is held back until then.
func TestNothingIsReadBeforeItIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		w := newWire(a, 1<<20, time.Now().Add(time.Minute))
		go func() { _, _ = b.Write([]byte("x")); silent(b) }()
		read := make(chan string, 1)
		go func() { p := make([]byte, 1); n, _ := w.Read(p); read <- string(p[:n]) }()
		synctest.Wait()
		if len(read) > 0 {
			t.Fatalf("read %q", <-read)
		}
		if _, err := w.Write([]byte("?")); err != nil || <-read != "x" {
			t.Error("the answer did not come", err)
		}
		a.Close()
	})
}

func TestPoolIsBounded(t *testing.T) {
	var open atomic.Int64
	s := listen(t, func(s *tcp, c net.Conn, n int) {
		open.Add(1)
		defer open.Add(-1)
		answerAll(page("200 OK", pageText))(s, c, n)
	})
	declared := map[string]string{}
	host := func(i int) string { return fmt.Sprintf("h%d.example", i) }
	for i := range 2 * routesKept {
		declared[host(i)+":80"] = s.Addr().String()
	}
	h := newHTTP(t, Options{Guard: newGuard(t, guard.Options{Resolve: declared}), Upgrade: UpgradeNever, Parallel: 3 * idlePerHost})
	var wg sync.WaitGroup
	for range 3 * idlePerHost {
		wg.Go(func() {
			if _, err := get(t, h, "http://"+host(0)+"/"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	eventually(t, func() bool { n := open.Load(); return n > 0 && n <= idlePerHost })
	for i := range 2 * routesKept {
		_, err := get(t, h, "http://"+host(i)+"/")
		want(t, err, "")
	}
	eventually(t, func() bool { return open.Load() == routesKept })
	h.Close()
	_, err := get(t, h, "http://"+host(0)+"/late")
	want(t, err, "")
	eventually(t, func() bool { return open.Load() == 0 })
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(slack); !ok(); time.Sleep(time.Millisecond) {
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

// A connection serves only while the addresses it was judged under are the answer.
func TestConnectionsFollowTheAddresses(t *testing.T) {
	one := listen(t, answerAll(page("200 OK", "one")))
	_, port, _ := net.SplitHostPort(one.Addr().String())
	two, err := net.Listen("tcp", "127.0.0.2:"+port)
	if err != nil {
		t.Skip("no second address on this machine:", err)
	}
	other := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "two") })}
	go other.Serve(two)
	defer other.Close()
	names := &flips{first: netip.MustParseAddr("127.0.0.1"), then: netip.MustParseAddr("127.0.0.2")}
	h := newHTTP(t, Options{Guard: newGuard(t, guard.Options{Resolver: names}), Upgrade: UpgradeNever})
	for _, body := range []string{"one", "two", "two"} {
		p, err := get(t, h, "http://flip.example:"+port+"/p")
		want(t, err, "")
		if string(p.Body) != body || p.Addr != map[string]netip.Addr{"one": names.first, "two": names.then}[body] {
			t.Errorf("%q from %v, want %q", p.Body, p.Addr, body)
		}
	}
}

// A request is sent twice at most, and the second time on a new connection, whatever
// waits in the pool.
func TestSecondTryIsOnANewConnection(t *testing.T) {
	const waiting = 3
	together := make(chan struct{})
	s := listen(t, func(s *tcp, c net.Conn, n int) {
		br := bufio.NewReader(c)
		s.head(br)
		if n < waiting {
			<-together // so that every request has a connection of its own
		}
		s.put(c, page("200 OK", pageText))
		if n >= waiting {
			return
		}
		s.head(br) // and then no answer
	})
	h := newHTTP(t, Options{})
	var wg sync.WaitGroup
	for range waiting {
		wg.Go(func() {
			if _, err := get(t, h, s.url+"/p"); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, func() bool { return s.asked.Load() == waiting })
	close(together)
	wg.Wait()
	p, err := get(t, h, s.url+"/p")
	want(t, err, "")
	if string(p.Body) != pageText || s.asked.Load() != waiting+2 || s.conns.Load() != waiting+1 {
		t.Errorf("%q after %d requests on %d connections", p.Body, s.asked.Load(), s.conns.Load())
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
