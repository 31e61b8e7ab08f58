// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package retrieve

import "net"

// peek is not known on this system; a short read takes its place.
func peek(net.Conn) (quiet, known bool) { return false, false }
