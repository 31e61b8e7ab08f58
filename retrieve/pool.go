// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"net/http"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// pool keeps transports, and in them waiting connections, between requests: one for
// each routeKey, the ones used last. What falls out closes its waiting connections.
type pool struct {
	mu     sync.Mutex
	kept   *simplelru.LRU[string, *http.Transport]
	closed bool
}

func newPool() *pool {
	// Only a size below one is refused.
	kept, _ := simplelru.NewLRU(routesKept, func(_ string, t *http.Transport) { t.CloseIdleConnections() })
	return &pool{kept: kept}
}

// take gives the transport for key, made by fresh where there is none. The one
// named as old is replaced: whatever waits in it has shown to be of no use.
func (p *pool) take(key string, old *http.Transport, fresh func() *http.Transport) *http.Transport {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t, ok := p.kept.Get(key); ok && t != old {
		return t
	} else if ok {
		p.kept.Remove(key)
	}
	t := fresh()
	if t.DisableKeepAlives = p.closed; !p.closed {
		p.kept.Add(key, t)
	}
	return t
}

// close ends what waits, and keeps nothing from now on.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.kept.Purge()
}
