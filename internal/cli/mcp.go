// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/app"
	"github.com/dipper-web/dipper/internal/mcpserver"
)

// mcpEntry is what a host's configuration needs.
const mcpEntry = `{"mcpServers": {"dipper": {"command": "dipper", "args": ["mcp"]}}}`

func (p *Program) mcp() *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "An MCP server on stdin and stdout for agents", Args: subcommand, GroupID: groupAgent,
		Long: `An MCP server on stdin and stdout, with the tool web_fetch. Put this into your
agent's configuration:

  ` + mcpEntry + `

The flags of every command may stand in args as well. One process is one session:
what a user, a page or a redirect has named is known to it.`,
		Example: `dipper mcp --allow-net 192.168.1.0/24`,
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.serveMCP(cmd.Context()) },
	}
	cmd.AddCommand(notBuilt("install CLIENT", "Print or write a client's configuration",
		"Put this into the client's configuration: "+mcpEntry))
	cmd.Commands()[0].GroupID = ""
	return cmd
}

// serveMCP ends when the client closes stdin, or when it is told to stop: both
// are a good end.
func (p *Program) serveMCP(ctx context.Context) error {
	if p.flags.json {
		e := fault.New(fault.Invalid, "", "dipper mcp speaks a protocol of its own on stdout")
		e.Advice = "Leave out --json."
		return e
	}
	if p.Terminals.In {
		p.note("an MCP client is expected on stdin, and this is a terminal; dipper mcp --help shows the client's entry, Ctrl-D ends")
	}
	a, err := p.open(ctx, app.Doors{MaxTotal: mcpserver.MaxTotal})
	if err != nil {
		return err
	}
	defer a.Close()
	return mcpserver.ServeStdio(ctx, mcpserver.Options{Client: a.Client, Version: app.Version(), Session: p.flags.session}, p.Stdin, p.Stdout)
}
