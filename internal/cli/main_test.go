// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write the documents that are made from code")

// TestMain lets the test binary be dipper itself, for the scripts.
func TestMain(m *testing.M) {
	testscript.Main(leakless{m}, map[string]func(){"dipper": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		os.Exit(FromOS().Run(ctx))
	}})
}

// leakless runs the tests and then looks for goroutines that they left behind.
type leakless struct{ m *testing.M }

func (l leakless) Run() int {
	code := l.m.Run()
	if err := goleak.Find(goleak.IgnoreTopFunction("os/signal.loop")); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestScripts runs the command lines of testdata/*.txt. Each has a home of its
// own, a site on loopback at $SITE that serves the script's folder site/, and
// two more commands:
//
//	json PATH VALUE   stdout is one JSON document that holds VALUE at PATH
//	json PATH         … that holds anything there; !json PATH: nothing
//	status N CMD…     runs a command and wants exit code N
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			if err := os.Mkdir(home, 0o700); err != nil {
				return err
			}
			s := newSite(filepath.Join(e.WorkDir, "site"))
			e.Defer(s.close)
			if err := os.WriteFile(filepath.Join(e.WorkDir, "ca.pem"), s.certificate(), 0o600); err != nil {
				return err
			}
			e.Setenv("HOME", home)
			e.Setenv("SITE", s.plain.URL)
			e.Setenv("HOSTPORT", s.plain.Listener.Addr().String())
			e.Setenv("TLSPORT", s.tlsPort())
			e.Setenv("DIPPER_NETWORK_ALLOW", "127.0.0.0/8")
			e.Setenv("DIPPER_NETWORK_PROXY", "off")
			e.Setenv("DIPPER_PERMISSIONS_DEFAULT", "allow")
			e.Setenv("DIPPER_PROVENANCE", "off")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"json": jsonCommand, "status": statusCommand},
	})
}

// statusCommand runs a program and checks its exit code.
func statusCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARGUMENT…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d\n%s", code, want, ts.ReadFile("stderr"))
	}
}

// jsonCommand looks into the document on stdout.
func jsonCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: json PATH [VALUE]")
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	var doc any
	if err := d.Decode(&doc); err != nil {
		ts.Fatalf("stdout is no JSON: %v", err)
	}
	if d.More() {
		ts.Fatalf("stdout holds more than one JSON document")
	}
	got, found := at(doc, strings.Split(args[0], "."))
	switch {
	case neg && found:
		ts.Fatalf("%s is there: %s", args[0], got)
	case !neg && !found:
		ts.Fatalf("%s is not there", args[0])
	case !neg && len(args) == 2 && got != args[1]:
		ts.Fatalf("%s is %q, want %q", args[0], got, args[1])
	}
}

// at follows a path of member names and list indexes.
func at(doc any, path []string) (string, bool) {
	for _, step := range path {
		switch d := doc.(type) {
		case map[string]any:
			v, ok := d[step]
			if !ok {
				return "", false
			}
			doc = v
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(d) {
				return "", false
			}
			doc = d[i]
		default:
			return "", false
		}
	}
	if s, ok := doc.(string); ok {
		return s, true
	}
	text, err := json.Marshal(doc)
	return string(text), err == nil
}

// program is a run in this process, with nobody at a terminal.
func program(t testing.TB, args ...string) (*Program, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	var out, errs bytes.Buffer
	return &Program{
		Args: args, Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Env: []string{"HOME=" + t.TempDir(), "DIPPER_NETWORK_ALLOW=127.0.0.0/8", "DIPPER_NETWORK_PROXY=off", "DIPPER_PREFLIGHT_ROBOTS=ignore", "TERM=xterm"},
	}, &out, &errs
}
