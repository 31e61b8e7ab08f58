// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// link is a connection that serves requests for one origin.
type link interface {
	// send writes the request and reads the answer's header. A *diedError says that
	// the connection ended before the first byte of an answer.
	send(*http.Request) (*answer, error)
}

// pool keeps connections between requests, under the exact scheme, name, port and
// proxy they were made for: a certificate that covers another name opens nothing
// (no coalescing), because only this name's addresses were judged.
type pool struct {
	mu     sync.Mutex
	idle   []*idleLink // HTTP/1, the longest waiting first
	shared map[string]*h2Link
	closed bool
}

type idleLink struct {
	key   string
	link  *h1Link
	timer *time.Timer
	since time.Time // wall clock: timers stand still while the machine sleeps
}

func newPool() *pool { return &pool{shared: map[string]*h2Link{}} }

// take gives a connection for key that can serve one more request, nil for none.
func (p *pool) take(key string) link {
	p.mu.Lock()
	if l := p.shared[key]; l != nil {
		if l.conn.ReserveNewRequest() {
			p.mu.Unlock()
			return l
		}
		delete(p.shared, key)
	}
	p.mu.Unlock()
	for {
		l := p.pop(key)
		if l == nil {
			return nil
		}
		if time.Since(l.since) < idleLife && l.link.wire.quiet() {
			return l.link
		}
		l.link.close()
	}
}

// pop removes the connection for key that was used last.
func (p *pool) pop(key string) *idleLink {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, e := range slices.Backward(p.idle) {
		if e.key == key && e.timer.Stop() {
			p.idle = slices.Delete(p.idle, i, i+1)
			return e
		}
	}
	return nil
}

// put keeps an HTTP/1 connection for another request; what is too much is closed.
func (p *pool) put(key string, l *h1Link) {
	e := &idleLink{key: key, link: l, since: time.Now().Round(0)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		l.close()
		return
	}
	e.timer = time.AfterFunc(idleLife, func() { p.expire(e) })
	p.idle = append(p.idle, e)
	same := func(o *idleLink) bool { return o.key == key }
	if n := count(p.idle, same); n > idlePerHost {
		p.drop(slices.IndexFunc(p.idle, same))
	} else if len(p.idle) > idleTotal {
		p.drop(0)
	}
}

// drop closes an idle connection. The lock is held.
func (p *pool) drop(i int) {
	e := p.idle[i]
	e.timer.Stop()
	e.link.close()
	p.idle = slices.Delete(p.idle, i, i+1)
}

func (p *pool) expire(e *idleLink) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.idle, e); i >= 0 {
		p.drop(i)
	}
}

// share offers an HTTP/2 connection to later requests. It reports false where there
// is one already, or the pool is closed: the connection then serves one request.
func (p *pool) share(key string, l *h2Link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.shared[key]; p.closed || old != nil && old.conn.CanTakeNewRequest() {
		return false
	}
	for k, old := range p.shared {
		if len(p.shared) >= idleTotal && !old.conn.CanTakeNewRequest() {
			delete(p.shared, k)
		}
	}
	p.shared[key] = l
	return true
}

// close ends what waits, and keeps nothing from now on.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for len(p.idle) > 0 {
		p.drop(0)
	}
	for key, l := range p.shared {
		l.retire()
		delete(p.shared, key)
	}
}

func count[T any](s []T, f func(T) bool) (n int) {
	for _, v := range s {
		if f(v) {
			n++
		}
	}
	return n
}
