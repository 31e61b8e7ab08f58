// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper/internal/app"
	"github.com/dipper-web/dipper/internal/mcpserver"
)

func (p *Program) mcp() *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "An MCP server on stdin and stdout for agents", Args: noArgs,
		Long: `An MCP server on stdin and stdout, with the tool web_fetch. Put this into your
agent's configuration:

  {"mcpServers": {"dipper": {"command": "dipper", "args": ["mcp"]}}}`,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serveMCP(cmd.Context()) },
	}
	cmd.AddCommand(&cobra.Command{Use: "install", Short: "Write a client's configuration (not built yet)", DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return usage("dipper mcp install is not built yet; dipper mcp --help shows the entry for your client's configuration")
		}})
	return cmd
}

func (p *Program) serveMCP(ctx context.Context) error {
	p.flags.quiet = true // stderr belongs to the host's log
	a, err := p.open(ctx, app.Doors{MaxTotal: mcpserver.MaxTotal})
	if err != nil {
		return err
	}
	defer a.Close()
	err = mcpserver.ServeStdio(ctx, mcpserver.Options{Client: a.Client, Version: app.Version(), Session: p.flags.session},
		io.NopCloser(p.Stdin), nopCloser{p.Stdout})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil // the client is gone, or we were told to stop: both are a good end
	}
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
