// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Why a wait was ended. They travel as context causes, so that one place can tell
// which deadline passed.
var (
	errConnect = errors.New("no connection in time")
	errHeaders = errors.New("no header in time")
	errIdle    = errors.New("the body stood still")
	errTotal   = errors.New("the whole fetch took too long")
	errDrain   = errors.New("the rest of the body is not worth a wait")
)

// watch ends an exchange when the phase it is in stands still for too long. Its
// context is what the exchange runs under.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration
}

func newWatch(parent context.Context) *watch {
	ctx, cancel := context.WithCancelCause(parent)
	return &watch{ctx: ctx, cancel: cancel}
}

// phase starts a new phase; it ends the one before.
func (w *watch) phase(limit time.Duration, cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
	w.limit = limit
	w.timer = time.AfterFunc(limit, func() { w.cancel(cause) })
}

// touch says that something came: the phase's time starts again.
func (w *watch) touch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Reset(w.limit)
}

// rest stops the clock until touch; for waits that are our own doing.
func (w *watch) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
}

// stop ends the watch and releases its context.
func (w *watch) stop() {
	w.rest()
	w.cancel(context.Canceled)
}
