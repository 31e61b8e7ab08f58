// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/dipper-web/dipper"
)

const (
	// keepDigest is how much of a body's digest its file name carries, in bytes:
	// a site must not be able to make two bodies of one name.
	keepDigest = 16
	// keepName bounds the part of a file name that comes from elsewhere, in bytes;
	// file systems take 255 for the whole (NAME_MAX).
	keepName = 150
)

// folder keeps binary bodies as files that only this user can read. It
// satisfies dipper.Keeper.
type folder struct{ dir string }

// Keep writes body under a name made of its digest and name, so that the same
// body is kept once and no two bodies share a file. The file is whole or not
// there: it is written beside its place, flushed and renamed. A file of that
// name which holds something else is replaced.
func (f folder) Keep(ctx context.Context, name string, body []byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return "", err
	}
	sum := sha256.Sum256(body)
	path := filepath.Join(f.dir, hex.EncodeToString(sum[:keepDigest])+"-"+plainFileName(name))
	if holds(path, sum, len(body)) {
		return path, nil
	}
	if err := writeWhole(path, body); err != nil {
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	return path, nil
}

// plainFileName makes sure that a name is one part of a path and no longer than
// keepName, whoever made it.
func plainFileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if len(name) > keepName {
		name = strings.ToValidUTF8(name[len(name)-keepName:], "") // the end, which says the type
	}
	return name
}

// holds reports whether a regular file has exactly the body with this digest.
func holds(path string, sum [sha256.Size]byte, size int) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(size) {
		return false
	}
	body, err := readBounded(path, int64(size))
	return err == nil && sha256.Sum256(body) == sum
}

// writeWhole makes the file at path hold body, or leaves it as it is.
func writeWhole(path string, body []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".part-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // after the rename there is nothing left to remove
	_, err = tmp.Write(body)
	if err == nil {
		err = tmp.Sync() // a rename may reach the disk before what it names
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// either keeps binary bodies in the first place, and where that cannot be written
// to, or is full, in a scratch folder.
type either struct {
	first dipper.Keeper
	then  scratch
}

func (e *either) Keep(ctx context.Context, name string, body []byte) (string, error) {
	path, err := e.first.Keep(ctx, name, body)
	if err == nil || ctx.Err() != nil {
		return path, err
	}
	if path, other := e.then.Keep(ctx, name, body); other == nil {
		return path, nil
	}
	return "", err
}

// scratch keeps binary bodies where no state folder can be used: in a new folder
// among the temporary ones, since one of a known name could be somebody else's.
type scratch struct {
	mu  sync.Mutex
	dir string
}

func (s *scratch) Keep(ctx context.Context, name string, body []byte) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "dipper-")
		if err != nil {
			return "", err
		}
		s.dir = dir
	}
	return folder{s.dir}.Keep(ctx, name, body)
}
