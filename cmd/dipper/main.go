// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Command dipper reads the web for agents and people: see `dipper help`.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/dipper-web/dipper/internal/cli"
)

func main() {
	// Nothing here writes to package log, but net/http does, and quotes what servers
	// send: bytes of strangers have no way to this terminal.
	log.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.FromOS().Run(ctx))
}
