// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/dipper-web/dipper/fault"
)

const (
	// busyPatience is how long a statement waits for a lock of another process.
	// A write takes milliseconds, so ten seconds mean that somebody hangs. The
	// driver ends the wait when the call's context ends.
	busyPatience = 10 * time.Second

	// logLimit is what the log shrinks back to after a checkpoint, in bytes.
	logLimit = 16 << 20

	// pageCache is what each connection holds of the file, in KiB.
	pageCache = 4096
)

// open takes the locks, opens the file, and sets a damaged one aside. bad is
// the file already known to be damaged, nil for none. Needs mu.
func (d *DB) open(ctx context.Context, bad os.FileInfo) error {
	if d.o.ReadOnly {
		return d.openSealed(ctx, byRequest)
	}
	setup, err := d.prepare(ctx)
	switch {
	case unwritable(err):
		return d.openSealedWithNote(ctx)
	case noRoomFor(d.path, err):
		return d.openFull(ctx)
	case err != nil:
		return err
	}
	defer setup.release()
	if bad != nil && same(d.path, bad) {
		return d.replace(ctx)
	}
	err = d.connect(ctx)
	switch {
	case err == nil:
		return nil
	case code(err) == codeReadOnly, code(err) == codeCantOpen && unwritableFile(d.path):
		return d.openSealedWithNote(ctx)
	case isDamage(err):
		return d.replace(ctx)
	case noRoomFor(d.path, err):
		return d.openFull(ctx)
	}
	d.inUse.release()
	return d.fail(ctx, "opened", err)
}

// prepare makes folder and file, and takes the two locks: the one for setting
// up, which is given back, and the one that says the file is in use.
func (d *DB) prepare(ctx context.Context) (setup *fileLock, err error) {
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Internal, "", "the folder of the library, %s, cannot be made", filepath.Dir(d.path))
	}
	if setup, err = lock(ctx, d.path+".setup", true); err != nil {
		return nil, err
	}
	if d.inUse, err = lock(ctx, d.path+".lock", false); err == nil {
		err = ownFile(d.path)
	}
	if err != nil {
		d.inUse.release()
		setup.release()
		return nil, err
	}
	return setup, nil
}

// ownFile makes the file where there is none, readable by its owner alone;
// SQLite gives its log the same mode. An existing file is never opened here:
// closing it would drop the locks that SQLite holds on it for this process.
func ownFile(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err == nil {
			return f.Close()
		}
	}
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return fault.Wrap(err, fault.Internal, "", "the library %s cannot be made or read", path)
	}
	return nil
}

// connect opens the pool and brings the schema up to date.
func (d *DB) connect(ctx context.Context) error {
	kind, network := d.o.network(filepath.Dir(d.path))
	journal, sync := "WAL", "NORMAL"
	if network {
		// The log's index is memory shared through the file, which machines on a
		// network do not share. A rollback journal needs locks alone; its commits
		// must be flushed, or a crash could tear the file.
		journal, sync = "DELETE", "FULL"
		if err := leaveWAL(ctx, d.path); err != nil {
			return err
		}
		d.o.OnNote(fmt.Sprintf("the library %s lies on a network file system (%s): it is kept without a write-ahead log, which is slower", d.path, kind))
	}
	pool, err := openPool(source(d.path, url.Values{
		"_synchronous": {sync},
		"_txlock":      {"immediate"},
		"_pragma": {
			fmt.Sprintf("journal_size_limit(%d)", logLimit),
			"secure_delete(FAST)", // what is removed is overwritten where that costs no extra writing
		},
	}))
	if err != nil {
		return err
	}
	if err = migrate(ctx, pool, journal); err == nil {
		err = checkVersion(ctx, pool) // reads, which takes what SQLite keeps beside a log
	}
	if err == nil {
		err = d.remember()
	}
	if err != nil {
		_ = pool.Close()
		return err
	}
	d.pool, d.sealed, d.told = pool, "", ""
	return nil
}

// remember notes which files the pool has open.
func (d *DB) remember() (err error) {
	if d.file, err = os.Stat(d.path); err != nil {
		return err
	}
	d.wal, err = os.Stat(d.path + "-wal")
	if err != nil {
		d.wal = nil
	}
	return nil
}

// source is the data source name of a file.
func source(path string, q url.Values) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/… on Windows
	}
	q.Set("_busy_timeout", fmt.Sprint(busyPatience.Milliseconds()))
	q.Set("_dqs", "0")
	q.Set("_defensive", "1")
	q.Set("_error_rc", "1")
	q["_pragma"] = append(q["_pragma"],
		// The driver goes by the alphabet, and this one reads the file: with its
		// schema before it, it comes after locking_mode.
		fmt.Sprintf("main.cache_size(-%d)", pageCache),
		"mmap_size(0)",       // a file cut short under a mapping would kill the process
		"trusted_schema(0)",  // the file may have been tampered with
		"cell_size_check(1)", // damage is found on the page where it is
	)
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

func openPool(dsn string) (*sql.DB, error) {
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(c)
	pool.SetMaxOpenConns(connections)
	// All of them stay: while one is open SQLite does not remove the log.
	pool.SetMaxIdleConns(connections)
	return pool, nil
}

// leaveWAL turns a file that was kept with a log into one without.
func leaveWAL(ctx context.Context, path string) error {
	pool, err := openPool(source(path, exclusive()))
	if err != nil {
		return err
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	_, err = pool.ExecContext(ctx, "PRAGMA journal_mode=DELETE")
	return err
}
