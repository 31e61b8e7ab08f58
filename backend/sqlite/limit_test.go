// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/fault"
)

// TestFailingDisk runs itself in a process whose files may not grow beyond a
// bound: the kernel then refuses writes in the middle, with EFBIG, like a disk
// that fails.
func TestFailingDisk(t *testing.T) {
	const env = "DIPPER_SQLITE_TEST_FAILING"
	if os.Getenv(env) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFailingDisk$")
		cmd.Env = append(os.Environ(), env+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(unix.SIGXFSZ)
	path := libraryPath(t)
	d := open(t, path, Options{})
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 600_001, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	var kept []cache.Entry
	var failure error
	for i := 0; failure == nil && i < 1000; i++ {
		e := page(fmt.Sprintf("p%d.example", i), 20_000)
		if failure = d.Pages().Put(t.Context(), e); failure == nil {
			kept = append(kept, e)
		}
	}
	var f *fault.Error
	if !errors.As(failure, &f) || !strings.Contains(f.Detail, "could not be written") || f.Advice == "" {
		t.Errorf("Put = %v, want a sentence", failure)
	}
	if len(kept) < 5 {
		t.Errorf("only %d entries were kept", len(kept))
	}
	wantKept(t, d.Pages(), kept...)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	put(t, d.Pages(), page("again.example", 20_000))
	wantKept(t, d.Pages(), kept...)
	d.Close()
	wantIntegrity(t, path)
}
