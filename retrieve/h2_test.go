// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer is the server's end of an HTTP/2 connection, frame by frame.
type peer struct {
	*http2.Framer
	s *tcp
	c net.Conn
	n int // number of the connection
}

// h2Server speaks HTTP/2 up to each request and then plays answer.
func h2Server(answer func(p *peer, stream uint32)) func(*tcp, net.Conn, int) {
	return func(s *tcp, c net.Conn, n int) {
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(c, preface); err != nil || string(preface) != http2.ClientPreface {
			return
		}
		p := &peer{http2.NewFramer(c, c), s, c, n}
		_ = p.WriteSettings()
		for {
			f, err := p.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.SettingsFrame:
				if !f.IsAck() {
					_ = p.WriteSettingsAck()
				}
			case *http2.HeadersFrame:
				s.asked.Add(1)
				answer(p, f.StreamID)
			}
		}
	}
}

func (p *peer) headers(stream uint32, end bool, pairs ...string) error {
	return p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block(pairs...), EndHeaders: true, EndStream: end})
}

func block(pairs ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return b.Bytes()
}

func (p *peer) page(stream uint32) {
	_ = p.headers(stream, false, ":status", "200", "content-type", "text/html")
	_ = p.WriteData(stream, true, []byte(pageText))
}

func TestHTTP2(t *testing.T) {
	long := strings.Repeat("v", 3500)
	for _, row := range []struct {
		name       string
		answer     func(p *peer, stream uint32)
		fails, cut string
		asked      int64 // requests at most
	}{
		{"page", func(p *peer, id uint32) { p.page(id) }, "", "", 1},
		{"goaway, then a page", func(p *peer, id uint32) {
			if p.n > 0 {
				p.page(id)
				return
			}
			_ = p.WriteGoAway(0, http2.ErrCodeNo, nil)
			p.c.Close()
		}, "", "", 2},
		{"goaway while the connection stays", func(p *peer, id uint32) {
			if p.n > 0 {
				p.page(id)
				return
			}
			_ = p.WriteGoAway(0, http2.ErrCodeNo, nil)
		}, "", "", 2},
		{"goaway always", func(p *peer, _ uint32) { _ = p.WriteGoAway(0, http2.ErrCodeNo, nil); p.c.Close() }, "unreachable/reset", "", 2},
		{"refused stream, then a page", func(p *peer, id uint32) {
			if p.n > 0 {
				p.page(id)
				return
			}
			_ = p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		}, "", "", 2},
		{"connection closed", func(p *peer, _ uint32) { p.c.Close() }, "unreachable/reset", "", 2},
		{"stream reset", func(p *peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeInternal) }, "unreachable/reset", "", 1},
		{"stream reset inside the body", func(p *peer, id uint32) {
			_ = p.headers(id, false, ":status", "200", "content-type", "text/html")
			_ = p.WriteData(id, false, []byte(pageText))
			_ = p.WriteRSTStream(id, http2.ErrCodeInternal)
		}, "", "reset", 1},
		{"connection closed inside the body", func(p *peer, id uint32) {
			_ = p.headers(id, false, ":status", "200", "content-type", "text/html")
			_ = p.WriteData(id, false, []byte(pageText))
			_ = p.c.(*tls.Conn).NetConn().(*net.TCPConn).CloseWrite() // Close could take the text back
		}, "", "reset", 1},
		{"less than announced", func(p *peer, id uint32) {
			_ = p.headers(id, false, ":status", "200", "content-length", "500")
			_ = p.WriteData(id, true, []byte(pageText))
		}, "", "reset", 1},
		{"body never comes", func(p *peer, id uint32) { _ = p.headers(id, false, ":status", "200") }, "timeout/idle", "", 1},
		{"header never comes", func(*peer, uint32) {}, "timeout/headers", "", 1},
		{"no status", func(p *peer, id uint32) { _ = p.headers(id, true, "content-type", "text/html") }, "unreachable/protocol", "", 1},
		{"304 unasked", func(p *peer, id uint32) { _ = p.headers(id, true, ":status", "304") }, "unreachable/protocol", "", 1},
		{"push", func(p *peer, id uint32) {
			_ = p.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, EndHeaders: true,
				BlockFragment: block(":method", "GET", ":path", "/", ":scheme", "https", ":authority", "h2.example")})
			p.page(id)
		}, "unreachable/protocol", "", 1},
		{"interim answers", func(p *peer, id uint32) {
			for range 100 {
				_ = p.headers(id, false, ":status", "103", "link", "</a>")
			}
			p.page(id)
		}, "unreachable/protocol", "", 1},
		{"a few interim answers", func(p *peer, id uint32) {
			for range interimLimit {
				_ = p.headers(id, false, ":status", "103", "link", "</a>")
			}
			p.page(id)
		}, "", "", 1},
		{"announced too large", func(p *peer, id uint32) { _ = p.headers(id, false, ":status", "200", "content-length", "99999999") }, "toolarge", "", 1},
		{"large header", func(p *peer, id uint32) {
			_ = p.headers(id, true, ":status", "200", "x-a", long, "x-b", long, "x-c", long)
		}, "toolarge", "", 1},
		{"continuation of nothing", func(p *peer, id uint32) { _ = p.WriteContinuation(id, true, nil) }, "unreachable/protocol", "", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, h := site(t, h2Server(row.answer), []string{"h2", "http/1.1"}, Options{Timeouts: quick, Limits: Limits{HeaderBytes: 8 << 10}}, "h2.example")
			p, err := get(t, h, "https://h2.example/p")
			want(t, err, row.fails)
			if p.Cut != row.cut {
				t.Errorf("cut %q, want %q", p.Cut, row.cut)
			}
			if err == nil && string(p.Body) != pageText {
				t.Errorf("body %q", p.Body)
			}
			if n := s.asked.Load(); n > row.asked {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestHTTP2Floods(t *testing.T) {
	long := strings.Repeat("v", 4000)
	for _, row := range []struct {
		name  string
		flood func(p *peer, id uint32) error
		first func(p *peer, id uint32)
		kinds []fault.Kind
	}{
		{"continuation", func(p *peer, id uint32) error { return p.WriteContinuation(id, false, block("x-aa", long)) },
			func(p *peer, id uint32) {
				_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block(":status", "200")})
			}, []fault.Kind{fault.Unreachable, fault.TooLarge}},
		{"settings", func(p *peer, _ uint32) error { return p.WriteSettings() }, nil, []fault.Kind{fault.Timeout, fault.Unreachable}},
		{"ping", func(p *peer, _ uint32) error { return p.WritePing(false, [8]byte{1}) }, nil, []fault.Kind{fault.Timeout, fault.Unreachable}},
		{"empty data", func(p *peer, id uint32) error { return p.WriteData(id, false, nil) },
			func(p *peer, id uint32) { _ = p.headers(id, false, ":status", "200") }, []fault.Kind{fault.Timeout, fault.Unreachable}},
		{"padding", func(p *peer, id uint32) error {
			return p.WriteDataPadded(id, false, []byte("x"), make([]byte, 255))
		},
			func(p *peer, id uint32) { _ = p.headers(id, false, ":status", "200") }, []fault.Kind{fault.Timeout, fault.Unreachable, ""}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, h := site(t, h2Server(func(p *peer, id uint32) {
				go func() { _, _ = io.Copy(io.Discard, p.c) }()
				if row.first != nil {
					row.first(p, id)
				}
				for row.flood(p, id) == nil {
				}
			}), []string{"h2"}, Options{Timeouts: quick}, "h2.example")
			start := time.Now()
			var err error
			extra := growth(func() { _, err = get(t, h, "https://h2.example/p") })
			kind := fault.Kind("")
			if err != nil {
				kind = fault.From(err).Kind
			}
			if !slices.Contains(row.kinds, kind) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(start); took > quick.Total+slack {
				t.Errorf("took %v", took)
			}
			if extra > 32<<20 {
				t.Errorf("%d MiB more memory", extra>>20)
			}
			if s.asked.Load() > 1 {
				t.Errorf("%d requests", s.asked.Load())
			}
			h.Close()
		})
	}
}

