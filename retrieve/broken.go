// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/dipper-web/dipper/fault"
	"golang.org/x/net/http2"
)

// What net/http says without a value of its own for it. A Go version that says it in
// other words fails TestWordsOfNetHTTP.
const (
	saysHeaders  = "server response headers exceeded"   // HTTP/1: MaxResponseHeaderBytes
	saysHeaders2 = "header list larger than advertised" // HTTP/2: the same
	saysConn2    = "connection error: "                 // HTTP/2: a broken rule of the connection
)

// Our words for answers that are not HTTP.
const (
	brokenHTTP2  = brokenError("it breaks the rules of HTTP/2")
	brokenHeader = brokenError("its header breaks the rules of HTTP")
	brokenBody   = brokenError("its body breaks the rules of HTTP")
)

func mentions(err error, text string) bool { return strings.Contains(err.Error(), text) }

// explain sorts the failures of a request without an answer. A connection that ended
// before the first byte, and a stream that the server says it never processed, may be
// tried again; a broken rule may not.
func (s *sending) explain(p place, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var broken brokenError
	switch {
	case s.wire == nil:
		return s.unconnected(p, err)
	case errors.As(err, &broken):
		return broken
	case s.wire.loud.Load():
		return errNoise
	case mentions(err, saysHeaders), mentions(err, saysHeaders2):
		return errHeader
	case s.h2:
		return explain2(err)
	case !s.began:
		return &diedError{err}
	case s.wire.cut(err) && !(s.plain && s.wire.foreign()):
		return err
	}
	return brokenHeader
}

// unconnected explains why there is no connection: the failures of our own dialling
// come as they are, those of TLS and of the proxy have to be told apart.
func (s *sending) unconnected(p place, err error) error {
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errConnect
	case p.proxy != nil && (s.tls == nil || ended(s.tls)):
		return proxyFailed(p, err)
	case s.tls != nil:
		return tlsFailed(p.target, s.tls)
	}
	return err
}

// explain2 does the same for HTTP/2.
func explain2(err error) error {
	var stream http2.StreamError
	switch {
	case mentions(err, saysConn2):
		return brokenHTTP2
	case errors.As(err, &stream) && stream.Code != http2.ErrCodeRefusedStream:
		return brokenStream(stream)
	}
	return &diedError{err}
}

// brokenStream tells a stream that was given up from one that broke a rule.
func brokenStream(s http2.StreamError) error {
	switch s.Code {
	case http2.ErrCodeProtocol, http2.ErrCodeFlowControl, http2.ErrCodeFrameSize, http2.ErrCodeCompression:
		return brokenHTTP2
	}
	return fmt.Errorf("%w: stream reset with code %d", io.ErrUnexpectedEOF, s.Code)
}

// ended reports whether a connection ended or broke, as opposed to carrying nonsense.
func ended(err error) bool {
	var wire net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &wire)
}

// cut reports whether an answer breaks off, as opposed to breaking a rule. net/http
// says of some broken-off lines that they are malformed; but it reads on only when it
// needs more, so a read that failed tells them apart.
func (w *wire) cut(err error) bool { return ended(err) || w.ended() }

// framed gives the errors of a body the meaning that answer.body promises.
type framed struct {
	r    io.Reader
	wire *wire
	h2   bool
}

func (b *framed) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err == nil || err == io.EOF {
		return n, err
	}
	var stream http2.StreamError
	switch {
	case b.h2 && mentions(err, saysConn2):
		err = brokenHTTP2
	case b.h2 && errors.As(err, &stream):
		err = brokenStream(stream)
	case b.h2 || b.wire.cut(err):
	default:
		err = brokenBody
	}
	return n, err
}
