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
	log.SetOutput(io.Discard) // net/http writes of broken servers there; what matters comes back as an error
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.FromOS().Run(ctx))
}
