// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/dipper-web/dipper/permit"
)

const (
	// maxSeen bounds the URLs of one session: a long day of reading, and a few
	// megabytes. Links of pages go before what a person or a search brought, so
	// that no page can push those out.
	maxSeen = 10_000

	// seenDays is how long a session is remembered after its last new URL.
	seenDays = 30
)

// Seen keeps which URLs the conversation of a session has shown.
func (d *DB) Seen(session string) permit.Seen { return &seen{d, session} }

type seen struct {
	db      *DB
	session string
}

// Has implements permit.Seen.
func (s *seen) Has(ctx context.Context, key string) (bool, error) {
	found := true
	err := s.db.read(ctx, func(pool *sql.DB) error {
		var one int
		err := pool.QueryRowContext(ctx, "SELECT 1 FROM seen WHERE session = ? AND key = ?", s.session, key).Scan(&one)
		if errors.Is(err, sql.ErrNoRows) {
			found, err = false, nil
		}
		return err
	})
	return found && err == nil, err
}

// Add implements permit.Seen. A key that was seen before stays with its first
// origin, unless that was only a page.
func (s *seen) Add(ctx context.Context, origin string, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	now := time.Now()
	return s.db.write(ctx, func(tx *sql.Tx) error {
		add, err := tx.PrepareContext(ctx, `INSERT INTO seen (session, key, origin, at) VALUES (?, ?, ?, ?)
			ON CONFLICT (session, key) DO UPDATE SET at = excluded.at,
				origin = CASE origin WHEN 'page' THEN excluded.origin ELSE origin END`)
		if err != nil {
			return err
		}
		defer add.Close()
		for _, k := range keys {
			if _, err := add.ExecContext(ctx, s.session, k, origin, now.UnixMicro()); err != nil {
				return err
			}
		}
		return s.trim(ctx, tx, now)
	})
}

// trim keeps the session to its bound and ends sessions of long ago.
func (s *seen) trim(ctx context.Context, tx *sql.Tx, now time.Time) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM seen WHERE at < ?", now.AddDate(0, 0, -seenDays).UnixMicro())
	if err != nil {
		return err
	}
	var n int
	err = tx.QueryRowContext(ctx, "SELECT count(*) FROM seen WHERE session = ?", s.session).Scan(&n)
	if err != nil || n <= maxSeen {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM seen WHERE session = ?1 AND key IN
		(SELECT key FROM seen WHERE session = ?1 ORDER BY origin <> 'page', at LIMIT ?2)`, s.session, n-maxSeen)
	return err
}
