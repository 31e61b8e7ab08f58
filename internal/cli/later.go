// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

// later holds the commands whose rooms are not built yet. They are refused with
// a sentence that says so, and never ignored.
func (p *Program) later() []*cobra.Command {
	var cmds []*cobra.Command
	for _, c := range []struct{ use, short string }{
		{"search", "Search the web with the engines you have (not built yet)"},
		{"ask", "One question, one answer with checked citations (not built yet)"},
		{"resources", "List and read what other MCP servers offer (not built yet)"},
		{"index", "An index of your own documents (not built yet)"},
		{"serve", "MCP, gateway, JSON API and dashboard over HTTP (not built yet)"},
	} {
		cmds = append(cmds, &cobra.Command{
			Use: c.use, Short: c.short, DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				for _, a := range args {
					if a == "--help" || a == "-h" {
						return cmd.Help()
					}
				}
				return usage("dipper %s is not built yet; this version has fetch, rules, trust, cache, config, doctor, demo and mcp", cmd.Name())
			},
		})
	}
	return cmds
}
