// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// shells lists for which shells there is a completion.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (p *Program) completion() *cobra.Command {
	return &cobra.Command{
		Use: "completion " + strings.Join(shells, "|"), Short: "The completion script for a shell", GroupID: groupAgent,
		Long: `Prints a script that lets a shell complete commands, flags and their values.`,
		Example: `source <(dipper completion bash)
dipper completion zsh > "${fpath[1]}/_dipper"
dipper completion fish > ~/.config/fish/completions/dipper.fish
dipper completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return misused(cmd, "%s needs the name of a shell: %s", cmd.CommandPath(), strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			script, err := completionScript(cmd.Root(), args[0])
			if err != nil {
				return err
			}
			if p.flags.json {
				p.writeJSON(struct {
					Shell  string `json:"shell"`
					Script string `json:"script"`
				}{args[0], script})
				return nil
			}
			p.print("%s", script)
			return nil
		},
	}
}

func completionScript(root *cobra.Command, shell string) (string, error) {
	var b bytes.Buffer
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&b, true)
	case "zsh":
		err = root.GenZshCompletion(&b)
	case "fish":
		err = root.GenFishCompletion(&b, true)
	default:
		err = root.GenPowerShellCompletionWithDesc(&b)
	}
	return b.String(), err
}

// values completes a flag that takes one of a few words.
func values(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag is not there: a slip in this package that every run finds
	}
}
