// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// DefaultMemory bounds what is held in memory, in bytes: some three hundred
// pages of ordinary size, and small beside a browser tab.
const DefaultMemory = 50 << 20

// overhead is what one held entry costs beside its bytes: two times, a few
// string headers, a list node and a map slot. Without it a million empty
// entries would count as nothing.
const overhead = 256

// byteLRU holds values until the sum of their sizes passes a limit; then the
// one used longest ago goes first. It is safe for use by several goroutines.
type byteLRU[V any] struct {
	mu    sync.Mutex
	lru   *simplelru.LRU[string, sized[V]]
	limit int64
	sum   int64
}

type sized[V any] struct {
	value V
	bytes int64
}

func newByteLRU[V any](limit int64) *byteLRU[V] {
	l := &byteLRU[V]{limit: limit}
	// The only error is a count below one; the count is no bound here, bytes are.
	l.lru, _ = simplelru.NewLRU(math.MaxInt32, func(_ string, s sized[V]) { l.sum -= s.bytes })
	return l
}

func (l *byteLRU[V]) get(key string) (V, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.lru.Get(key)
	return s.value, ok
}

// put holds v and reports whether it fits at all. One that does not fit also
// ends the value it would have replaced: an older answer is not an answer.
func (l *byteLRU[V]) put(key string, v V, bytes int64) bool {
	bytes += int64(len(key)) + overhead
	l.mu.Lock()
	defer l.mu.Unlock()
	// Removed and added, not overwritten: only removal takes its bytes off the sum.
	l.lru.Remove(key)
	if bytes > l.limit {
		return false
	}
	l.lru.Add(key, sized[V]{v, bytes})
	l.sum += bytes
	for l.sum > l.limit {
		l.lru.RemoveOldest()
	}
	return true
}

func (l *byteLRU[V]) remove(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lru.Remove(key)
}

func (l *byteLRU[V]) clear() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.lru.Len()
	l.lru.Purge()
	return n
}

// values gives all held values without changing their order of use.
func (l *byteLRU[V]) values() []V {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.lru.Values()
	vs := make([]V, len(held))
	for i, s := range held {
		vs[i] = s.value
	}
	return vs
}

func (l *byteLRU[V]) bytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum
}
