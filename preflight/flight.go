// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// flights lets callers who want the same thing share one errand. An errand runs
// apart from the caller who started it, under a deadline of its own, and is
// canceled when nobody waits for it any more. The zero value is ready.
type flights[V any] struct {
	mu  sync.Mutex
	out map[string]*flight[V]
}

type flight[V any] struct {
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{} // closed when value and err are set
	waiting int
	value   V
	err     error
}

// do runs errand for key, or joins the one that is out, and waits for it, for
// ctx, or for the deadline, whichever comes first. An errand that does not
// honour its context is left behind.
func (s *flights[V]) do(ctx context.Context, key string, limit time.Duration, errand func(context.Context) (V, error)) (V, error) {
	f := s.join(ctx, key, limit, errand)
	defer s.leave(key, f)
	var none V
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-f.ctx.Done():
	}
	select {
	case <-f.done: // it ended, and its end canceled its context
		return f.value, f.err
	default:
		return none, f.ctx.Err()
	}
}

func (s *flights[V]) join(ctx context.Context, key string, limit time.Duration, errand func(context.Context) (V, error)) *flight[V] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.out[key]; f != nil && f.ctx.Err() == nil {
		f.waiting++
		return f
	}
	if s.out == nil {
		s.out = map[string]*flight[V]{}
	}
	f := &flight[V]{done: make(chan struct{}), waiting: 1}
	f.ctx, f.cancel = context.WithTimeout(context.WithoutCancel(ctx), limit)
	s.out[key] = f
	go func() {
		defer f.cancel()
		f.value, f.err = errand(f.ctx)
		close(f.done)
		s.land(key, f)
	}()
	return f
}

func (s *flights[V]) leave(key string, f *flight[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel() // under the lock, so that nobody joins a flight on its way down
	}
}

func (s *flights[V]) land(key string, f *flight[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out[key] == f {
		delete(s.out, key)
	}
}

// shelf keeps values for a time, bounded in number and weight; the oldest goes
// first. Time is that of the machine's clock.
type shelf[V any] struct {
	age       time.Duration
	maxCount  int
	maxWeight int // 0: no bound

	mu     sync.Mutex
	byKey  map[string]*list.Element
	order  list.List // of kept[V], oldest first
	weight int
}

type kept[V any] struct {
	key    string
	value  V
	weight int
	at     time.Time
}

func (s *shelf[V]) get(key string) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var none V
	e := s.byKey[key]
	if e == nil {
		return none, false
	}
	k := e.Value.(kept[V])
	if time.Since(k.at) >= s.age {
		s.drop(e)
		return none, false
	}
	return k.value, true
}

func (s *shelf[V]) put(key string, v V, weight int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey == nil {
		s.byKey = map[string]*list.Element{}
	}
	if e := s.byKey[key]; e != nil {
		s.drop(e)
	}
	s.byKey[key] = s.order.PushBack(kept[V]{key, v, weight, time.Now()})
	s.weight += weight
	for s.order.Len() > s.maxCount || s.maxWeight > 0 && s.weight > s.maxWeight && s.order.Len() > 1 {
		s.drop(s.order.Front())
	}
}

func (s *shelf[V]) drop(e *list.Element) {
	k := s.order.Remove(e).(kept[V])
	s.weight -= k.weight
	delete(s.byKey, k.key)
}