// Many requests share one HTTP/2 connection.
func TestHTTP2IsShared(t *testing.T) {
	s, h := site(t, h2Server(func(p *peer, id uint32) { p.page(id) }), []string{"h2"}, Options{}, "h2.example")
	for i := range 5 {
		p, err := get(t, h, fmt.Sprintf("https://h2.example/%d", i))
		want(t, err, "")
		if string(p.Body) != pageText {
			t.Errorf("body %q", p.Body)
		}
	}
	if s.conns.Load() != 1 {
		t.Errorf("%d connections for five pages", s.conns.Load())
	}
}

// A certificate and a connection that would do for another name do nothing for it.
func TestNoCoalescing(t *testing.T) {
	for _, alpn := range []string{"h2", "http/1.1"} {
		play := answerAll(page("200 OK", pageText))
		if alpn == "h2" {
			play = h2Server(func(p *peer, id uint32) { p.page(id) })
		}
		s, h := site(t, play, []string{alpn}, Options{}, "one.example", "two.example")
		for _, host := range []string{"one.example", "two.example", "one.example", "two.example"} {
			if _, err := get(t, h, "https://"+host+"/"); err != nil {
				t.Fatal(err)
			}
		}
		if s.conns.Load() != 2 {
			t.Errorf("%s: %d connections for two names", alpn, s.conns.Load())
		}
	}
}

// Two hundred fetches at once, from a real server.
func TestManyAtOnce(t *testing.T) {
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprint("HTTP/", version), func(t *testing.T) {
			var mu sync.Mutex
			now, most := 0, 0
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				defer func() { mu.Lock(); now--; mu.Unlock() }()
				fmt.Fprint(w, r.URL.Path)
			}))
			a := newAuthority(t)
			s.TLS = a.config(t, tomorrow(), "many.example")
			s.EnableHTTP2 = version == 2
			s.StartTLS()
			defer s.Close()
			h := newHTTP(t, Options{Roots: a.pool(), Guard: newGuard(t, guard.Options{Resolve: map[string]string{"many.example:443": s.Listener.Addr().String()}})})
			var errs []error
			var wg sync.WaitGroup
			for i := range 200 {
				wg.Go(func() {
					path := fmt.Sprintf("/page/%d", i)
					p, err := get(t, h, "https://many.example"+path)
					if err == nil && string(p.Body) != path {
						err = fmt.Errorf("%s: got %q", path, p.Body)
					}
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				})
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
			if most > ParallelDefault {
				t.Errorf("%d requests at once", most)
			}
			h.Close()
		})
	}
}
