// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// pacer keeps the requests to each host, and to all hosts together, at a bearable
// number, and a gap between the starts of two requests to one host.
type pacer struct {
	parallel int
	every    time.Duration
	all      chan struct{}

	mu    sync.Mutex
	lanes map[string]*lane
}

// lane is the queue of one host.
type lane struct {
	slots chan struct{}
	gap   *rate.Limiter // nil: none
	users int           // who waits or works here; guarded by pacer.mu
	last  time.Time     // last use, guarded by pacer.mu
}

func newPacer(parallel int, every time.Duration) *pacer {
	return &pacer{parallel: parallel, every: every, all: make(chan struct{}, atOnce), lanes: map[string]*lane{}}
}

// enter waits for a turn; the returned function gives it back.
func (p *pacer) enter(ctx context.Context, host string) (leave func(), err error) {
	l := p.join(host)
	if err := acquire(ctx, l.slots); err != nil {
		p.quit(host, l)
		return nil, err
	}
	back := func() {
		<-l.slots
		p.quit(host, l)
	}
	if l.gap != nil {
		if err := l.gap.Wait(ctx); err != nil {
			back()
			// Wait also gives up at once when the turn would come after the deadline.
			return nil, causeOr(ctx, errTotal)
		}
	}
	if err := acquire(ctx, p.all); err != nil {
		back()
		return nil, err
	}
	return func() { <-p.all; back() }, nil
}

func (p *pacer) join(host string) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[host]
	if l == nil {
		l = &lane{slots: make(chan struct{}, p.parallel)}
		if p.every > 0 {
			l.gap = rate.NewLimiter(rate.Every(p.every), 1)
		}
		p.lanes[host] = l
	}
	l.users++
	return l
}

// quit leaves a lane, and forgets lanes that nobody uses and whose gap is over.
func (p *pacer) quit(host string, l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.users--
	l.last = time.Now()
	if l.users == 0 && p.every == 0 {
		delete(p.lanes, host)
	}
	if len(p.lanes) <= atOnce {
		return
	}
	for name, l := range p.lanes {
		if l.users == 0 && time.Since(l.last) > p.every {
			delete(p.lanes, name)
		}
	}
}

// acquire takes a slot, or gives the reason why the context ended.
func acquire(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
