// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/dipper-web/dipper/retrieve"
)

// maxPause is the longest time a host is left alone. One that lies further
// ahead was written before the clock was set back, and counts for nothing.
const maxPause = 15 * time.Minute

// Pauses keeps which hosts asked to be left alone, for all processes of this
// user.
func (d *DB) Pauses() retrieve.Pauses { return &pauses{d} }

type pauses struct{ db *DB }

// Until implements retrieve.Pauses: the zero time when there is no pause.
func (p *pauses) Until(ctx context.Context, host string) (time.Time, error) {
	var us int64
	err := p.db.read(ctx, func(pool *sql.DB) error {
		err := pool.QueryRowContext(ctx, "SELECT until FROM pauses WHERE host = ?", host).Scan(&us)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	now, until := time.Now(), fromMicro(us)
	if err != nil || !until.After(now) || until.After(now.Add(maxPause)) {
		return time.Time{}, err
	}
	return until, nil
}

// Pause implements retrieve.Pauses. Of two pauses the one that ends later
// stands, and none is longer than fifteen minutes.
func (p *pauses) Pause(ctx context.Context, host string, until time.Time) error {
	now := time.Now()
	last := now.Add(maxPause)
	if until.After(last) {
		until = last
	}
	return p.db.write(ctx, func(tx *sql.Tx) error {
		// Those that are over, and those of a clock that was set back.
		_, err := tx.ExecContext(ctx, "DELETE FROM pauses WHERE until <= ? OR until > ?", now.UnixMicro(), last.UnixMicro())
		if err != nil || !until.After(now) {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO pauses (host, until) VALUES (?, ?)
			ON CONFLICT (host) DO UPDATE SET until = max(until, excluded.until)`, host, until.UnixMicro())
		return err
	})
}
