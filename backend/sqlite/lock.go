// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/dipper-web/dipper/fault"
)

const (
	// lockPatience bounds the wait for a lock file. It is held while a file is
	// opened or migrated: milliseconds.
	lockPatience = 5 * time.Second
	// lockEvery is the pause between two tries. Waiting is rare.
	lockEvery = 5 * time.Millisecond
)

// errLocked says that another process has the lock; errNoLocks that this file
// system has none.
var (
	errLocked  = errors.New("locked by another process")
	errNoLocks = errors.New("the file system has no locks")
)

// A fileLock is a lock on a whole file that ends with its process, whatever
// happens to it. The file itself holds nothing and stays: removing it would let
// two processes lock two files of one name.
type fileLock struct{ f *os.File }

// lock takes the lock on the file at path, alone or shared, and makes the file
// where there is none. On a file system without locks it gives a lock that
// binds nobody.
func lock(ctx context.Context, path string, alone bool) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "", "the lock file %s of the library cannot be made", path)
	}
	for deadline := time.Now().Add(lockPatience); ; {
		err = tryLock(f, alone)
		switch {
		case err == nil, errors.Is(err, errNoLocks):
			return &fileLock{f}, nil
		case !errors.Is(err, errLocked), time.Now().After(deadline):
			_ = f.Close()
			e := fault.Wrap(err, fault.Internal, "", "another process holds the lock file %s of the library", path)
			if !errors.Is(err, errLocked) {
				e.Detail = "the lock file " + path + " of the library cannot be locked"
			}
			e.Advice = "Another Dipper process is setting the library up or hangs; try again, or end it."
			return nil, e
		}
		select {
		case <-time.After(lockEvery):
		case <-ctx.Done():
			_ = f.Close()
			return nil, fault.From(ctx.Err())
		}
	}
}

// release gives the lock back. It may be called on nil, and again.
func (l *fileLock) release() {
	if l != nil {
		_ = l.f.Close()
	}
}
