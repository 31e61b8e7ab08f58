// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// answer is an answer whose header has been read.
type answer struct {
	status int
	phrase string
	header http.Header
	length int64 // announced, -1 for none
	addr   netip.Addr
	// body gives io.EOF exactly when the body is whole. A brokenError from it means
	// bad HTTP, any other error a connection that broke.
	body io.Reader
	wire *wire
	// release gives the connection back: to the pool when whole, else it is not
	// used for another HTTP/1 request.
	release func(whole bool)
	whole   bool
	done    bool
}

// finish ends the exchange. It may be called more than once.
func (a *answer) finish() {
	if !a.done {
		a.done = true
		a.release(a.whole)
	}
}

// drain reads a short rest of a body that nobody wants, so that the connection can
// serve another request; a long or slow one is left, and the connection with it.
func (a *answer) drain(w *watch) {
	if a.whole || a.length > drainLimit {
		return
	}
	w.phase(drainTime, errDrain)
	n, err := io.CopyN(io.Discard, a.body, drainLimit+1)
	a.whole = err == io.EOF && n <= drainLimit
}

// statusText is the standard phrase of a status, else the one that was sent, without
// what could disturb a terminal.
func statusText(status int, sent string) string {
	if s := http.StatusText(status); s != "" {
		return s
	}
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, sent)
	return strings.TrimSpace(clean[:min(len(clean), phraseLimit)])
}

// noStore reports whether the answer may not be kept: RFC 9111 sections 5.2.2.5 and 4.1.
func noStore(h http.Header) bool {
	return hasToken(h["Cache-Control"], "no-store") || hasToken(h["Vary"], "*")
}

func hasToken(values []string, token string) bool {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}

// clock is long past: a deadline that ends every read and write at once.
var clock = time.Unix(1, 0)
