// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/fault"
)

const (
	// maxRecent bounds the reads that wait to be written down as uses. Beyond
	// it the order in which entries go is less exact, nothing else.
	maxRecent = 1024

	// maxEvictions bounds what one Put pushes out, so that a lowered limit is
	// reached over some calls and not in one endless transaction.
	maxEvictions = 512
)

// place is one row of a shelf.
type place struct {
	table string
	n     int64
}

// recent holds which entries were read since the last write. A read must not
// wait for the write lock, so its use is written down with the next write.
type recent struct {
	mu   sync.Mutex
	uses map[[2]string]struct{} // table, key
}

func (r *recent) add(table, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.uses == nil {
		r.uses = map[[2]string]struct{}{}
	}
	if len(r.uses) < maxRecent {
		r.uses[[2]string{table, key}] = struct{}{}
	}
}

func (r *recent) take() map[[2]string]struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	uses := r.uses
	r.uses = nil
	return uses
}

// applyUsed writes the waiting uses down and gives the number for the next one.
func (d *DB) applyUsed(ctx context.Context, tx *sql.Tx) (int64, error) {
	var last int64
	err := tx.QueryRowContext(ctx, "SELECT max(coalesce((SELECT max(used) FROM pages), 0), coalesce((SELECT max(used) FROM replies), 0))").Scan(&last)
	if err != nil {
		return 0, err
	}
	last++
	for use := range d.used.take() {
		if _, err := tx.ExecContext(ctx, "UPDATE "+use[0]+" SET used = ? WHERE key = ?", last, use[1]); err != nil {
			return 0, err
		}
	}
	return last + 1, nil
}

// flushUsed writes the waiting uses down before the file is closed, if that can
// be done at once. Needs mu for reading.
func (d *DB) flushUsed() error {
	d.used.mu.Lock()
	waiting := len(d.used.uses)
	d.used.mu.Unlock()
	if waiting == 0 || d.pool == nil || d.damaged.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	return transact(ctx, d.pool, func(tx *sql.Tx) error {
		_, err := d.applyUsed(ctx, tx)
		return err
	})
}

// fileSize gives the size of the file and how much of it is in use, in bytes,
// as seen by q.
func fileSize(ctx context.Context, q querier) (whole, used int64, err error) {
	var count, free, size int64
	err = q.QueryRowContext(ctx, `SELECT page_count, freelist_count, page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&count, &free, &size)
	return count * size, (count - free) * size, err
}

// makeRoom pushes out what was used longest ago until the file fits its bound
// again. Needed is the row that just came; when it is the next to go, it is too
// large to be kept.
func (d *DB) makeRoom(ctx context.Context, tx *sql.Tx, needed place, e cache.Entry) error {
	for range maxEvictions {
		whole, used, err := fileSize(ctx, tx)
		if err != nil {
			return err
		}
		if used <= d.o.DiskBytes {
			return giveBack(ctx, tx, whole-d.o.DiskBytes)
		}
		victim, err := longestUnused(ctx, tx)
		if errors.Is(err, sql.ErrNoRows) || victim == needed {
			return fault.New(fault.TooLarge, "", "%s is not kept: its %d bytes do not fit into the library (at most %d bytes, cache.disk)",
				e.URL, len(e.Data), d.o.DiskBytes)
		}
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM "+victim.table+" WHERE n = ?", victim.n); err != nil {
			return err
		}
	}
	return nil
}

func longestUnused(ctx context.Context, tx *sql.Tx) (p place, err error) {
	err = tx.QueryRowContext(ctx, `SELECT t, n FROM (
		SELECT * FROM (SELECT 'pages' AS t, n, used FROM pages ORDER BY used LIMIT 1)
		UNION ALL
		SELECT * FROM (SELECT 'replies' AS t, n, used FROM replies ORDER BY used LIMIT 1)
	) ORDER BY used LIMIT 1`).Scan(&p.table, &p.n)
	return p, err
}

type rowser interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// giveBack cuts about this many bytes of free pages off the end of the file.
func giveBack(ctx context.Context, q rowser, bytes int64) error {
	const smallestPage = 512 // at worst more is given back than asked for
	if bytes <= 0 {
		return nil
	}
	return drain(ctx, q, "PRAGMA incremental_vacuum("+strconv.FormatInt(1+bytes/smallestPage, 10)+")")
}

// drain runs a statement that works only while its rows are read.
func drain(ctx context.Context, q rowser, statement string) error {
	rows, err := q.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// shrink gives all free pages and the log back to the disk, after something
// was removed on purpose: then it should also be gone from the disk.
func (d *DB) shrink(ctx context.Context) error {
	err := d.write(ctx, func(tx *sql.Tx) error { return drain(ctx, tx, "PRAGMA incremental_vacuum") })
	if err != nil {
		return err
	}
	return d.checkpoint(ctx, "TRUNCATE")
}

// checkpoint moves the log into the file and flushes both. A reader in another
// process may keep part of it back; that is no error.
func (d *DB) checkpoint(ctx context.Context, how string) error {
	return d.read(ctx, func(pool *sql.DB) error {
		err := drain(ctx, pool, "PRAGMA wal_checkpoint("+how+")")
		if code(err) == codeBusy {
			return nil
		}
		return err
	})
}
