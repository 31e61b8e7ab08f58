// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/dipper-web/dipper/fault"
)

// The primary result codes that are told apart (sqlite.org/rescode.html).
const (
	codeBusy     = lib.SQLITE_BUSY
	codeReadOnly = lib.SQLITE_READONLY
	codeIO       = lib.SQLITE_IOERR
	codeCorrupt  = lib.SQLITE_CORRUPT
	codeFull     = lib.SQLITE_FULL
	codeCantOpen = lib.SQLITE_CANTOPEN
	codeNotADB   = lib.SQLITE_NOTADB
)

// errDamaged is damage that SQLite does not see.
var errDamaged = errors.New("the tables of the library are not what they should be")

// errFull is a disk that has no room for the files beside the library.
var errFull = errors.New("no space left on device")

// code gives the primary result code in err, 0 for none.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

func isDamage(err error) bool {
	c := code(err)
	return c == codeCorrupt || c == codeNotADB || errors.Is(err, errDamaged)
}

// fail turns what a call ended with into a failure, and notes damage, which the
// next call will heal.
func (d *DB) fail(ctx context.Context, deed string, err error) error {
	if err == nil {
		return nil
	}
	if isDamage(err) {
		d.damaged.Store(true)
	}
	var held heldError
	if errors.As(err, &held) && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return d.held(deed, errLocked) // the time ran out because somebody else has the lock
	}
	if ctx.Err() != nil {
		return fault.From(ctx.Err())
	}
	return d.explain(deed, err)
}

// explain finds the sentence for err.
func (d *DB) explain(deed string, err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		return err
	}
	detail, advice := "", "See the log for the cause; dipper doctor tests the library."
	switch c := code(err); {
	case isDamage(err):
		detail, advice = "it is damaged", "Call again: the damaged file is then set aside and a new one begun."
	case c == codeFull, errors.Is(err, errFull):
		detail, advice = "the disk is full", "Free some space on that disk, or run dipper cache clear; cache.disk bounds what the library takes."
	case c == codeReadOnly:
		return readOnlyError(d.path)
	case c == codeBusy:
		return d.held(deed, err)
	case c == codeIO:
		detail, advice = "the disk reported an error", "Check the disk; what was kept before can still be used if it can be read."
	case c == codeCantOpen:
		detail, advice = "its files cannot be opened", "Check that the folder exists and belongs to you."
	default:
		detail = "something unexpected happened"
	}
	e := fault.Wrap(err, fault.Internal, "", "the library %s could not be %s: %s", d.path, deed, detail)
	e.Advice = advice
	return e
}

// held says that somebody else has the lock that deed needs.
func (d *DB) held(deed string, err error) error {
	e := fault.Wrap(err, fault.Internal, "", "the library %s could not be %s: another process holds it", d.path, deed)
	e.Advice = "Try again, or end the Dipper process that hangs."
	return e
}

// noRoomFor reports whether err comes of a full disk, or of a used-up quota: SQLite
// itself says so only of some of its files.
func noRoomFor(path string, err error) bool {
	switch code(err) {
	case codeFull:
		return true
	case codeIO, codeCantOpen:
		return full(path)
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, errFull)
}

const readOnlyAdvice = "Check that folder and file can be written to by you, or name another folder with DIPPER_HOME."

func readOnlyError(path string) error {
	e := fault.New(fault.Internal, "", "the library %s could not be written: it is open for reading only", path)
	e.Advice = readOnlyAdvice
	return e
}
