// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// folder keeps binary bodies as files that only this user can read. It
// satisfies dipper.Keeper.
type folder struct{ dir string }

// Keep writes body under a name made of its digest and name, so that the same
// body is kept once and no two bodies share a file. The file is whole or not
// there: it is written beside its place and renamed.
func (f folder) Keep(_ context.Context, name string, body []byte) (string, error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return "", err
	}
	sum := sha256.Sum256(body)
	path := filepath.Join(f.dir, hex.EncodeToString(sum[:6])+"-"+name)
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(body)) {
		return path, nil
	}
	tmp, err := os.CreateTemp(f.dir, ".part-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name()) // after the rename there is nothing left to remove
	_, err = tmp.Write(body)
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	return path, nil
}
