// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || freebsd

package sqlite

import (
	"strings"

	"golang.org/x/sys/unix"
)

// networkFS reports whether a folder lies on a file system that other machines
// may write to, by the name of its type.
func networkFS(folder string) (string, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return "", false
	}
	var b strings.Builder
	for _, c := range s.Fstypename {
		if c == 0 {
			break
		}
		b.WriteByte(byte(c))
	}
	name := b.String()
	for _, n := range []string{"nfs", "smbfs", "afpfs", "webdav", "cifs", "fuse", "9p"} {
		if strings.Contains(name, n) {
			return name, true
		}
	}
	return "", false
}
