// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import "golang.org/x/sys/unix"

// networkFS reports whether a folder lies on a file system that other machines,
// or another kernel, may write to (numbers: statfs(2), linux/magic.h). FUSE is
// among them: what stands behind it cannot be told.
func networkFS(folder string) (string, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return "", false
	}
	return networkKind(uint32(s.Type))
}

func networkKind(magic uint32) (string, bool) {
	names := map[uint32]string{
		0x6969:     "NFS",
		0x517b:     "SMB",
		0xff534d42: "CIFS",
		0xfe534d42: "SMB2",
		0x65735546: "FUSE",
		0x01021997: "9P",
		0x5346414f: "AFS",
		0x73757245: "Coda",
		0x564c:     "NCP",
		0x00c36400: "Ceph",
		0x0bd00bd0: "Lustre",
		0x01161970: "GFS2",
		0x7461636f: "OCFS2",
		0x786f4256: "VirtualBox shared folder",
	}
	name, yes := names[magic]
	return name, yes
}
