// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli is the dipper program as a value: arguments, environment and
// streams go in, an exit code comes out. Nothing else of the process is used,
// so tests run it as users do.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/app"
)

// Program is one run of the command.
type Program struct {
	Args           []string // without the program's name
	Env            []string // as os.Environ gives it
	Dir            string   // working folder
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// Terminals says which streams are terminals: a person is there.
	Terminals Terminals

	flags  globals
	parsed bool // the flags were read whole
	out    *output
	exit   int
}

// Terminals says which of the streams are terminals, and how wide that of
// standard error is in columns; nil or 0: not known.
type Terminals struct {
	In, Out, Err bool
	Width        func() int
}

// FromOS is the program of this process.
func FromOS() *Program {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // no working folder, no project file
	}
	return &Program{
		Args: os.Args[1:], Env: os.Environ(), Dir: dir, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Terminals: Terminals{In: isTerminal(os.Stdin), Out: isTerminal(os.Stdout), Err: isTerminal(os.Stderr), Width: width},
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// width asks anew each time: windows change while a page is fetched.
func width() int {
	w, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// Run runs the command and gives the exit code of the contract.
func (p *Program) Run(ctx context.Context) int {
	p.out = &output{w: p.Stdout}
	root := p.root()
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(p.out)
	root.SetErr(p.Stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = p.out.failure()
	}
	if err == nil {
		return p.exit
	}
	if ctx.Err() != nil && !errors.Is(err, fault.Canceled) {
		err = fault.Wrap(err, fault.Canceled, "", "the command was stopped")
	}
	return p.fail(err)
}

// The groups of commands, as help shows them.
const (
	groupRead  = "read"
	groupState = "state"
	groupAgent = "agent"
	groupLater = "later"
)

// root builds the tree of commands.
func (p *Program) root() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "dipper",
		Short: "Read the web: a URL and a question become a short, checked answer",
		Long: `Dipper reads the web for agents and for people at a terminal.

  dipper fetch URL "question"     the part of a page that answers
  dipper fetch URL                the page as Markdown
  dipper demo                     the whole flow on this machine: no key, no network

Results go to stdout, progress and errors to stderr. Every command takes --json.`,
		SilenceErrors: true, SilenceUsage: true, DisableSuggestions: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(cmd, args[0])
			}
			return nil
		},
		PersistentPreRun: func(cmd *cobra.Command, _ []string) { p.parsed = !cmd.DisableFlagParsing },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return p.printVersion()
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "the version of this program")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(p.help)
	p.globalFlags(root)
	root.AddGroup(&cobra.Group{ID: groupRead, Title: "Reading:"}, &cobra.Group{ID: groupState, Title: "Rules and state:"},
		&cobra.Group{ID: groupAgent, Title: "For agents, scripts and shells:"}, &cobra.Group{ID: groupLater, Title: "Not built yet:"})
	root.AddCommand(p.fetch(), p.demo(), p.doctor(),
		p.rules(), p.trust(), p.untrust(), p.cache(), p.configuration(),
		p.mcp(), p.completion(), p.version())
	root.AddCommand(p.later()...)
	root.SetHelpCommand(helpCommand())
	root.SetHelpCommandGroupID(groupAgent)
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

// source is what the configuration is read from, with what the flags say.
func (p *Program) source() app.Source {
	return app.Source{Env: p.Env, Dir: p.Dir, ConfigPath: p.flags.config, Flags: p.flags.settings()}
}

// load reads the configuration.
func (p *Program) load() (*app.Loaded, error) {
	l, err := app.Load(p.source())
	if err != nil {
		return nil, err
	}
	for _, n := range l.Notes {
		p.note("%s", n)
	}
	return l, nil
}

// open opens everything the configuration names.
func (p *Program) open(ctx context.Context, d app.Doors) (*app.App, error) {
	l, err := p.load()
	if err != nil {
		return nil, err
	}
	told := len(l.Notes)
	a, err := app.Open(ctx, l, d)
	if err != nil {
		return nil, err
	}
	for _, n := range append(l.Notes[told:], a.Notes...) {
		p.note("%s", n)
	}
	return a, nil
}

// withApp opens everything for one command.
func (p *Program) withApp(ctx context.Context, do func(context.Context, *app.App) error) error {
	a, err := p.open(ctx, app.Doors{})
	if err != nil {
		return err
	}
	defer a.Close()
	return do(ctx, a)
}

// person reports whether a person is there: then a typed URL is theirs.
func (p *Program) person() bool { return p.Terminals.In || p.Terminals.Err || p.flags.yes }

// getenv gives a variable of the program's environment.
func (p *Program) getenv(name string) string {
	for _, pair := range p.Env {
		if n, value, ok := strings.Cut(pair, "="); ok && n == name {
			return value
		}
	}
	return ""
}
