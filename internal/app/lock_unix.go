// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package app

import (
	"os"
	"syscall"
)

// tryLock takes the lock of an open file, or fails at once. It ends with the
// file's descriptor.
func tryLock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
