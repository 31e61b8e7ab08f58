// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin && !freebsd

package sqlite

// networkFS cannot tell here; a local disk is the usual case.
func networkFS(string) (string, bool) { return "", false }
