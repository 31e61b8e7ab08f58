// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper

import (
	"context"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/dipper-web/dipper/permit"
)

const (
	// maxSessions bounds the ledgers kept at once; the one used longest ago goes first.
	maxSessions = 1024
	// maxPageLinks bounds what one page can add to a ledger, so that a page of
	// links cannot push everything else out.
	maxPageLinks = 5000
)

// ledgers hands out the provenance ledger of each session.
type ledgers struct {
	open func(session string) permit.Seen
	mu   sync.Mutex
	held *lru.LRU[string, permit.Seen]
}

func newLedgers(open func(string) permit.Seen) *ledgers {
	if open == nil {
		open = func(string) permit.Seen { return permit.NewLedger() }
	}
	held, err := lru.NewLRU[string, permit.Seen](maxSessions, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &ledgers{open: open, held: held}
}

func (l *ledgers) of(session string) permit.Seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen, ok := l.held.Get(session)
	if !ok {
		seen = l.open(session)
		l.held.Add(session, seen)
	}
	return seen
}

// keys turns the links of a page into keys of the ledger.
func (c *Client) keys(links []string) []string {
	keys := make([]string, 0, min(len(links), maxPageLinks))
	for _, l := range links {
		if len(keys) == maxPageLinks {
			break
		}
		if t, err := c.o.Limits.Parse(l); err == nil {
			keys = append(keys, permit.Key(t))
		}
	}
	return keys
}

// showed remembers what the conversation has now seen: where a redirect leads, or
// the links of a page that was handed out. Of a page that was only told about
// nobody has seen a link. A URL that a person named is permit's to remember.
func (v *visit) showed(ctx context.Context, r reading) {
	origin, keys := permit.FromPage, r.Links
	switch r.outcome() {
	case OK, Partial:
	case Moved:
		origin, keys = permit.FromRedirect, v.c.keys([]string{r.Moved.To})
	default:
		return
	}
	if len(keys) == 0 {
		return
	}
	if err := v.seen.Add(ctx, origin, keys...); err != nil {
		v.c.storeFailed("remembering what was seen", err)
	}
}
