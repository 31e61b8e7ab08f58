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
	"syscall"
	"time"

	"github.com/dipper-web/dipper/fault"
)

// seal is why a library is open for reading only.
type seal string

const (
	byRequest seal = "request" // Options.ReadOnly
	byPlace   seal = "place"   // nothing can be written where it lies
	noRoom    seal = "no room" // the disk is full
)

const (
	// lookEvery is how often room is looked for on a full disk: looking writes.
	lookEvery = 10 * time.Second
	// probeSize is the least room that SQLite needs beside the file: one block of
	// its shared index (32 KiB) and some pages of the log.
	probeSize = 64 << 10
)

// openSealed opens an existing file for reading only.
func (d *DB) openSealed(ctx context.Context, why seal) error {
	d.inUse.release()
	d.inUse = nil
	if Blank(d.path) {
		e := fault.New(fault.Internal, "", "the library %s holds nothing yet, and cannot be written to", d.path)
		e.Advice = readOnlyAdvice
		return e
	}
	pool, err := readOnlyPool(ctx, d.path)
	if err != nil {
		return d.fail(ctx, "opened", err)
	}
	d.pool, d.sealed = pool, why
	return nil
}

// readOnlyPool opens a file that SQLite may make nothing beside.
func readOnlyPool(ctx context.Context, path string) (*sql.DB, error) {
	pool, err := checkedPool(ctx, source(path, url.Values{"mode": {"ro"}, "_query_only": {"1"}}))
	if c := code(err); (c == codeCantOpen || c == codeIO) && noLog(path) {
		// SQLite cannot make its shared index here. Without a log there is nothing
		// in it either: the file alone is the truth.
		return checkedPool(ctx, source(path, url.Values{"mode": {"ro"}, "_query_only": {"1"}, "immutable": {"1"}}))
	}
	return pool, err
}

// checkedPool opens a file that must be a library.
func checkedPool(ctx context.Context, dsn string) (*sql.DB, error) {
	pool, err := openPool(dsn)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(ctx, pool); err != nil {
		_ = pool.Close()
		return nil, err
	}
	return pool, nil
}

func (d *DB) openSealedWithNote(ctx context.Context) error {
	if err := d.openSealed(ctx, byPlace); err != nil {
		return err
	}
	d.tell(byPlace, "the library %s cannot be written to: what it holds is used, and nothing new is kept")
	return nil
}

// tell notes once why nothing new is kept.
func (d *DB) tell(why seal, format string) {
	if d.told != why {
		d.told = why
		d.o.OnNote(fmt.Sprintf(format, d.path))
	}
}

// openFull opens the file on a disk without room for SQLite's own files: what it
// holds can be read all the same.
func (d *DB) openFull(ctx context.Context) error {
	d.looked.Store(time.Now().UnixNano())
	if Blank(d.path) {
		d.inUse.release()
		d.inUse = nil
		return d.explain("begun", errFull)
	}
	if !noLog(d.path) {
		foldLog(ctx, d.path)
	}
	err := d.openSealed(ctx, noRoom)
	if err != nil && !noLog(d.path) {
		err = d.openAlone(ctx)
	}
	if err != nil {
		return err
	}
	d.tell(noRoom, "the disk is full: what the library %s holds is used, and nothing new is kept")
	return nil
}

// foldLog moves what stands in the log, which a process that was killed left, into
// the file, if that needs no room.
func foldLog(ctx context.Context, path string) {
	pool, err := openPool(source(path, exclusive()))
	if err != nil {
		return
	}
	defer pool.Close() // the last to close removes the log
	pool.SetMaxOpenConns(1)
	_ = drain(ctx, pool, "PRAGMA wal_checkpoint(TRUNCATE)")
}

// openAlone reads file and log, and keeps everybody else out meanwhile.
func (d *DB) openAlone(ctx context.Context) error {
	q := exclusive()
	q.Set("_query_only", "1")
	pool, err := openPool(source(d.path, q))
	if err == nil {
		pool.SetMaxOpenConns(1)
		err = checkVersion(ctx, pool)
	}
	if err != nil {
		if pool != nil {
			_ = pool.Close()
		}
		return d.fail(ctx, "opened", err)
	}
	d.pool, d.sealed = pool, noRoom
	return nil
}

// exclusive makes a connection that keeps everybody else out. SQLite then reads and
// writes a log without shared memory, and so without the file that stands for it.
func exclusive() url.Values { return url.Values{"_pragma": {"locking_mode(EXCLUSIVE)"}} }

// roomAgain reports whether a library that was opened on a full disk may be opened
// for writing, looking from time to time. Needs mu for reading.
func (d *DB) roomAgain() bool {
	if d.sealed != noRoom {
		return false
	}
	last, now := d.looked.Load(), time.Now().UnixNano()
	return now-last >= int64(lookEvery) && d.looked.CompareAndSwap(last, now) && !full(d.path)
}

// inPlace runs a transaction that removes something on a disk without any room,
// where neither a log nor a journal can be written: the way back stays in memory.
// A kill in these milliseconds can damage the file, which is then set aside and the
// answers of people carried over; there is no other way to make room. Nobody else
// may have the file open. The library is opened anew after it.
func (d *DB) inPlace(ctx context.Context, fn func(*sql.Tx) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	_ = d.shut()
	err := removeInPlace(ctx, d.path, fn)
	return errors.Join(d.fail(ctx, "written", err), d.open(ctx, nil))
}

func removeInPlace(ctx context.Context, path string, fn func(*sql.Tx) error) error {
	setup, err := lock(ctx, path+".setup", true)
	if err != nil {
		return err
	}
	defer setup.release()
	q := exclusive()
	q["_pragma"] = append(q["_pragma"], "secure_delete(FAST)")
	pool, err := openPool(source(path, q))
	if err != nil {
		return err
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	if _, err := pool.ExecContext(ctx, "PRAGMA journal_mode=MEMORY"); err != nil {
		return err
	}
	return transact(ctx, pool, func(tx *sql.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return drain(ctx, tx, "PRAGMA incremental_vacuum")
	})
}

// noLog reports whether nothing stands in the log of a file.
func noLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err != nil || info.Size() == 0
}

// full reports whether there is no room in the folder of a file.
func full(path string) bool {
	probe, err := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if err == nil {
		_, err = probe.Write(make([]byte, probeSize))
		_ = probe.Close()
		_ = os.Remove(probe.Name())
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
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

// Blank reports whether the file at path certainly holds nothing: there is none, or
// one without a table in it.
func Blank(path string) bool {
	const onePage = 4096 // what SQLite writes before the first table; the tables take a page each
	info, err := os.Stat(path)
	switch {
	case err == nil:
		return info.Mode().IsRegular() && info.Size() <= onePage && noLog(path)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return true
	}
	return false
}
