// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
)

// diedError is a connection that ended before the first byte of an answer: the one
// case in which a request may be sent again.
type diedError struct{ err error }

func (e *diedError) Error() string { return "the connection ended before an answer: " + e.err.Error() }
func (e *diedError) Unwrap() error { return e.err }

// brokenError is an answer that is not valid HTTP. Its text is ours, never the sender's.
type brokenError string

func (e brokenError) Error() string { return string(e) }

var (
	// errHeader is an answer whose header passes the limit.
	errHeader = errors.New("the header passes the limit")
	// errAgain stops net/http from sending a request again by itself.
	errAgain = errors.New("the request was sent once already")
)

// exchange sends the request and reads the answer's header. A connection that died
// before the first byte of an answer is replaced once, by a new one.
func (h *HTTP) exchange(ctx context.Context, r Request, p place) (*answer, *watch, error) {
	var t *http.Transport
	for try := 0; ; try++ {
		t = h.pool.take(routeKey(p), t, func() *http.Transport { return h.transport(p) })
		a, w, err := h.attempt(ctx, r, p, t)
		var died *diedError
		if err == nil || try > 0 || !errors.As(err, &died) {
			return a, w, err
		}
	}
}

// attempt sends the request once.
func (h *HTTP) attempt(ctx context.Context, r Request, p place, t *http.Transport) (*answer, *watch, error) {
	w := newWatch(ctx)
	w.phase(h.times.Connect, errConnect)
	s := &sending{watch: w, times: h.times}
	resp, err := t.RoundTrip(h.request(httptrace.WithClientTrace(w.ctx, s.trace()), r, p))
	if err == nil {
		if err = s.check(resp); err == nil {
			return s.answer(resp), w, nil
		}
		_ = resp.Body.Close()
	} else {
		err = s.explain(p, err)
	}
	cause := context.Cause(w.ctx)
	w.stop()
	switch {
	case errors.Is(cause, errAgain):
		err = &diedError{errAgain}
	case cause != nil:
		err = cause
	}
	return nil, nil, err
}

// sending is what httptrace tells about one attempt. Its hooks are called from
// goroutines of net/http, and those of a dial even after the attempt has ended.
type sending struct {
	watch *watch
	times Timeouts

	mu      sync.Mutex
	wire    *wire // nil: no connection yet
	h2      bool
	plain   bool  // no TLS
	asked   int   // how often the request was sent
	began   bool  // the first byte of an answer came
	interim int   // answers before the real one
	tls     error // of the handshake
}

func (s *sending) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.tls = err
		},
		GotConn: s.got,
		GotFirstResponseByte: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.began = true
		},
		Got1xxResponse: func(int, textproto.MIMEHeader) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.interim++; s.interim > interimLimit {
				return brokenError("it sends one interim answer after another")
			}
			return nil
		},
	}
}

// got is called when net/http has chosen a connection and before it sends. A
// connection that turns out closed is left to net/http, which then takes another.
// There is a wire under each, since reach made them all.
func (s *sending) got(info httptrace.GotConnInfo) {
	secured, _ := info.Conn.(*tls.Conn)
	h2 := secured != nil && secured.ConnectionState().NegotiatedProtocol == "h2"
	w := wireOf(info.Conn)
	open := w.claim(s.watch.ctx, info.Reused && !h2)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wire, s.h2, s.plain = w, h2, secured == nil
	if !open {
		return
	}
	if s.asked++; s.asked > 1 {
		s.watch.cancel(errAgain)
	}
	s.watch.phase(s.times.Headers, errHeaders)
}

// check refuses what net/http lets through: a status line that does not fit the
// question, and the characters that RFC 9110 section 5.5 forbids most of all.
func (s *sending) check(resp *http.Response) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if (resp.ProtoMajor == 2) != s.h2 || resp.ProtoMajor > 2 || resp.StatusCode < 100 || resp.StatusCode == http.StatusSwitchingProtocols {
		return brokenError("its status line does not fit the question")
	}
	for _, values := range resp.Header {
		for _, v := range values {
			if strings.ContainsAny(v, "\x00\r\n") {
				return brokenError("its header holds a character that no header may carry")
			}
		}
	}
	return nil
}

func (s *sending) answer(resp *http.Response) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &answer{
		untilClose: resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && resp.ProtoMajor == 1,
		status:     resp.StatusCode, phrase: phrase(resp.Status), header: resp.Header, length: resp.ContentLength,
		addr: s.wire.address(), wire: s.wire, raw: resp.Body, body: &framed{resp.Body, s.wire, s.h2},
	}
}
