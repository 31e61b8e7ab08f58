// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/dipper-web/dipper/fault"
)

// The register of trusted projects and the file that is locked while it changes.
// The register itself is replaced as a whole, so it cannot carry the lock.
const (
	registerName = "trust.json"
	registerLock = "trust.lock"
	// maxRegister bounds the register: some ten thousand folders.
	maxRegister = 4 << 20
	// lockWait is how long another process may take to change the register,
	// which is a matter of milliseconds.
	lockWait = 5 * time.Second
)

// register holds the accepted folders by canonical path.
type register map[string]acceptance

type acceptance struct {
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
}

// readRegister reads the register. One that cannot be believed trusts nothing,
// and the note says why.
func readRegister(dataDir string) (r register, note string) {
	if dataDir == "" {
		return register{}, ""
	}
	path := filepath.Join(dataDir, registerName)
	r, err := loadRegister(path)
	if err != nil {
		return register{}, fmt.Sprintf("no project is trusted: %s cannot be read: %v", path, plainly(err))
	}
	return r, ""
}

func loadRegister(path string) (register, error) {
	r := register{}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || notDir(err) {
		return r, nil
	}
	if err == nil && info.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows" {
		return r, errors.New("others may write it; chmod 600 it after a look at it")
	}
	text, err := readBounded(path, maxRegister)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil || r == nil {
		return register{}, errors.New("it is damaged; remove it and trust the projects again")
	}
	return r, nil
}

// changeRegister lets change work on the register and writes it back where
// change says that something is different. Processes take turns.
func changeRegister(dataDir string, change func(register) bool) (changed bool, err error) {
	if dataDir == "" {
		return false, fault.New(fault.Invalid, "", "there is no folder to remember trust in: set HOME or %s", envHome)
	}
	if _, err := makePrivate(dataDir); err != nil {
		return false, fault.Wrap(err, fault.Invalid, "", "the state folder %s cannot be made: %v", dataDir, plainly(err))
	}
	unlock, err := lock(filepath.Join(dataDir, registerLock), lockWait)
	if err != nil {
		return false, fault.Wrap(err, fault.Internal, "", "the register of trusted projects cannot be changed: %v", plainly(err))
	}
	defer unlock()
	path := filepath.Join(dataDir, registerName)
	r, err := loadRegister(path)
	if err != nil {
		return false, fault.Wrap(err, fault.Invalid, "", "%s cannot be read: %v", path, plainly(err))
	}
	if !change(r) {
		return false, nil
	}
	for dir, a := range r {
		if a.At.IsZero() {
			a.At = time.Now().UTC().Truncate(time.Second)
			r[dir] = a
		}
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = replaceFile(path, append(text, '\n'))
	}
	if err != nil {
		return false, fault.Wrap(err, fault.Internal, "", "the register of trusted projects cannot be written: %v", plainly(err))
	}
	return true, nil
}

// replaceFile puts a file of mode 0600 in place as a whole: a reader finds the
// old text or the new one.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // after the rename there is nothing to remove
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// lock takes the lock that the file stands for, waiting up to wait, and gives
// the function that frees it. The system frees it when the process ends.
func lock(path string, wait time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	const step = 10 * time.Millisecond
	for waited := time.Duration(0); ; waited += step {
		err = tryLock(f)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if waited >= wait {
			f.Close()
			return nil, fmt.Errorf("%s is locked by another process", path)
		}
		time.Sleep(step)
	}
}
