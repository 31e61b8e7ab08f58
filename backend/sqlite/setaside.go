// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dipper-web/dipper/fault"
)

// aside is the mark of a file that was set aside.
const aside = ".corrupt-"

// replace sets the damaged file aside and begins a new one. Needs the setup
// lock and mu. It waits until nobody else has the file open: other processes
// find the damage themselves at their next call and let go.
func (d *DB) replace(ctx context.Context) error {
	d.inUse.release()
	alone, err := lock(ctx, d.path+".lock", true)
	if err != nil {
		f := fault.Wrap(err, fault.Internal, "", "the library %s is damaged, and another Dipper process has it open", d.path)
		f.Advice = "End the other Dipper processes; the damaged file is then set aside and a new one begun."
		return f
	}
	kept, err := setAside(d.path)
	alone.release()
	if err != nil {
		return fault.Wrap(err, fault.Internal, "", "the library %s is damaged and cannot be set aside", d.path)
	}
	if d.inUse, err = lock(ctx, d.path+".lock", false); err != nil {
		return err
	}
	if err = ownFile(d.path); err == nil {
		err = d.connect(ctx)
	}
	if err != nil {
		d.inUse.release()
		return d.fail(ctx, "begun anew", err)
	}
	d.damaged.Store(false)
	n, lost := d.salvage(ctx, kept)
	d.o.OnNote(fmt.Sprintf("the library %s was damaged: it was set aside as %s and a new one begun; %s",
		d.path, filepath.Base(kept), salvaged(n, lost)))
	return nil
}

func salvaged(n int, lost error) string {
	if lost != nil {
		return "remembered permissions could not be carried over, see dipper rules list"
	}
	return fmt.Sprintf("%d remembered permissions were carried over", n)
}

// setAside renames the file and what belongs to it, and removes what was set
// aside before: one damaged library is enough to look into. The log goes first:
// a log left beside a new file would be taken for its own.
func setAside(path string) (string, error) {
	older, err := filepath.Glob(globEscape(path) + aside + "*")
	if err != nil {
		return "", err
	}
	to := path + aside + time.Now().UTC().Format("20060102T150405.000Z")
	for _, end := range []string{"-wal", "-shm", "-journal", ""} {
		if err := os.Rename(path+end, to+end); err != nil && !(os.IsNotExist(err) && end != "") {
			return "", err
		}
	}
	for _, name := range older {
		_ = os.Remove(name)
	}
	return to, nil
}

// globEscape makes a path stand for itself in a pattern.
func globEscape(path string) string {
	var out []rune
	for _, r := range path {
		if r == '*' || r == '?' || r == '[' || r == '\\' && os.PathSeparator == '/' {
			out = append(out, '\\')
		}
		out = append(out, r)
	}
	return string(out)
}
