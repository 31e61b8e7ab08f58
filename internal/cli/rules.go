// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/internal/app"
	"github.com/dipper-web/dipper/permit"
)

func (p *Program) rules() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "What may be read: list, allow, ask, deny, remove, test",
		Long: `Rules say what may be read. The order is deny, ask, allow, then the trusted list,
then permissions.default. Rules are written in the configuration, in settings
files, or stored by this command.

  domain:example.com            exactly that host (a deny covers its subdomains too)
  domain:*.example.com          its subdomains
  https://example.com/docs/     everything below a path
  WebFetch(domain:example.com)  the same in the words of other agents
  WebSearch                     searching`,
		Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{Use: "list", Short: "All rules, and where each is written", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.withApp(cmd.Context(), p.listRules) }})
	for _, kind := range []permit.Decision{permit.Allow, permit.Ask, permit.Deny} {
		cmd.AddCommand(&cobra.Command{Use: string(kind) + " RULE", Short: "Store a rule that says " + string(kind), Args: oneArg("a rule"),
			RunE: func(cmd *cobra.Command, args []string) error {
				return p.withApp(cmd.Context(), func(ctx context.Context, a *app.App) error { return p.addRule(ctx, a, kind, args[0]) })
			}})
	}
	cmd.AddCommand(&cobra.Command{Use: "remove RULE", Short: "Remove a stored rule", Args: oneArg("a rule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withApp(cmd.Context(), func(ctx context.Context, a *app.App) error { return p.removeRule(ctx, a, args[0]) })
		}})
	cmd.AddCommand(&cobra.Command{Use: "test URL", Short: "Which rule decides about a URL", Args: oneArg("a URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withApp(cmd.Context(), func(ctx context.Context, a *app.App) error { return p.testRule(ctx, a, args[0]) })
		}})
	return cmd
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

// ruleLine is a rule in the JSON form.
type ruleLine struct {
	Kind permit.Decision `json:"kind"`
	Rule string          `json:"rule"`
	From string          `json:"from"`
}

func (p *Program) listRules(ctx context.Context, a *app.App) error {
	rules, err := a.Book.Rules(ctx)
	if err != nil {
		return err
	}
	lines := []ruleLine{}
	for _, r := range rules {
		lines = append(lines, ruleLine{r.Kind, r.Rule, r.From})
	}
	def, trusted := a.Loaded.Config.Permissions.Default, len(a.Trusted.List())
	if p.flags.json {
		p.writeJSON(struct {
			Rules   []ruleLine `json:"rules"`
			Trusted int        `json:"trusted"`
			Default string     `json:"default"`
		}{lines, trusted, def})
		return nil
	}
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%s\n", l.Kind, l.Rule, l.From)
	}
	w.Flush()
	fmt.Fprintf(p.Stdout, "then %d trusted places, then permissions.default: %s\n", trusted, def)
	return nil
}

func (p *Program) addRule(ctx context.Context, a *app.App, kind permit.Decision, text string) error {
	if err := a.RememberRule(ctx, kind, text); err != nil {
		return err
	}
	if p.flags.json {
		p.writeJSON(ruleLine{kind, text, "remembered"})
		return nil
	}
	fmt.Fprintf(p.Stdout, "%s %s\n", kind, text)
	return nil
}

func (p *Program) removeRule(ctx context.Context, a *app.App, text string) error {
	found, err := a.ForgetRule(ctx, text)
	if err != nil {
		return err
	}
	if !found {
		return usage("no stored rule %q; rules in files are changed there (dipper rules list shows where each is written)", text)
	}
	if p.flags.json {
		p.writeJSON(map[string]string{"removed": text})
		return nil
	}
	fmt.Fprintf(p.Stdout, "removed %s\n", text)
	return nil
}

// ruleTest is the answer of rules test.
type ruleTest struct {
	URL      string          `json:"url"`
	Decision permit.Decision `json:"decision"`
	Rule     string          `json:"rule,omitempty"`
	From     string          `json:"from,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Trusted  string          `json:"trusted,omitempty"`
}

func (p *Program) testRule(ctx context.Context, a *app.App, url string) error {
	target, err := check.Limits{Declared: a.Guard.Declared}.Parse(url)
	if err != nil {
		return err
	}
	by := permit.Agent
	if p.person() {
		by = permit.Person
	}
	v, err := a.Book.Explain(ctx, target, by)
	if err != nil {
		return err
	}
	if p.flags.json {
		p.writeJSON(ruleTest{target.String(), v.Decision, v.Rule, v.From, v.Reason, v.Trusted})
		return nil
	}
	fmt.Fprintf(p.Stdout, "%s  %s\n", v.Decision, target)
	fmt.Fprintf(p.Stdout, "  by %s", v.Rule)
	if v.From != "" {
		fmt.Fprintf(p.Stdout, " (%s)", v.From)
	}
	fmt.Fprintf(p.Stdout, "\n  %s\n", v.Reason)
	if v.Trusted != "" {
		fmt.Fprintf(p.Stdout, "  trusted: %s\n", v.Trusted)
	}
	return nil
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no argument %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("%s needs %s; got %d arguments", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}
