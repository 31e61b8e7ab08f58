// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Each row is one answer on a plain connection, byte for byte.
func TestAnswers(t *testing.T) {
	ended := page("200 OK", pageText)
	for _, row := range []struct {
		name, answer string
		fails        string // kind/cause
		body         string
		cut          string
		status       int
	}{
		{name: "whole page", answer: ended, body: pageText},
		{name: "body to the end of the connection", answer: open() + pageText, body: pageText},
		{name: "chunks with trailers", answer: open("Transfer-Encoding: chunked") + chunk(pageText) + "0\r\nSet-Cookie: a=b\r\nLocation: http://127.0.0.1:1/\r\n\r\n", body: pageText},
		{name: "line ends without carriage return", answer: strings.ReplaceAll(ended, "\r\n", "\n"), body: pageText},
		{name: "no reason phrase", answer: page("200", pageText), body: pageText},
		{name: "nothing", answer: "", fails: "unreachable/reset"},
		{name: "cut in the header", answer: "HTTP/1.1 200 OK\r\n", fails: "unreachable/reset"},
		{name: "cut in the status line", answer: "HTTP/1", fails: "unreachable/reset"},
		{name: "header without end", answer: "HTTP/1.1 200 OK\r\nA: b", fails: "unreachable/reset"},
		{name: "short body", answer: ended[:len(ended)-20], body: pageText[:len(pageText)-20], cut: "reset"},
		{name: "no body at all", answer: strings.TrimSuffix(ended, pageText), fails: "unreachable/reset"},
		{name: "long body", answer: ended + "SMUGGLED", body: pageText},
		{name: "two lengths", answer: page("200 OK", pageText, "Content-Length: 12"), fails: "unreachable/protocol"},
		{name: "two lengths in one line", answer: "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello", fails: "unreachable/protocol"},
		{name: "the same length twice", answer: page("200 OK", "hello", "Content-Length: 5"), body: "hello"},
		{name: "length and chunks", answer: open("Content-Length: 5", "Transfer-Encoding: chunked") + chunk(pageText) + "0\r\n\r\n", body: pageText},
		{name: "negative length", answer: open("Content-Length: -1") + pageText, fails: "unreachable/protocol"},
		{name: "length with a plus", answer: open("Content-Length: +5") + pageText, fails: "unreachable/protocol"},
		{name: "length in hex", answer: open("Content-Length: 0x5") + pageText, fails: "unreachable/protocol"},
		{name: "huge length", answer: open("Content-Length: 9223372036854775807"), fails: "toolarge"},
		{name: "length beyond numbers", answer: open("Content-Length: 99999999999999999999"), fails: "unreachable/protocol"},
		{name: "chunk size not hex", answer: open("Transfer-Encoding: chunked") + "zz\r\nabc\r\n", fails: "unreachable/protocol"},
		{name: "chunk size not hex after text", answer: open("Transfer-Encoding: chunked") + chunk(pageText) + "zz\r\nabc\r\n", fails: "unreachable/protocol"},
		// RFC 9112 section 7.1 wants recipients ready for large sizes, and 2^64-1 is one that
		// can be counted: the chunk then broke off after text came. The size is not held
		// against the cap, as a length is, since net/http does not tell it.
		{name: "chunk size too large", answer: open("Transfer-Encoding: chunked") + "ffffffffffffffff\r\nabc\r\n", body: "abc\r\n", cut: "reset"},
		{name: "chunk size overflows", answer: open("Transfer-Encoding: chunked") + "1ffffffffffffffff\r\nabc\r\n", fails: "unreachable/protocol"},
		{name: "chunk size with sign", answer: open("Transfer-Encoding: chunked") + "+3\r\nabc\r\n0\r\n\r\n", fails: "unreachable/protocol"},
		{name: "chunk without size", answer: open("Transfer-Encoding: chunked") + ";a=b\r\nabc\r\n0\r\n\r\n", fails: "unreachable/protocol"},
		{name: "chunk with extension", answer: open("Transfer-Encoding: chunked") + "3; a=b\r\nabc\r\n00\r\n\r\n", body: "abc"},
		// RFC 9112 section 7.1.1 lets old senders write a space there; net/http does not.
		{name: "chunk with extension after a space", answer: open("Transfer-Encoding: chunked") + "3 ; a=b\r\nabc\r\n00\r\n\r\n", fails: "unreachable/protocol"},
		{name: "chunk with bare line feed", answer: open("Transfer-Encoding: chunked") + "3\nabc\r\n0\r\n\r\n", fails: "unreachable/protocol"},
		{name: "chunk longer than told", answer: open("Transfer-Encoding: chunked") + "3\r\nabcdef\r\n0\r\n\r\n", fails: "unreachable/protocol"},
		{name: "no last chunk", answer: open("Transfer-Encoding: chunked") + chunk(pageText), body: pageText, cut: "reset"},
		{name: "cut in the trailers", answer: open("Transfer-Encoding: chunked") + chunk(pageText) + "0\r\nA: b\r\n", body: pageText, cut: "reset"},
		{name: "unknown transfer coding", answer: open("Transfer-Encoding: foo") + pageText, fails: "unreachable/protocol"},
		{name: "gzip as transfer coding", answer: open("Transfer-Encoding: gzip, chunked") + chunk("x"), fails: "unreachable/protocol"},
		{name: "two transfer codings", answer: open("Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + chunk("x"), fails: "unreachable/protocol"},
		{name: "line without colon", answer: page("200 OK", pageText, "no colon in this line"), fails: "unreachable/protocol"},
		{name: "NUL in a value", answer: page("200 OK", pageText, "X-Nul: a\x00b"), fails: "unreachable/protocol"},
		{name: "stray carriage return", answer: page("200 OK", pageText, "X-Cr: a\rSet-X: b"), fails: "unreachable/protocol"},
		{name: "folded header", answer: page("200 OK", pageText, "X-Fold: a\r\n b"), body: pageText},
		{name: "Latin-1 in a value", answer: page("200 OK", pageText, "X-Latin: gr\xfc\xdfe"), body: pageText},
		{name: "five interim answers", answer: strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 5) + ended, body: pageText},
		{name: "a hundred interim answers", answer: strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 100) + ended, fails: "unreachable/protocol"},
		{name: "protocol switch", answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", fails: "unreachable/protocol"},
		{name: "status 000", answer: page("000 X", pageText), fails: "unreachable/protocol"},
		{name: "status of two digits", answer: page("20 X", pageText), fails: "unreachable/protocol"},
		{name: "status 999", answer: page("999 X", pageText), body: pageText, status: 999},
		{name: "204 with a body", answer: "HTTP/1.1 204 No Content\r\n\r\n" + pageText, status: 204},
		{name: "206 unasked", answer: page("206 Partial Content", pageText, "Content-Range: bytes 0-99/5000"), fails: "unreachable/protocol"},
		{name: "304 unasked", answer: "HTTP/1.1 304 Not Modified\r\n\r\n", fails: "unreachable/protocol"},
		{name: "404", answer: page("404 Not Found", "nothing here"), body: "nothing here", status: 404},
		{name: "500", answer: page("500 Internal Server Error", "sorry"), body: "sorry", status: 500},
		{name: "bare body", answer: pageText, fails: "unreachable/protocol"},
		{name: "HTTP/2 on a plain port", answer: strings.Repeat("\x00\x00\x00\x04\x00\x00\x00\x00\x00", 3), fails: "unreachable/protocol"},
		{name: "HTTP/2.0 in the status line", answer: strings.Replace(ended, "HTTP/1.1", "HTTP/2.0", 1), fails: "unreachable/protocol"},
		{name: "another protocol", answer: "SSH-2.0-CANARYBANNER_9.1\r\n", fails: "unreachable/protocol"},
		{name: "many headers", answer: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Long: y\r\n", 100_000), fails: "toolarge"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := listen(t, says(row.answer))
			h := newHTTP(t, Options{})
			p, err := get(t, h, s.url+"/p")
			want(t, err, row.fails)
			if err != nil && strings.Contains(err.Error(), "CANARY") {
				t.Errorf("the banner is repeated: %v", err)
			}
			if string(p.Body) != row.body || p.Cut != row.cut {
				t.Errorf("body %q cut %q, want %q %q", p.Body, p.Cut, row.body, row.cut)
			}
			if status := or(row.status, 200); err == nil && p.Status != status {
				t.Errorf("status %d, want %d", p.Status, status)
			}
			if n := s.conns.Load(); n > 2 || row.answer != "" && n > 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestClosedAtOnce(t *testing.T) {
	s := listen(t, func(*tcp, net.Conn, int) {})
	_, err := get(t, newHTTP(t, Options{}), s.url+"/p")
	want(t, err, "unreachable/reset")
	if n := s.conns.Load(); n != 2 {
		t.Errorf("%d connections, want the first and one retry", n)
	}
}

func TestRetryGivesThePage(t *testing.T) {
	s := listen(t, func(s *tcp, c net.Conn, n int) {
		if n > 0 {
			says(page("200 OK", pageText))(s, c, n)
		}
	})
	p, err := get(t, newHTTP(t, Options{}), s.url+"/p")
	want(t, err, "")
	if string(p.Body) != pageText || s.conns.Load() != 2 {
		t.Errorf("%q after %d connections", p.Body, s.conns.Load())
	}
}

func TestResetInsideTheBody(t *testing.T) {
	came := make(chan struct{})
	s := listen(t, func(s *tcp, c net.Conn, _ int) {
		s.head(bufio.NewReader(c))
		s.put(c, page("200 OK", pageText)[:150])
		<-came // a reset takes back what was not read
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	tell := sync.OnceFunc(func() { close(came) })
	p, err := newHTTP(t, Options{}).Get(t.Context(), Request{Target: target(t, s.url+"/p"), Progress: func(int64) { tell() }})
	tell()
	want(t, err, "")
	if p.Cut != "reset" || !strings.HasPrefix(pageText, string(p.Body)) || len(p.Body) == 0 {
		t.Errorf("cut %q body %q", p.Cut, p.Body)
	}
}

// endless sends first, then piece until nobody listens.
func endless(first, piece string) func(*tcp, net.Conn, int) {
	return func(s *tcp, c net.Conn, _ int) {
		s.head(bufio.NewReader(c))
		s.put(c, first)
		for s.put(c, piece) {
		}
	}
}

// socketSlack is what two socket buffers may hold beyond what was read.
const socketSlack = 8 << 20

func TestEndless(t *testing.T) {
	line := strings.Repeat("x", 65535) + "\n"
	for _, row := range []struct {
		name, first, piece, fails, cut string
		bytes                          int64
	}{
		{"body", open(), line, "", "size", BodyLimit},
		{"chunks", open("Transfer-Encoding: chunked"), chunk(line), "", "size", BodyLimit},
		{"chunk extensions", open("Transfer-Encoding: chunked"), strings.Repeat("1;e="+strings.Repeat("v", 2000)+"\r\nx\r\n", 32), "unreachable/protocol", "", WireFactor * BodyLimit},
		{"header", "HTTP/1.1 200 OK\r\nX-Long: ", line[:65535], "toolarge", "", HeaderLimit},
		{"header lines", "HTTP/1.1 200 OK\r\n", strings.Repeat("X-A: b\r\n", 1000), "toolarge", "", HeaderLimit},
		{"trailers", open("Transfer-Encoding: chunked") + chunk("text") + "0\r\n", "X-A: b\r\n", "unreachable/protocol", "", 64 << 10},
		{"interim answers", "", "HTTP/1.1 103 Early Hints\r\n\r\n", "unreachable/protocol", "", HeaderLimit},
		{"error page", "HTTP/1.1 404 Not Found\r\n\r\n", line, "", "size", errorBodyLimit},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := listen(t, endless(row.first, row.piece))
			p, err := get(t, newHTTP(t, Options{}), s.url+"/p")
			want(t, err, row.fails)
			if p.Cut != row.cut {
				t.Errorf("cut %q, want %q", p.Cut, row.cut)
			}
			if row.cut == "size" && int64(len(p.Body)) != row.bytes {
				t.Errorf("%d bytes kept, want %d", len(p.Body), row.bytes)
			}
			s.Close()
			if n := s.sent.Load(); n > row.bytes+socketSlack {
				t.Errorf("%d bytes were taken, want about %d", n, row.bytes)
			}
		})
	}
}

func TestAnnouncedTooLarge(t *testing.T) {
	s := listen(t, func(s *tcp, c net.Conn, _ int) {
		s.head(bufio.NewReader(c))
		s.put(c, open("Content-Length: 10485761"))
		silent(c)
	})
	h := newHTTP(t, Options{Timeouts: quick})
	_, err := get(t, h, s.url+"/p")
	want(t, err, "toolarge")

	p, err := h.Get(t.Context(), Request{Target: target(t, s.url+"/robots.txt"), MaxBody: 100})
	want(t, err, "timeout/idle") // a cap of its own cuts and does not refuse
	if p.Body != nil {
		t.Errorf("body %q", p.Body)
	}
}

func TestBodyExactlyAtTheCap(t *testing.T) {
	for _, n := range []int{99, 100, 101} {
		s := listen(t, says(page("200 OK", strings.Repeat("x", n))))
		p, err := newHTTP(t, Options{}).Get(t.Context(), Request{Target: target(t, s.url+"/r"), MaxBody: 100})
		want(t, err, "")
		if cut := map[bool]string{true: "size"}[n > 100]; p.Cut != cut || len(p.Body) != min(n, 100) {
			t.Errorf("%d bytes: got %d, cut %q", n, len(p.Body), p.Cut)
		}
	}
}

func TestNoise(t *testing.T) {
	// Chunks of one byte are honest and cost six bytes each; one hundred times the cap
	// of such a body is not reached, a larger share is.
	s := listen(t, endless(open("Transfer-Encoding: chunked"), strings.Repeat("1;pad=0123456\r\nx\r\n", 100)))
	h := newHTTP(t, Options{Limits: Limits{Body: 64 << 10}})
	p, err := get(t, h, s.url+"/p")
	if err == nil && p.Cut == "" {
		t.Error("an endless body came to an end")
	}
	s.Close()
	if n := s.sent.Load(); n > WireFactor*(64<<10)+socketSlack {
		t.Errorf("%d bytes were taken", n)
	}
}

// Bodies beyond the small size take turns, and give them back.
func TestLargeBodiesTakeTurns(t *testing.T) {
	h := newHTTP(t, Options{})
	hasty := newHTTP(t, Options{Timeouts: Timeouts{Idle: 100 * time.Millisecond, Total: 600 * time.Millisecond}})
	hasty.large = h.large
	large := listen(t, answerAll(page("200 OK", strings.Repeat("x", 3*smallBody))))
	small := listen(t, answerAll(page("200 OK", pageText)))
	for range cap(h.large) {
		h.large <- struct{}{}
	}
	p, err := get(t, h, small.url+"/p")
	want(t, err, "")
	if string(p.Body) != pageText {
		t.Errorf("a small body waits: %q", p.Body)
	}
	p, err = get(t, hasty, large.url+"/p") // waiting for a turn is no idle time, but part of the whole
	want(t, err, "")
	if p.Cut != "total" || len(p.Body) != smallBody {
		t.Errorf("cut %q after %d bytes", p.Cut, len(p.Body))
	}
	<-h.large
	for range 3 {
		p, err = get(t, h, large.url+"/p")
		want(t, err, "")
		if p.Cut != "" || len(p.Body) != 3*smallBody {
			t.Errorf("cut %q after %d bytes", p.Cut, len(p.Body))
		}
	}
}
