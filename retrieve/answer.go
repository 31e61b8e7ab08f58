// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"io"
	"net/http"
	"net/netip"
	"strings"
)

// answer is an answer whose header has been read.
type answer struct {
	status int
	phrase string
	header http.Header
	length int64 // announced, -1 for none
	// untilClose says that the end of the connection is the end of the body, so
	// that a body which broke off cannot be told from a whole one.
	untilClose bool
	addr       netip.Addr
	// body gives io.EOF exactly when the body is whole. A brokenError from it means
	// bad HTTP, any other error a connection that broke.
	body  io.Reader
	raw   io.Closer // what body reads
	wire  *wire
	whole bool // the end of the body was seen
}

// finish ends the exchange. It may be called more than once. A connection whose
// answer was not read to its end serves no other request.
func (a *answer) finish() { _ = a.raw.Close() }

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

// phrase is the text after the status code.
func phrase(status string) string {
	if len(status) > 4 {
		return status[4:]
	}
	return ""
}
