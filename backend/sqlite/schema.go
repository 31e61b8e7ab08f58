// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/dipper-web/dipper/fault"
)

// application marks the file as ours in its header ("DIPR").
const application = 0x44495052

// migrations gives the steps from one schema to the next. The number of steps
// taken stands in PRAGMA user_version. A step that was released is never
// changed; a new one is added at the end.
func migrations() []string {
	const shelf = `
		CREATE TABLE %[1]s (
			n          INTEGER PRIMARY KEY,
			key        TEXT NOT NULL UNIQUE,
			id         TEXT NOT NULL,
			url        TEXT NOT NULL,
			title      TEXT NOT NULL,
			size       INTEGER NOT NULL, -- of the data as it was put in, in bytes
			stored_at  INTEGER NOT NULL, -- this and all other times: microseconds since 1970, UTC
			checked_at INTEGER NOT NULL,
			used       INTEGER NOT NULL, -- grows with every use, over all shelves; no time, so clocks may jump
			seal       BLOB NOT NULL,    -- digest of all of the above but n and used, and of data
			data       BLOB NOT NULL     -- zstd; last, so that lists need not read past it
		) STRICT;
		CREATE INDEX %[1]s_id ON %[1]s (id);
		CREATE INDEX %[1]s_url ON %[1]s (url);
		CREATE INDEX %[1]s_stored ON %[1]s (stored_at);
		CREATE INDEX %[1]s_used ON %[1]s (used);`
	return []string{
		fmt.Sprintf(shelf, pages) + fmt.Sprintf(shelf, replies) + `
		CREATE TABLE consents (
			rule TEXT PRIMARY KEY,
			kind TEXT NOT NULL,
			at   INTEGER NOT NULL,
			seal BLOB NOT NULL
		) STRICT, WITHOUT ROWID;
		CREATE TABLE seen (
			session TEXT NOT NULL,
			key     TEXT NOT NULL,
			origin  TEXT NOT NULL,
			at      INTEGER NOT NULL,
			PRIMARY KEY (session, key)
		) STRICT, WITHOUT ROWID;
		CREATE INDEX seen_at ON seen (at);
		CREATE TABLE pauses (
			host  TEXT PRIMARY KEY,
			until INTEGER NOT NULL
		) STRICT, WITHOUT ROWID;`,
	}
}

// migrate sets the journal mode and takes the steps that are missing.
func migrate(ctx context.Context, pool *sql.DB, journal string) error {
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := checkVersion(ctx, c); err != nil {
		return err
	}
	have, err := version(ctx, c)
	if err != nil {
		return err
	}
	if have == 0 {
		// Only before the first page is written, and only then: on a file that has
		// pages this statement takes the write lock.
		if _, err := c.ExecContext(ctx, "PRAGMA auto_vacuum=INCREMENTAL"); err != nil {
			return err
		}
	}
	if err := setJournal(ctx, c, journal); err != nil || have == len(migrations()) {
		return err
	}
	return transact(ctx, c, func(tx *sql.Tx) error { return step(ctx, tx) })
}

// setJournal changes the journal mode, which stands in the file, if need be.
func setJournal(ctx context.Context, q querier, journal string) error {
	var mode string
	err := q.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
	if err != nil || strings.EqualFold(mode, journal) {
		return err
	}
	return q.QueryRowContext(ctx, "PRAGMA journal_mode="+journal).Scan(&mode)
}

// step takes all missing steps in one transaction.
func step(ctx context.Context, tx *sql.Tx) error {
	have, err := version(ctx, tx)
	if err != nil {
		return err
	}
	all := migrations()
	for _, s := range all[min(have, len(all)):] {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version=%d; PRAGMA application_id=%d", len(all), application))
	return err
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func version(ctx context.Context, q querier) (v int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

// checkVersion refuses a file that is not ours to touch.
func checkVersion(ctx context.Context, q querier) error {
	var have, app, tables int
	err := q.QueryRowContext(ctx, `SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`).Scan(&have, &app, &tables)
	switch known := len(migrations()); {
	case err != nil:
		return err
	case app != application && tables > 0:
		return &fault.Error{Kind: fault.Invalid,
			Detail: "the file is a database, but not a library of Dipper; it was left as it is",
			Advice: "Move the file away, or name another folder with DIPPER_HOME."}
	case have > known:
		return &fault.Error{Kind: fault.Invalid,
			Detail: fmt.Sprintf("the library was written by a newer Dipper (its schema is %d, this program knows %d); it was left as it is", have, known),
			Advice: "Use the newer Dipper, or name another folder with DIPPER_HOME."}
	case have == 0 && tables > 0:
		return errDamaged
	}
	return nil
}
