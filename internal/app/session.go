// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
)

// sessionPatience bounds the wait until what a session has shown is written down: a
// write takes milliseconds, and a fetch does not depend on it.
const sessionPatience = 2 * time.Second

// seen opens the ledger of a session: on disk where the session has a name that
// several commands share.
func (a *App) seen(session string) permit.Seen {
	if a.db == nil || session == "" {
		return permit.NewLedger()
	}
	return &shared{here: permit.NewLedger(), disk: a.db.Seen(session), note: a.note}
}

// shared is the ledger of a session that several commands share. What cannot be
// written to the disk is known to this process alone: others know less then, and
// are the stricter for it.
type shared struct {
	here, disk permit.Seen
	note       func(string)
	told       atomic.Bool
}

// Has implements permit.Seen.
func (s *shared) Has(ctx context.Context, key string) (bool, error) {
	if has, err := s.here.Has(ctx, key); has || err != nil {
		return has, err
	}
	return s.disk.Has(ctx, key)
}

// Add implements permit.Seen.
func (s *shared) Add(ctx context.Context, origin string, keys ...string) error {
	if err := s.here.Add(ctx, origin, keys...); err != nil {
		return err
	}
	own, cancel := context.WithTimeout(ctx, sessionPatience)
	defer cancel()
	err := s.disk.Add(own, origin, keys...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !s.told.Swap(true) {
		s.note(fault.From(err).Detail + "; only this process knows what the session has shown")
	}
	return nil
}
