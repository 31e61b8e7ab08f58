// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"

	"golang.org/x/net/http2"
)

// h2Link is an HTTP/2 connection (RFC 9113), used by many requests at once. Pushed
// streams are refused by the settings that the library sends.
type h2Link struct {
	conn *http2.ClientConn
	wire *wire
	lone bool // serves one request and is closed after it
}

// retire closes the connection; streams that are open on it break.
func (l *h2Link) retire() { _ = l.conn.Close() }

func (l *h2Link) send(req *http.Request) (*answer, error) {
	interim := 0
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(int, textproto.MIMEHeader) error {
			if interim++; interim > interimLimit {
				return brokenError("it sends one interim answer after another")
			}
			return nil
		},
	})
	l.wire.start()
	resp, err := l.conn.RoundTrip(req.WithContext(ctx))
	if err != nil {
		if l.lone {
			l.retire()
		}
		return nil, l.explain(err)
	}
	a := &answer{status: resp.StatusCode, header: resp.Header, length: resp.ContentLength, addr: l.wire.address(), wire: l.wire}
	a.body = &h2Body{resp.Body}
	a.release = func(bool) {
		_ = resp.Body.Close() // resets the stream where the body is not whole
		if l.lone {
			l.retire()
		}
	}
	return a, nil
}

// explain sorts the failures of a request without an answer. A stream that the
// server says it never processed, and a connection that ended, may be tried again;
// a broken rule may not.
func (l *h2Link) explain(err error) error {
	var stream http2.StreamError
	var conn http2.ConnectionError
	var broken brokenError
	switch {
	case errors.As(err, &broken):
		return broken
	case l.wire.loud.Load():
		return errNoise
	case strings.Contains(err.Error(), "header list larger"): // the library exports no value for it
		return errHeader
	case errors.As(err, &conn):
		return brokenError("it breaks the rules of HTTP/2")
	case errors.As(err, &stream) && stream.Code != http2.ErrCodeRefusedStream:
		return brokenStream(stream)
	}
	return &diedError{err}
}

// brokenStream tells a stream that was given up from one that broke a rule.
func brokenStream(s http2.StreamError) error {
	switch s.Code {
	case http2.ErrCodeProtocol, http2.ErrCodeFlowControl, http2.ErrCodeFrameSize, http2.ErrCodeCompression:
		return brokenError("it breaks the rules of HTTP/2")
	}
	return fmt.Errorf("%w: stream reset with code %d", io.ErrUnexpectedEOF, s.Code)
}

// h2Body gives body errors the meaning that answer.body promises.
type h2Body struct{ r io.Reader }

func (b *h2Body) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	var stream http2.StreamError
	var conn http2.ConnectionError
	switch {
	case err == nil || err == io.EOF:
	case errors.As(err, &conn):
		err = brokenError("it breaks the rules of HTTP/2")
	case errors.As(err, &stream):
		err = brokenStream(stream)
	}
	return n, err
}
