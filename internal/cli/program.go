// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli is the dipper program as a value: arguments, environment and
// streams go in, an exit code comes out. Nothing else of the process is used,
// so tests run it as users do.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/dipper-web/dipper"
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

	flags globals
	exit  int
}

// Terminals says which of the streams are terminals.
type Terminals struct{ In, Out, Err bool }

// FromOS is the program of this process.
func FromOS() *Program {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // no working folder, no project file
	}
	return &Program{
		Args: os.Args[1:], Env: os.Environ(), Dir: dir, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Terminals: Terminals{In: isTerminal(os.Stdin), Out: isTerminal(os.Stdout), Err: isTerminal(os.Stderr)},
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// globals are the flags that every command takes.
type globals struct {
	json, quiet, verbose, yes bool
	config, session, timeout  string
	resolve, cacert, allowNet []string
	proxy                     string
}

// Run runs the command and gives the exit code of the contract.
func (p *Program) Run(ctx context.Context) int {
	root := p.root()
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return p.exit
	}
	if ctx.Err() != nil && !errors.Is(err, fault.Canceled) {
		err = fault.Wrap(err, fault.Canceled, "", "the command was stopped")
	}
	return p.fail(err)
}

// root builds the tree of commands.
func (p *Program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "dipper",
		Short: "Read the web: a URL and a question become a short, checked answer",
		Long: `Dipper reads the web for agents and for people at a terminal.

  dipper fetch URL "question"     the part of a page that answers
  dipper fetch URL                the page as Markdown
  dipper demo                     the whole flow on this machine: no key, no network

Results go to stdout, progress and errors to stderr. Every command takes --json.`,
		SilenceErrors: true, SilenceUsage: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("there is no command %q; see dipper help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%v; see %s --help", err, cmd.CommandPath())
	})
	p.globalFlags(root)
	root.AddCommand(p.fetch(), p.rules(), p.trust(), p.untrust(), p.cache(), p.configuration(), p.doctor(), p.demo(), p.mcp(), p.version())
	root.AddCommand(p.later()...)
	root.InitDefaultCompletionCmd()
	return root
}

func (p *Program) globalFlags(root *cobra.Command) {
	f, g := root.PersistentFlags(), &p.flags
	f.BoolVar(&g.json, "json", false, "one JSON document on stdout")
	f.BoolVar(&g.quiet, "quiet", false, "no progress and no notes")
	f.BoolVar(&g.verbose, "verbose", false, "more on stderr: stages, where settings come from")
	f.StringVar(&g.config, "config", "", "configuration `file` instead of the user's own")
	f.StringVar(&g.session, "session", "", "`name` of the session that several commands share")
	f.StringVar(&g.timeout, "timeout", "", "time for the whole command, such as 20s")
	f.BoolVarP(&g.yes, "yes", "y", false, "answer yes to a permission question")
	f.StringArrayVar(&g.resolve, "resolve", nil, "dial an address for a name: `HOST:PORT:ADDR[:PORT2]`; may be repeated")
	f.StringArrayVar(&g.cacert, "cacert", nil, "`file` with more root certificates; may be repeated")
	f.StringArrayVar(&g.allowNet, "allow-net", nil, "private range that may be reached, as `CIDR`; may be repeated")
	f.StringVar(&g.proxy, "proxy", "", "`URL` of a proxy, or off")
}

// source is what the configuration is read from, with what the flags say.
func (p *Program) source() app.Source {
	g, flags := &p.flags, map[string][]string{}
	set := func(key string, values ...string) {
		if len(values) > 0 && values[0] != "" {
			flags[key] = values
		}
	}
	set("timeouts.total", g.timeout)
	set("network.resolve", g.resolve...)
	set("network.cacert", g.cacert...)
	set("network.allow", g.allowNet...)
	set("network.proxy", g.proxy)
	return app.Source{Env: p.Env, Dir: p.Dir, ConfigPath: g.config, Flags: flags}
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
	a, err := app.Open(ctx, l, d)
	if err != nil {
		return nil, err
	}
	for _, n := range a.Notes {
		p.note("%s", n)
	}
	return a, nil
}

// person reports whether a person is there: then a typed URL is theirs.
func (p *Program) person() bool { return p.Terminals.In || p.Terminals.Err || p.flags.yes }

// usage is a failure of the command line itself.
func usage(format string, args ...any) error { return fault.New(fault.Invalid, "", format, args...) }

// fail tells of an error and gives its exit code.
func (p *Program) fail(err error) int {
	f := fault.From(err)
	if p.wantsJSON() {
		p.writeJSON(dipper.FailureOf(err, ""))
	} else {
		fmt.Fprintf(p.Stderr, "dipper: %s\n", strings.TrimSpace(dipper.FailureOf(err, "").Error.Message))
		if f.Kind != fault.Canceled {
			fmt.Fprintf(p.Stderr, "  %s\n", f.Say())
		}
		if f.Excerpt != "" {
			fmt.Fprintf(p.Stderr, "\n%s\n", indent(p.safe(f.Excerpt, p.Terminals.Err)))
		}
		if p.flags.verbose {
			fmt.Fprintf(p.Stderr, "  (%v)\n", err)
		}
	}
	return fault.Of(f.Kind).Exit
}

// wantsJSON also holds where the flags could not be read: a program that asked
// for JSON gets JSON.
func (p *Program) wantsJSON() bool {
	if p.flags.json {
		return true
	}
	args := p.Args
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

// writeJSON writes one document, UTF-8, without escaping what needs none.
func (p *Program) writeJSON(v any) {
	e := json.NewEncoder(p.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		fmt.Fprintf(p.Stderr, "dipper: writing the result: %v\n", err)
		p.exit = 1
	}
}

// note tells a person something beside the result.
func (p *Program) note(format string, args ...any) {
	if !p.flags.quiet {
		fmt.Fprintf(p.Stderr, "note: %s\n", fmt.Sprintf(format, args...))
	}
}

func indent(s string) string { return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ") }
