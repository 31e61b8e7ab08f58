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
	"syscall"
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
		return d.openSealed(ctx)
	}
	setup, err := d.prepare(ctx)
	if unwritable(err) {
		return d.openSealedWithNote(ctx)
	}
	if err != nil {
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
	case code(err) == codeFull, code(err) == codeIO && full(d.path):
		return d.openFull(ctx)
	}
	d.inUse.release()
	return d.fail(ctx, "opened", err)
}

// openFull opens the file on a disk without room for SQLite's own files: what it
// holds can be read all the same.
func (d *DB) openFull(ctx context.Context) error {
	q := url.Values{"mode": {"ro"}, "_query_only": {"1"}, "immutable": {"1"}}
	if !noLog(d.path) {
		// What stands in the log counts too. With the exclusive locking mode SQLite
		// reads it without the index in a file for which there is no room.
		q = url.Values{"_query_only": {"1"}, "_pragma": {"locking_mode(EXCLUSIVE)"}}
	}
	pool, err := openPool(source(d.path, q))
	if err == nil {
		pool.SetMaxOpenConns(1)
		err = checkVersion(ctx, pool)
	}
	if info, e := os.Stat(d.path); e != nil || info.Size() == 0 {
		err = errFull // nothing could be begun here
	}
	if err != nil {
		if pool != nil {
			_ = pool.Close()
		}
		d.inUse.release()
		d.inUse = nil
		return d.explain("opened", errFull)
	}
	d.pool, d.sealed = pool, true
	d.o.OnNote(fmt.Sprintf("the disk is full: what the library %s holds is used, and nothing new is kept", d.path))
	return nil
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
		err = d.remember()
	}
	if err != nil {
		_ = pool.Close()
		return err
	}
	d.pool, d.sealed = pool, false
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

// openSealed opens an existing file for reading only.
func (d *DB) openSealed(ctx context.Context) error {
	d.inUse.release()
	d.inUse = nil
	q := url.Values{"mode": {"ro"}, "_query_only": {"1"}}
	pool, err := openPool(source(d.path, q))
	if err == nil {
		err = checkVersion(ctx, pool)
	}
	if code(err) == codeCantOpen && noLog(d.path) {
		// SQLite cannot make its shared index here. Without a log there is
		// nothing in it either: the file alone is the truth.
		_ = pool.Close()
		q.Set("immutable", "1")
		if pool, err = openPool(source(d.path, q)); err == nil {
			err = checkVersion(ctx, pool)
		}
	}
	if err != nil {
		if pool != nil {
			_ = pool.Close()
		}
		return d.fail(ctx, "opened", err)
	}
	d.pool, d.sealed = pool, true
	return nil
}

func (d *DB) openSealedWithNote(ctx context.Context) error {
	if err := d.openSealed(ctx); err != nil {
		return err
	}
	d.o.OnNote(fmt.Sprintf("the library %s cannot be written to: what it holds is used, and nothing new is kept", d.path))
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
		fmt.Sprintf("cache_size(-%d)", pageCache),
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

// leaveWAL turns a file that was kept with a log into one without. With the
// exclusive locking mode SQLite reads the log without shared memory.
func leaveWAL(ctx context.Context, path string) error {
	pool, err := openPool(source(path, url.Values{}))
	if err != nil {
		return err
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=DELETE"} {
		if _, err := pool.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func noLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err != nil || info.Size() == 0
}

// probeSize is the least room that SQLite needs beside the file: one block of its
// shared index (32 KiB) and a page of the log.
const probeSize = 64 << 10

// full reports whether there is no room in the folder of a file.
func full(path string) bool {
	probe, err := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if err != nil {
		return errors.Is(err, syscall.ENOSPC)
	}
	_, err = probe.Write(make([]byte, probeSize))
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return errors.Is(err, syscall.ENOSPC)
}

// unwritable reports whether err says that this place cannot be written to.
func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

func unwritableFile(path string) bool {
	probe, err := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if err != nil {
		return unwritable(err)
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return false
}
