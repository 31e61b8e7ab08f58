// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock of an open file, or fails at once. It ends with the
// file's handle.
func tryLock(f *os.File) error {
	const all = 1<<32 - 1 // the whole file, however long
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, all, all, new(windows.Overlapped))
}
