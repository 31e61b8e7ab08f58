// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/dipper-web/dipper/fault"
)

// flights merges simultaneous work for one key. A flight belongs to nobody: it
// ends when its work does, or when the last of those who wait for it leaves.
type flights[T any] struct {
	mu    sync.Mutex
	byKey map[string]*flight[T]
}

type flight[T any] struct {
	key     string
	waiting int // guarded by flights.mu
	cancel  context.CancelFunc
	done    chan struct{} // closed after got and err are set
	got     T
	err     error
}

// do joins the flight of key, or starts one, and waits for it. led says whether
// this caller started it. The work runs with the values of its first caller's
// context but without its end. When ctx ends do returns at once.
func (fs *flights[T]) do(ctx context.Context, key string, work func(context.Context) (T, error)) (got T, led bool, err error) {
	f, led := fs.join(ctx, key, work)
	select {
	case <-f.done:
		return f.got, led, f.err
	case <-ctx.Done():
	}
	fs.leave(f)
	select {
	case <-f.done: // it ended at the same moment: an answer is better than none
		return f.got, led, f.err
	default:
		return got, led, ended(ctx)
	}
}

func (fs *flights[T]) join(ctx context.Context, key string, work func(context.Context) (T, error)) (*flight[T], bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f, ok := fs.byKey[key]; ok {
		f.waiting++
		return f, false
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight[T]{key: key, waiting: 1, cancel: cancel, done: make(chan struct{})}
	if fs.byKey == nil {
		fs.byKey = map[string]*flight[T]{}
	}
	fs.byKey[key] = f
	go fs.fly(own, f, work)
	return f, true
}

// leave takes one waiter off. The last one cancels the flight and takes it out
// of the map first, so that nobody joins what is about to fail.
func (fs *flights[T]) leave(f *flight[T]) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		fs.forget(f)
		f.cancel()
	}
}

func (fs *flights[T]) forget(f *flight[T]) {
	if fs.byKey[f.key] == f {
		delete(fs.byKey, f.key)
	}
}

// fly runs the work. It leaves the map before it wakes anybody, so that who
// comes later starts anew and never gets a failure that was not its own.
func (fs *flights[T]) fly(ctx context.Context, f *flight[T], work func(context.Context) (T, error)) {
	// What stands here holds when work calls runtime.Goexit.
	f.err = fault.New(fault.Internal, "", "the work for this answer ended without a result")
	defer func() {
		if p := recover(); p != nil {
			f.err = fault.Wrap(fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
				fault.Internal, "", "something went wrong inside Dipper while the answer was made")
		}
		fs.mu.Lock()
		fs.forget(f)
		fs.mu.Unlock()
		f.cancel()
		close(f.done)
	}()
	f.got, f.err = work(ctx)
}

// ended gives the failure of a context that is over, nil before.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	if f, ok := context.Cause(ctx).(*fault.Error); ok {
		return f
	}
	return fault.From(ctx.Err())
}
