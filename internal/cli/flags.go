// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/app"
)

// globals are the flags that every command takes.
type globals struct {
	json, quiet, verbose, yes bool
	config, session, timeout  string
	resolve, cacert, allowNet []string
	proxy                     string

	set *pflag.FlagSet
}

func (p *Program) globalFlags(root *cobra.Command) {
	f, g := root.PersistentFlags(), &p.flags
	g.set = f
	f.BoolVar(&g.json, "json", false, "one JSON document on stdout")
	f.BoolVar(&g.quiet, "quiet", false, "no progress and no notes on stderr")
	f.BoolVar(&g.verbose, "verbose", false, "more on stderr: every stage, and the whole chain of an error")
	f.StringVar(&g.config, "config", "", "configuration `FILE` instead of the user's own")
	f.StringVar(&g.session, "session", "", "`NAME` of a session that several commands share")
	f.StringVar(&g.timeout, "timeout", "", "`TIME` for the whole fetch, such as 20s")
	f.BoolVarP(&g.yes, "yes", "y", false, "answer yes to a permission question")
	f.StringArrayVar(&g.resolve, "resolve", nil, "dial an address for a name: `HOST:PORT:ADDR[:PORT2]`; may be repeated")
	f.StringArrayVar(&g.cacert, "cacert", nil, "`FILE` with more root certificates; may be repeated")
	f.StringArrayVar(&g.allowNet, "allow-net", nil, "private range that may be reached, as `CIDR`; may be repeated")
	f.StringVar(&g.proxy, "proxy", "", "`URL` of a proxy, or off")
}

// settings gives the flags that stand for keys of the configuration, as typed.
func (g *globals) settings() map[string][]string {
	out := map[string][]string{}
	for _, f := range []struct {
		flag, key string
		values    []string
	}{
		{"timeout", "timeouts.total", []string{g.timeout}},
		{"resolve", "network.resolve", g.resolve},
		{"cacert", "network.cacert", g.cacert},
		{"allow-net", "network.allow", g.allowNet},
		{"proxy", "network.proxy", []string{g.proxy}},
	} {
		if g.set.Changed(f.flag) {
			out[f.key] = f.values
		}
	}
	return out
}

// wantsJSON also holds where the flags could not be read: a program that asked
// for JSON gets JSON.
func (p *Program) wantsJSON() bool {
	if p.parsed || p.flags.json {
		return p.flags.json
	}
	args := p.Args
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	for _, arg := range slices.Backward(args) {
		if arg == "--json" || strings.HasPrefix(arg, "--json=") {
			return !slices.Contains([]string{"--json=false", "--json=0", "--json=f", "--json=F", "--json=FALSE", "--json=False"}, arg)
		}
	}
	return false
}

// misused is a failure of the command line of one command, with where to look.
func misused(cmd *cobra.Command, format string, args ...any) error {
	e := fault.New(fault.Invalid, "", format, args...)
	e.Advice = "See " + cmd.CommandPath() + " --help."
	return e
}

// flagError words what the flag parser found.
func flagError(cmd *cobra.Command, err error) error {
	var none *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &none) && none.GetSpecifiedShortnames() != "":
		e := fault.New(fault.Invalid, "", "%q begins with a dash and is no flag of %s", "-"+none.GetSpecifiedShortnames(), cmd.CommandPath())
		e.Advice = "Put -- before text that begins with a dash; the flags are in " + cmd.CommandPath() + " --help."
		return e
	case errors.As(err, &none):
		return noFlag(cmd, none.GetSpecifiedName())
	case errors.As(err, &bare):
		return misused(cmd, "%s needs a value", flagName(bare.GetSpecifiedShortnames(), bare.GetSpecifiedName()))
	case errors.As(err, &wrong):
		return misused(cmd, "--%s takes %s; got %q", wrong.GetFlag().Name, valueKind(wrong.GetFlag()), wrong.GetValue())
	}
	return misused(cmd, "the flags are not understood")
}

func flagName(shorthands, name string) string {
	if shorthands != "" {
		return "-" + name
	}
	return "--" + name
}

// valueKind says what a flag's value looks like.
func valueKind(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "bool":
		return "true or false, or no value at all"
	}
	return "another value"
}

// noFlag names the flag that was probably meant.
func noFlag(cmd *cobra.Command, name string) error {
	e := fault.New(fault.Invalid, "", "%s has no flag --%s", cmd.CommandPath(), name)
	e.Advice = "See " + cmd.CommandPath() + " --help."
	var names []string
	for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.InheritedFlags()} {
		set.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	}
	if near := nearest(name, names); near != "" {
		e.Advice = "Did you mean --" + near + "? " + e.Advice
	}
	return e
}

// noCommand names the command that was probably meant.
func noCommand(parent *cobra.Command, name string) error {
	e := fault.New(fault.Invalid, "", "%s has no command %q", parent.CommandPath(), name)
	e.Advice = "See " + parent.CommandPath() + " --help."
	var names []string
	for _, c := range parent.Commands() {
		names = append(names, c.Name())
	}
	if near := nearest(name, names); near == name {
		e.Advice = "The command goes before --."
	} else if near != "" {
		e.Advice = "Did you mean " + parent.CommandPath() + " " + near + "? " + e.Advice
	}
	return e
}

// nearest gives the name that is a slip or two away, empty for none.
func nearest(typed string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		d := app.EditDistance(typed, n)
		if len(typed) > 2 && strings.HasPrefix(n, typed) {
			d = 1
		}
		if d < least && d < len(n) {
			best, least = n, d
		}
	}
	return best
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misused(cmd, "%s takes no argument; got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// subcommand is for commands that only hold others.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return noCommand(cmd, args[0])
	}
	return nil
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return misused(cmd, "%s needs %s; got %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return misused(cmd, "%s takes %s at most; got %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }
