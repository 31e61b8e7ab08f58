// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// Pauses remembers until when a host (host:port) wants to be left alone. A shared
// form lets all processes of one user keep to it.
type Pauses interface {
	// Until gives the end of the host's pause, the zero time for none.
	Until(ctx context.Context, host string) (time.Time, error)
	// Pause sets it.
	Pause(ctx context.Context, host string, until time.Time) error
}

// memoryPauses is Pauses for one process. Pauses are short, so what has passed is
// dropped whenever one is added.
type memoryPauses struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func newPauses() *memoryPauses { return &memoryPauses{until: map[string]time.Time{}} }

func (m *memoryPauses) Until(_ context.Context, host string) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.until[host], nil
}

func (m *memoryPauses) Pause(_ context.Context, host string, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(m.until, func(_ string, t time.Time) bool { return !t.After(now) })
	m.until[host] = until
	return nil
}

// mayAsk refuses a host that asked us to wait. A store that fails is no reason to
// fail the fetch: the site will say so again.
func (h *HTTP) mayAsk(ctx context.Context, t check.Target) error {
	until, err := h.pauses.Until(ctx, t.HostPort())
	left := time.Until(until)
	if err != nil || left <= 0 {
		return nil
	}
	left = min(left, PauseLimit)
	e := fault.New(fault.Limited, fault.BySelf, "%s asked to wait, and %v of that is left", t.Host(), left.Round(time.Second))
	e.RetryAfter = left
	return e
}

// pause leaves a host alone for a while. It outlives the call that was limited.
func (h *HTTP) pause(ctx context.Context, t check.Target, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	// A lost pause costs one more 429, which sets it again.
	_ = h.pauses.Pause(ctx, t.HostPort(), time.Now().Add(d))
}

// retryAfter reads the header of that name (RFC 9110 section 10.2.3): seconds or a
// date. Nothing usable, or a time that has passed, is PauseDefault; more than
// PauseLimit is PauseLimit.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	d := time.Duration(0)
	if s, err := strconv.ParseUint(value, 10, 64); err == nil {
		d = time.Duration(min(s, uint64(PauseLimit/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		d = at.Sub(now)
	}
	if d <= 0 {
		return PauseDefault
	}
	return min(d, PauseLimit)
}
