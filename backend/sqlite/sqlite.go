// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sqlite keeps Dipper's library in one file: pages, replies of the
// helper model, remembered permissions, what a session has seen, and which
// hosts asked to be left alone for a while. Any number of processes of one user
// may have the file open at once.
//
// What a call has acknowledged outlives a kill of the process at any moment. It
// may not outlive a loss of power: the log is flushed to the device at
// checkpoints only (WAL with synchronous=NORMAL), so the commits of the last
// moments can be missing then, but the file is whole. Permissions are the
// exception: a person's answer is flushed at once.
//
// A page is given back byte for byte or not at all: every entry carries a
// digest of all its fields. A file that SQLite finds damaged is set aside and
// begun anew.
package sqlite

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/dipper-web/dipper/fault"
)

// DefaultDisk bounds the file, in bytes: some ten thousand pages, and little
// enough to be no burden on a laptop.
const DefaultDisk = 2 << 30

// connections bounds how many statements run at a time. One of them writes;
// readers wait for nobody, and a few of them keep the disk busy.
const connections = 4

// Options sets up a DB. The zero value is what a program wants.
type Options struct {
	// DiskBytes bounds the file: 0 means DefaultDisk. The entries used longest
	// ago make room for new ones.
	DiskBytes int64
	// ReadOnly opens an existing file and never writes to it. A file in a place
	// that cannot be written to is opened so by itself, with a note.
	ReadOnly bool
	// OnNote hears, in one sentence each, of what a person may want to know and
	// no call fails with: a damaged file was set aside, an entry was damaged, the
	// file lies on a network. nil: nobody. It must not call back into the DB.
	OnNote func(sentence string)

	// network replaces networkFS in tests.
	network func(folder string) (name string, yes bool)
}

// A DB is an open library. Its methods, and those of all its parts, are safe
// for use by several goroutines.
type DB struct {
	path string // absolute
	o    Options
	code *codec
	used recent
	turn chan struct{} // holds one token: writers of this process take turns

	damaged atomic.Bool // SQLite has found the file damaged

	mu     sync.RWMutex // held for reading by every call, for writing by (re)opening
	pool   *sql.DB
	inUse  *fileLock
	file   os.FileInfo // the file the pool has open, to notice when another lies there
	wal    os.FileInfo // its log; nil without one
	sealed seal        // why it is open for reading only; empty: it is not
	told   seal        // the last of these that OnNote heard of
	closed bool

	looked atomic.Int64 // when room was looked for last, in nanoseconds since 1970
}

// Open opens the library at path and makes it, and its folder, where there is
// none. Files are readable by their owner alone. It takes a few milliseconds.
//
// A damaged file is renamed to path.corrupt-TIME, and a new one begun; a file
// that a newer Dipper wrote, or that is not a library at all, is an error and
// left as it is.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "", "the path of the library, %s, cannot be made absolute", path)
	}
	if o.DiskBytes <= 0 {
		o.DiskBytes = DefaultDisk
	}
	if o.OnNote == nil {
		o.OnNote = func(string) {}
	}
	if o.network == nil {
		o.network = networkFS
	}
	d := &DB{path: abs, o: o, code: &codec{}, turn: make(chan struct{}, 1)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(ctx, nil); err != nil {
		return nil, err
	}
	return d, nil
}

// Close ends the use of the file. Calls in flight are waited for; later ones
// fail. A second Close does nothing.
func (d *DB) Close() error {
	d.mu.RLock()
	if !d.closed && d.sealed == "" {
		// What was read last survives as "used last"; not worth an error.
		_ = d.flushUsed()
	}
	d.mu.RUnlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	d.code.close()
	return d.explain("closed", d.shut())
}

// shut closes the pool and lets go of the file. Needs mu.
func (d *DB) shut() error {
	var err error
	if d.pool != nil {
		err = d.pool.Close()
		d.pool = nil
	}
	d.inUse.release()
	d.inUse = nil
	return err
}

// read runs fn on the pool.
func (d *DB) read(ctx context.Context, fn func(*sql.DB) error) error {
	if err := d.enter(ctx); err != nil {
		return err
	}
	defer d.mu.RUnlock()
	return d.fail(ctx, "read", fn(d.pool))
}

// write runs fn in a transaction that has the write lock from its start, so
// that it never has to give up halfway because somebody else wrote.
func (d *DB) write(ctx context.Context, fn func(*sql.Tx) error) error {
	if err := d.enter(ctx); err != nil {
		return err
	}
	defer d.mu.RUnlock()
	switch d.sealed {
	case "":
	case noRoom:
		return d.explain("written", errFull)
	default:
		return readOnlyError(d.path)
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return d.fail(ctx, "written", heldError{ctx.Err()})
	}
	return d.fail(ctx, "written", transact(ctx, d.pool, fn))
}

// heldError is the end of a wait for the write lock.
type heldError struct{ error }

func (e heldError) Unwrap() error { return e.error }

type beginner interface {
	BeginTx(ctx context.Context, o *sql.TxOptions) (*sql.Tx, error)
}

func transact(ctx context.Context, b beginner, fn func(*sql.Tx) error) error {
	tx, err := b.BeginTx(ctx, nil)
	if err != nil && ctx.Err() != nil {
		return heldError{err}
	}
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// enter takes mu for reading, after seeing to it that the pool has the file
// open that lies at the path, and that it is not known to be damaged.
func (d *DB) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return fault.From(ctx.Err())
	}
	for range 2 {
		d.mu.RLock()
		switch {
		case d.closed:
			d.mu.RUnlock()
			return fault.New(fault.Internal, "", "the library was used after it was closed")
		case d.sound() && !d.roomAgain():
			return nil
		}
		d.mu.RUnlock()
		if err := d.heal(ctx); err != nil {
			return err
		}
	}
	return fault.New(fault.Internal, "", "the files of the library at %s keep changing under it", d.path)
}

// heal opens the library anew after damage, or after somebody removed or
// replaced its files. Closing first writes back what the removed log held.
func (d *DB) heal(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.sound() && d.sealed != noRoom {
		return nil
	}
	var bad os.FileInfo
	if d.damaged.Load() && d.sealed == "" {
		bad = d.file // one that is only read may have been changed meanwhile: that is no damage
	}
	_ = d.shut()
	if err := d.open(ctx, bad); err != nil {
		return err
	}
	d.damaged.Store(false)
	return nil
}

// sound reports whether the pool has the file open that lies at the path, and no
// damage is known. Needs mu for reading.
func (d *DB) sound() bool { return d.pool != nil && !d.damaged.Load() && !d.swapped() }

// swapped reports whether another file, or none, lies where the open one or its
// log was. SQLite itself would go on writing to what nobody else can see.
func (d *DB) swapped() bool {
	if d.sealed != "" {
		return false
	}
	return !same(d.path, d.file) || d.wal != nil && !same(d.path+"-wal", d.wal)
}

func same(path string, was os.FileInfo) bool {
	is, err := os.Stat(path)
	return err == nil && os.SameFile(is, was)
}
