// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"

	"github.com/dipper-web/dipper/check"
)

// maxSeen is how many URLs a ledger in memory knows; beyond it the oldest are
// forgotten, which costs a question and permits nothing. A page hands out a few
// hundred links, so this is a session of many hundred pages, in about 10 MiB.
const maxSeen = 1 << 17

// Key gives the name of a URL in a ledger: the URL after normalisation, without
// its fragment, which never leaves the machine, and with http written as https,
// since a fetch may be upgraded. Anything else that differs is another URL.
func Key(t check.Target) string {
	key := t.Key()
	if rest, plain := strings.CutPrefix(key, "http://"); plain {
		return "https://" + rest
	}
	return key
}

// ledger keeps digests, so that its size does not depend on the pages seen.
type ledger struct {
	mu    sync.Mutex
	has   map[[sha256.Size]byte]struct{}
	order [][sha256.Size]byte // a ring once it is full
	next  int
	limit int
}

// NewLedger gives a Seen that lives as long as the process.
func NewLedger() Seen { return newLedger(maxSeen) }

func newLedger(limit int) *ledger {
	return &ledger{has: map[[sha256.Size]byte]struct{}{}, limit: limit}
}

func (l *ledger) Has(_ context.Context, key string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, has := l.has[sha256.Sum256([]byte(key))]
	return has, nil
}

func (l *ledger) Add(_ context.Context, _ string, keys ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range keys {
		l.add(sha256.Sum256([]byte(k)))
	}
	return nil
}

func (l *ledger) add(sum [sha256.Size]byte) {
	if _, has := l.has[sum]; has {
		return
	}
	l.has[sum] = struct{}{}
	if len(l.order) < l.limit {
		l.order = append(l.order, sum)
		return
	}
	delete(l.has, l.order[l.next])
	l.order[l.next] = sum
	l.next = (l.next + 1) % l.limit
}
