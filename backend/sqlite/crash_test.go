// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/fault"
)

const (
	// writerEnv names a library: the test binary then is a writer and no test.
	writerEnv = "DIPPER_SQLITE_TEST_LIBRARY"
	countEnv  = "DIPPER_SQLITE_TEST_COUNT" // entries a writer writes; none: until it is killed
	nameEnv   = "DIPPER_SQLITE_TEST_NAME"
	roundsEnv = "DIPPER_SQLITE_TEST_ROUNDS" // rounds of the kill test
)

// writeForever puts entries and prints the name of each after Put has said that
// it is kept.
func writeForever(path string) int {
	ctx := context.Background()
	d, err := Open(ctx, path, Options{OnNote: func(s string) { fmt.Println("note", s) }})
	if err != nil {
		fmt.Println("failed", err)
		return 1
	}
	count, err := strconv.Atoi(os.Getenv(countEnv))
	if err != nil {
		count = 1 << 30
	}
	for i := range count {
		name := fmt.Sprintf("%s-%d.example", os.Getenv(nameEnv), i)
		if err := d.Pages().Put(ctx, page(name, 500+i%40*500)); err != nil {
			fmt.Println("failed", err)
			return 1
		}
		fmt.Println("kept", name, 500+i%40*500)
	}
	if err := d.Close(); err != nil {
		fmt.Println("failed", err)
		return 1
	}
	return 0
}

// writer starts a writer process.
func writer(t *testing.T, path, name, count string) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+path, nameEnv+"="+name, countEnv+"="+count)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// acknowledged reads what a writer printed: the whole lines. Anything but an
// entry fails the test.
func acknowledged(t *testing.T, out io.Reader) map[string]int {
	kept := map[string]int{}
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return kept
		}
		f := strings.Fields(line)
		if f[0] != "kept" {
			t.Errorf("a writer says: %s", line)
			continue
		}
		kept[f[1]], _ = strconv.Atoi(f[2])
	}
}

func wantAcknowledged(t *testing.T, d *DB, kept map[string]int) {
	t.Helper()
	lost := 0
	for name, size := range kept {
		e := page(name, size)
		if got, ok, err := d.Pages().Get(t.Context(), e.Key); err != nil || !ok || !bytes.Equal(got.Data, e.Data) {
			lost++
		}
	}
	if lost > 0 {
		t.Fatalf("%d of %d acknowledged entries are lost", lost, len(kept))
	}
}

func TestKilledWriters(t *testing.T) {
	rounds := 8
	if n, err := strconv.Atoi(os.Getenv(roundsEnv)); err == nil {
		rounds = n
	}
	path := libraryPath(t)
	all := map[string]int{}
	for round := range rounds {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for w := range 2 {
			cmd, out := writer(t, path, fmt.Sprintf("r%d-w%d", round, w), "")
			time.AfterFunc(time.Duration(60+rand.IntN(120))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			wg.Go(func() {
				kept := acknowledged(t, out)
				_ = cmd.Wait()
				mu.Lock()
				defer mu.Unlock()
				for k, v := range kept {
					all[k] = v
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
	}
	if len(all) < rounds {
		t.Fatalf("only %d entries were written in %d rounds: the test tests nothing", len(all), rounds)
	}
	d := open(t, path, Options{OnNote: func(s string) { t.Errorf("note: %s", s) }})
	wantAcknowledged(t, d, all)
	d.Close()
	wantIntegrity(t, path)
	t.Logf("%d rounds, %d acknowledged entries", rounds, len(all))
}

func TestEightProcesses(t *testing.T) {
	const processes, each = 8, 30
	path := libraryPath(t)
	all := map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for p := range processes {
		cmd, out := writer(t, path, fmt.Sprintf("p%d", p), strconv.Itoa(each))
		wg.Go(func() {
			kept := acknowledged(t, out)
			if err := cmd.Wait(); err != nil {
				t.Errorf("writer %d: %v", p, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for k, v := range kept {
				all[k] = v
			}
		})
	}
	d := open(t, path, Options{}) // one more, who reads meanwhile
	for range 20 {
		if _, err := d.Pages().List(t.Context(), 0); err != nil {
			t.Errorf("List: %v", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	wg.Wait()
	if len(all) != processes*each {
		t.Errorf("%d entries were acknowledged, want %d", len(all), processes*each)
	}
	wantAcknowledged(t, d, all)
	d.Close()
	wantIntegrity(t, path)
}

// TestCancelAtRandom cancels calls in the middle: none hangs, and what was
// acknowledged is there.
func TestCancelAtRandom(t *testing.T) {
	d := open(t, libraryPath(t), Options{})
	var kept []cache.Entry
	for i := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		e := page(fmt.Sprintf("p%d.example", i), 5000)
		go func() {
			for range i * 50 {
				_ = ctx.Err()
			}
			cancel()
		}()
		switch err := d.Pages().Put(ctx, e); {
		case err == nil:
			kept = append(kept, e)
		case !errors.Is(err, fault.Canceled):
			t.Fatalf("Put = %v, want canceled", err)
		}
		if _, _, err := d.Pages().Get(ctx, e.Key); err != nil && !errors.Is(err, fault.Canceled) {
			t.Fatalf("Get = %v, want canceled", err)
		}
		cancel()
	}
	wantKept(t, d.Pages(), kept...)
	put(t, d.Pages(), page("after.example", 10))
}
