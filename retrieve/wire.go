// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// errNoise ends a connection that carries far more bytes than body.
var errNoise = errors.New("too many bytes around the body")

// wire is a connection that counts what comes in, below TLS. Bytes that are not body
// are bounded: padding, empty frames and endless settings cost a sender's patience,
// not ours. It also knows what net/http does not tell: whether a waiting connection
// is silent.
type wire struct {
	net.Conn
	limit int64
	raw   atomic.Int64 // bytes read
	text  atomic.Int64 // bytes of bodies among them
	base  atomic.Int64 // raw minus text when the last request started
	loud  atomic.Bool

	mu      sync.Mutex
	change  *sync.Cond
	asked   bool   // something was sent: only then may something come
	reading bool   // a Read waits, so all that came before it has been looked at
	failed  bool   // a Read failed: net/http wanted more than came
	gone    bool   // closed, or failed
	opening []byte // the first bytes that came
}

// openingSize is how many first bytes tell HTTP from another protocol.
const openingSize = len("HTTP/")

// settleTime bounds the wait for a connection that waits to be used again. Settling
// takes net/http microseconds; on a machine that is overloaded it may take long.
const settleTime = time.Second

// newWire gives conn until the given time to become part of an exchange; claim ends
// that. net/http dials on when nobody waits any more, and this bounds it.
func newWire(conn net.Conn, bodyLimit int64, until time.Time) *wire {
	if t, ok := conn.(interface{ SetReadBuffer(int) error }); ok {
		_ = t.SetReadBuffer(socketBuffer) // a wish; the default works too
	}
	_ = conn.SetDeadline(until) // fails on a closed connection, and then so does all else
	w := &wire{Conn: conn, limit: (WireFactor - 1) * bodyLimit}
	w.change = sync.NewCond(&w.mu)
	return w
}

// wireOf finds the wire under the TLS layers of a connection, nil for none.
func wireOf(c net.Conn) *wire {
	for {
		switch t := c.(type) {
		case *wire:
			return t
		case *tls.Conn:
			c = t.NetConn()
		default:
			return nil
		}
	}
}

// claim begins the count for another request and reports whether the connection is
// still open. With settle it first waits until net/http has looked at everything
// that came after the last answer: net/http closes a connection on which an unasked
// answer lies, but may give it to a request in the moment before. That it reads on
// while a connection waits is its habit, not its promise: a connection that does not
// settle in time is closed, and net/http takes another.
func (w *wire) claim(ctx context.Context, settle bool) bool {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	stop := context.AfterFunc(ctx, w.wake)
	defer stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	for settle && !w.reading && !w.gone && ctx.Err() == nil {
		w.change.Wait()
	}
	if settle && !w.reading && !w.gone {
		w.gone = true
		w.change.Broadcast()
		_ = w.Conn.Close() // it is given up; what the close says changes nothing
	}
	w.base.Store(w.raw.Load() - w.text.Load())
	return !w.gone && w.SetDeadline(time.Time{}) == nil
}

func (w *wire) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.change.Broadcast()
}

// Read holds back what a server says before it was asked anything: net/http would
// take it for a broken connection or for the answer, by chance.
func (w *wire) Read(p []byte) (int, error) {
	w.mu.Lock()
	w.reading = true
	w.change.Broadcast()
	for !w.asked && !w.gone {
		w.change.Wait()
	}
	w.mu.Unlock()
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	w.reading, w.failed, w.gone = false, err != nil, w.gone || err != nil
	w.opening = append(w.opening, p[:min(n, openingSize-len(w.opening))]...)
	w.change.Broadcast()
	w.mu.Unlock()
	if w.raw.Add(int64(n))-w.text.Load()-w.base.Load() > w.limit {
		w.loud.Store(true)
		return n, errNoise
	}
	return n, err
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.asked = true
	w.change.Broadcast()
	w.mu.Unlock()
	return w.Conn.Write(p)
}

func (w *wire) Close() error {
	w.mu.Lock()
	w.gone = true
	w.change.Broadcast()
	w.mu.Unlock()
	return w.Conn.Close()
}

// ended reports whether a read failed.
func (w *wire) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// foreign reports whether the first bytes on a plain connection are not HTTP's.
func (w *wire) foreign() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.opening) != "HTTP/"[:len(w.opening)]
}

// address is the other end.
func (w *wire) address() netip.Addr {
	a, err := netip.ParseAddrPort(w.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap()
}
