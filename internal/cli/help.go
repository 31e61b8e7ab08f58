// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manual is the help of one command: what --help prints, what it prints with
// --json, and what the reference in the documentation is made of.
type manual struct {
	Command     string       `json:"command"`
	Summary     string       `json:"summary"`
	Usage       string       `json:"usage"`
	Description string       `json:"description,omitempty"`
	Examples    []string     `json:"examples,omitempty"`
	Commands    []subManual  `json:"commands,omitempty"`
	Flags       []flagManual `json:"flags,omitempty"`
	Global      []flagManual `json:"globalFlags,omitempty"`
}

type subManual struct {
	Command string `json:"command"`
	Summary string `json:"summary"`

	group string
}

type flagManual struct {
	Flag    string `json:"flag"`            // --output
	Short   string `json:"short,omitempty"` // -o
	Value   string `json:"value,omitempty"` // FILE; empty: it takes none
	Meaning string `json:"meaning"`
}

func manualOf(cmd *cobra.Command) manual {
	m := manual{Command: cmd.CommandPath(), Summary: cmd.Short, Usage: usageLine(cmd), Description: strings.TrimSpace(cmd.Long),
		Flags: flagsOf(cmd.LocalNonPersistentFlags()), Global: flagsOf(cmd.Root().PersistentFlags())}
	for line := range strings.Lines(cmd.Example) {
		m.Examples = append(m.Examples, strings.TrimSpace(line))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			m.Commands = append(m.Commands, subManual{c.Name(), c.Short, c.GroupID})
		}
	}
	return m
}

// usageLine is how a command is written, from the name of the program on.
func usageLine(cmd *cobra.Command) string {
	_, args, _ := strings.Cut(cmd.Use, " ")
	line := cmd.CommandPath()
	if cmd.HasAvailableSubCommands() && cmd.Args != nil && args == "" {
		args = "COMMAND"
	}
	if args != "" {
		line += " " + args
	}
	if !cmd.DisableFlagParsing {
		line += " [flags]"
	}
	return line
}

func flagsOf(set *pflag.FlagSet) []flagManual {
	var out []flagManual
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, meaning := pflag.UnquoteUsage(f)
		one := flagManual{Flag: "--" + f.Name, Value: value, Meaning: meaning}
		if f.Shorthand != "" {
			one.Short = "-" + f.Shorthand
		}
		out = append(out, one)
	})
	return out
}

// help is shown for --help and by the help command.
func (p *Program) help(cmd *cobra.Command, _ []string) {
	m := manualOf(cmd)
	if p.wantsJSON() {
		p.writeJSON(m)
		return
	}
	p.print("%s", m.text())
}

// text lays a manual out for a terminal of 80 columns and more.
func (m manual) text() string {
	var b bytes.Buffer
	if m.Description == "" {
		m.Description = m.Summary + "."
	}
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n", m.Description, m.Usage)
	if len(m.Examples) > 0 {
		fmt.Fprintf(&b, "\nExamples:\n  %s\n", strings.Join(m.Examples, "\n  "))
	}
	m.writeCommands(&b)
	writeFlags(&b, "Flags", m.Flags)
	writeFlags(&b, "Flags of every command", m.Global)
	if len(m.Commands) > 0 {
		fmt.Fprintf(&b, "\n%s COMMAND --help says more of one.\n", m.Command)
	}
	return b.String()
}

func (m manual) writeCommands(b *bytes.Buffer) {
	groups := []struct{ id, title string }{{groupRead, "Reading"}, {groupState, "Rules and state"},
		{groupAgent, "For agents, scripts and shells"}, {"", "Commands"}, {groupLater, "Not built yet"}}
	wide := 0
	for _, c := range m.Commands {
		wide = max(wide, len(c.Command))
	}
	for _, g := range groups {
		here := slices.DeleteFunc(slices.Clone(m.Commands), func(c subManual) bool { return c.group != g.id })
		if len(here) > 0 {
			fmt.Fprintf(b, "\n%s:\n", g.title)
		}
		for _, c := range here {
			fmt.Fprintf(b, "  %-*s  %s\n", wide, c.Command, c.Summary)
		}
	}
}

func writeFlags(b *bytes.Buffer, title string, flags []flagManual) {
	wide := 0
	for _, f := range flags {
		wide = max(wide, len(f.form()))
	}
	for i, f := range flags {
		if i == 0 {
			fmt.Fprintf(b, "\n%s:\n", title)
		}
		fmt.Fprintf(b, "  %-*s  %s\n", wide, f.form(), f.Meaning)
	}
}

// form is how a flag is written.
func (f flagManual) form() string {
	s := "    " + f.Flag
	if f.Short != "" {
		s = f.Short + ", " + f.Flag
	}
	if f.Value != "" {
		s += " " + f.Value
	}
	return s
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "What a command does and takes", GroupID: groupAgent,
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range cmd.Root().Commands() {
				if strings.HasPrefix(c.Name(), typed) {
					names = append(names, c.Name())
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			asked := cmd.Root()
			for _, name := range args {
				i := slices.IndexFunc(asked.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
				if i < 0 {
					return noCommand(asked, name)
				}
				asked = asked.Commands()[i]
			}
			return asked.Help()
		},
	}
}
