// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Command dipper reads the web for agents and people: see `dipper help`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/dipper-web/dipper/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.FromOS().Run(ctx))
}
