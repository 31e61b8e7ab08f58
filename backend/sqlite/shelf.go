// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/fault"
)

// The tables of the two shelves.
const (
	pages   = "pages"
	replies = "replies"
)

// Pages is the page library. To remove pages from it, or all, also removes the
// replies that were made from them.
func (d *DB) Pages() cache.Shelf { return &shelf{d, pages} }

// Replies keeps what the helper model made of pages.
func (d *DB) Replies() cache.Store { return &shelf{d, replies} }

// shelf is a cache.Shelf in one table.
type shelf struct {
	db    *DB
	table string
}

// Get implements cache.Store. A damaged entry is not kept, and noted.
func (s *shelf) Get(ctx context.Context, key string) (cache.Entry, bool, error) {
	return s.one(ctx, "key = ?", key)
}

// ByID implements cache.Shelf.
func (s *shelf) ByID(ctx context.Context, id string) (cache.Entry, bool, error) {
	return s.one(ctx, "id = ? AND id <> '' ORDER BY checked_at DESC LIMIT 1", id)
}

func (s *shelf) one(ctx context.Context, where, arg string) (cache.Entry, bool, error) {
	var r row
	found := true
	err := s.db.read(ctx, func(pool *sql.DB) error {
		err := pool.QueryRowContext(ctx, "SELECT "+columns+" FROM "+s.table+" WHERE "+where, arg).Scan(r.fields()...)
		if errors.Is(err, sql.ErrNoRows) {
			found, err = false, nil
		}
		return err
	})
	if err != nil || !found {
		return cache.Entry{}, false, err
	}
	e, ok := s.db.code.unpack(r)
	if !ok {
		s.db.o.OnNote(fmt.Sprintf("an entry of the library %s was damaged on the disk and is not used", s.db.path))
		return cache.Entry{}, false, nil
	}
	s.db.used.add(s.table, e.Key)
	return e, true, nil
}

// Put implements cache.Store. What it replaces or pushes out and what it keeps
// change together or not at all.
func (s *shelf) Put(ctx context.Context, e cache.Entry) error {
	r, err := s.db.code.pack(e)
	if err != nil {
		return err
	}
	return s.notKept(s.db.write(ctx, func(tx *sql.Tx) error {
		used, err := s.db.applyUsed(ctx, tx)
		if err != nil {
			return err
		}
		var n int64
		err = tx.QueryRowContext(ctx, `INSERT INTO `+s.table+` (`+columns+`, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET id=excluded.id, url=excluded.url, title=excluded.title, size=excluded.size,
				stored_at=excluded.stored_at, checked_at=excluded.checked_at, seal=excluded.seal, data=excluded.data, used=excluded.used
			RETURNING n`,
			r.key, r.id, r.url, r.title, r.size, r.stored, r.checked, r.seal, r.data, used).Scan(&n)
		if err != nil {
			return err
		}
		return s.db.makeRoom(ctx, tx, place{s.table, n}, e)
	}))
}

// notKept adds to a failure of the library what it means.
func (s *shelf) notKept(err error) error {
	f, ok := err.(*fault.Error)
	if !ok || f.Kind != fault.Internal {
		return err
	}
	what := map[string]string{pages: "page", replies: "reply"}[s.table]
	said := *f
	said.Detail += "; the " + what + " was not kept"
	return &said
}

// List implements cache.Shelf.
func (s *shelf) List(ctx context.Context, limit int) ([]cache.Entry, error) {
	if limit <= 0 {
		limit = -1 // SQLite's word for all
	}
	var list []cache.Entry
	err := s.db.read(ctx, func(pool *sql.DB) error {
		rows, err := pool.QueryContext(ctx, "SELECT key, id, url, title, size, stored_at, checked_at FROM "+s.table+
			" ORDER BY stored_at DESC, key LIMIT ?", limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r row
			if err := rows.Scan(r.fields()[:7]...); err != nil {
				return err
			}
			list = append(list, r.about())
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Stats implements cache.Shelf. Used and Limit are those of the whole file.
func (s *shelf) Stats(ctx context.Context) (cache.Stats, error) {
	st := cache.Stats{Limit: s.db.o.DiskBytes}
	var oldest, newest sql.NullInt64
	err := s.db.read(ctx, func(pool *sql.DB) error {
		err := pool.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(size), 0), min(stored_at), max(stored_at) FROM "+s.table).
			Scan(&st.Count, &st.Bytes, &oldest, &newest)
		if err != nil {
			return err
		}
		_, st.Used, err = fileSize(ctx, pool)
		return err
	})
	if err != nil {
		return cache.Stats{}, err
	}
	if st.Count > 0 {
		st.Oldest, st.Newest = fromMicro(oldest.Int64), fromMicro(newest.Int64)
	}
	return st, nil
}

// Remove implements cache.Shelf.
func (s *shelf) Remove(ctx context.Context, url string) (int, error) {
	return s.remove(ctx, " WHERE url = ?1 OR key = ?1", url)
}

// Clear implements cache.Shelf. The space goes back to the disk.
func (s *shelf) Clear(ctx context.Context) (int, error) {
	return s.remove(ctx, "")
}

func (s *shelf) remove(ctx context.Context, where string, args ...any) (int, error) {
	var n int64
	forget := func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, "DELETE FROM "+s.table+where, args...)
		if err != nil {
			return err
		}
		if n, err = r.RowsAffected(); err != nil || s.table != pages {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM "+replies+where, args...)
		return err
	}
	err := s.db.write(ctx, forget)
	if err == nil {
		err = s.db.shrink(ctx)
	}
	if err != nil && noRoomFor(s.db.path, err) {
		before := n // gone already where only the space could not be given back
		err = s.db.inPlace(ctx, forget)
		n = max(n, before)
	}
	if err != nil {
		return 0, err
	}
	return int(n), nil
}
