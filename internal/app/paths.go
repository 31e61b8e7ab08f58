// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/dipper-web/dipper/fault"
)

// projectFile is the configuration that a folder brings along.
const projectFile = ".dipper.yaml"

// ManagedPath is where an administrator puts the file that stands over all.
const ManagedPath = "/etc/dipper/config.yaml"

// home gives the user's home folder, empty where none is known.
func (e environ) home() string {
	h := e["HOME"]
	if h == "" && runtime.GOOS == "windows" {
		h = e["USERPROFILE"]
	}
	return absolute(h)
}

// absolute drops a path that depends on where the program was started, as the
// XDG base directory specification asks for its variables.
func absolute(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}

// below gives the folder that an XDG variable names, or its default under home,
// with Dipper's name; empty where neither is known.
func (e environ) below(variable string, underHome ...string) string {
	dir := absolute(e[variable])
	if dir == "" && e.home() != "" {
		dir = filepath.Join(append([]string{e.home()}, underHome...)...)
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "dipper")
}

// userFile gives the path of the user file and whether it was named, and so
// must exist. Empty where no home is known.
func (s Source) userFile(e environ) (path string, named bool) {
	for _, p := range []string{s.ConfigPath, e[envConfig]} {
		if p != "" {
			return s.from(p), true
		}
	}
	if dir := e.below("XDG_CONFIG_HOME", ".config"); dir != "" {
		return filepath.Join(dir, "config.yaml"), false
	}
	return "", false
}

// dataDir gives the state folder, empty where no home is known.
func (s Source) dataDir(e environ) string {
	if dir := e[envHome]; dir != "" {
		return s.from(dir)
	}
	return e.below("XDG_DATA_HOME", ".local", "share")
}

// from sees a path from the working folder.
func (s Source) from(path string) string {
	if filepath.IsAbs(path) || s.Dir == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(s.Dir, path)
}

// readBounded reads a regular file of at most limit bytes. Devices and pipes
// are refused before they are opened: reading one may never end.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it is larger than %s", Size(limit))
	}
	return text, err
}

// readConfig reads a configuration file. A missing one is no error unless it
// was named: then, and for anything else, the error is fault.Invalid.
func readConfig(path string, named bool) (text []byte, exists bool, err error) {
	if path == os.DevNull { // the usual way to say: no file at all
		return nil, true, nil
	}
	text, err = readBounded(path, maxFile)
	switch {
	case err == nil:
		return text, true, nil
	case !named && (errors.Is(err, fs.ErrNotExist) || notDir(err)):
		return nil, false, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, fault.Wrap(err, fault.Invalid, "", "the configuration file %s does not exist", path)
	}
	return nil, false, fault.Wrap(err, fault.Invalid, "", "the configuration file %s cannot be read: %v", path, plainly(err))
}

// notDir reports that a part of the path is no folder, so the file cannot exist.
func notDir(err error) bool {
	var e *fs.PathError
	return errors.As(err, &e) && e.Err.Error() == "not a directory"
}

// plainly is what the system said, without the call and the path that Go puts before
// it: the sentence around it names the path.
func plainly(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// MakeDataDir creates the state folder, for the user alone. An empty folder that
// was there already is closed to others too; one that holds something is left as
// it is, with a note, since it may serve others. Without a DataDir it fails as
// fault.Invalid.
func (l *Loaded) MakeDataDir() error {
	if l.DataDir == "" {
		return fault.New(fault.Invalid, "", "there is no folder for state: set HOME or %s", envHome)
	}
	open, err := makePrivate(l.DataDir)
	if err != nil {
		return fault.Wrap(err, fault.Invalid, "", "the state folder %s cannot be made: %v", l.DataDir, plainly(err))
	}
	if open {
		l.Notes = append(l.Notes, fmt.Sprintf("others may look into the state folder; chmod 700 %s", l.DataDir))
	}
	return nil
}

// makePrivate creates a folder of mode 0700 and reports whether one that was
// there is open to others and had to stay so.
func makePrivate(dir string) (open bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" {
		return false, err
	}
	entries, err := os.ReadDir(dir)
	return err != nil || len(entries) > 0 || os.Chmod(dir, 0o700) != nil, nil
}
