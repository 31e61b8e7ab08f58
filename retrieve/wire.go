// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"
)

// errNoise ends a connection that carries far more bytes than body.
var errNoise = errors.New("too many bytes around the body")

// wire is a connection that counts what comes in, below TLS. Bytes that are not body
// are bounded: chunk extensions, padding, empty frames and endless settings cost a
// sender's patience, not ours.
type wire struct {
	net.Conn
	limit int64
	raw   atomic.Int64 // bytes read
	text  atomic.Int64 // bytes of bodies among them
	base  atomic.Int64 // raw minus text when the last request started
	loud  atomic.Bool
}

func newWire(c net.Conn, bodyLimit int64) *wire {
	if t, ok := c.(interface{ SetReadBuffer(int) error }); ok {
		_ = t.SetReadBuffer(socketBuffer) // a wish; the default works too
	}
	return &wire{Conn: c, limit: (WireFactor - 1) * bodyLimit}
}

// start begins the count for another request.
func (w *wire) start() { w.base.Store(w.raw.Load() - w.text.Load()) }

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if w.raw.Add(int64(n))-w.text.Load()-w.base.Load() > w.limit {
		w.loud.Store(true)
		return n, errNoise
	}
	return n, err
}

// quiet reports whether nothing waits to be read: no close, no alert, and no answer
// to a question that was never asked.
func (w *wire) quiet() bool {
	if quiet, known := peek(w.Conn); known {
		return quiet
	}
	if w.SetReadDeadline(time.Now().Add(quietTime)) != nil {
		return false
	}
	var b [1]byte
	n, err := w.Conn.Read(b[:])
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && w.SetReadDeadline(time.Time{}) == nil
}

// address is the other end.
func (w *wire) address() netip.Addr {
	a, err := netip.ParseAddrPort(w.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap()
}
