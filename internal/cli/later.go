// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper/fault"
)

// later holds the commands whose rooms are not built yet. They are refused with
// a sentence that says so, and never ignored.
func (p *Program) later() []*cobra.Command {
	return []*cobra.Command{
		notBuilt("search QUERY", "Search the web with the engines you have", "Search with another tool, and read what it finds with dipper fetch."),
		notBuilt("ask QUESTION", "One question, one answer with checked citations", "Put the question to one page: dipper fetch URL \"question\"."),
		notBuilt("resources list|templates|read", "List and read what other MCP servers offer", "Ask those servers through your agent for now."),
		notBuilt("index add|list|remove", "An index of your own documents", "Serve the documents and read them with dipper fetch URL --allow-net CIDR."),
		notBuilt("serve", "MCP, gateway, JSON API and dashboard over HTTP", "Use dipper mcp, which serves one client on stdin and stdout."),
	}
}

// notBuilt is a command that refuses every use but --help.
func notBuilt(use, short, instead string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, GroupID: groupLater, DisableFlagParsing: true,
		Long: short + ".\n\nThis command is not built yet, and refuses to run.\n" + instead,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return cmd.Help()
			}
			e := fault.New(fault.Invalid, "", "%s is not built yet in this version", cmd.CommandPath())
			e.Advice = instead
			return e
		},
	}
}
