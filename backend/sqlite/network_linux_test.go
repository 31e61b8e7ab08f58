// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import "testing"

func TestNetworkKinds(t *testing.T) {
	for magic, want := range map[uint32]string{0x6969: "NFS", 0xff534d42: "CIFS", 0x65735546: "FUSE", 0xef53: "", 0x01021994: ""} {
		if got, yes := networkKind(magic); got != want || yes != (want != "") {
			t.Errorf("networkKind(%#x) = %q, %v, want %q", magic, got, yes, want)
		}
	}
	if kind, yes := networkFS(t.TempDir()); yes {
		t.Logf("the folder for tests lies on %s", kind)
	}
}
