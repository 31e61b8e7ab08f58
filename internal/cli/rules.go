// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
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
		Example: `dipper rules allow "domain:docs.example.com"
dipper rules deny "domain:*.example.org"
dipper rules test https://docs.example.com/guide`,
		GroupID: groupState, Args: subcommand, RunE: showHelp,
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
	var rows [][]string
	for _, l := range lines {
		rows = append(rows, []string{string(l.Kind), l.Rule, l.From})
	}
	p.table(rows)
	p.print("then %d trusted places, then permissions.default: %s\n", trusted, def)
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
	p.print("%s %s\n", kind, text)
	return nil
}

func (p *Program) removeRule(ctx context.Context, a *app.App, text string) error {
	found, err := a.ForgetRule(ctx, text)
	if err != nil {
		return err
	}
	if !found {
		e := fault.New(fault.Invalid, "", "no rule %q is stored", text)
		e.Advice = "dipper rules list shows all rules and where each is written; those in files are changed there."
		return e
	}
	if p.flags.json {
		p.writeJSON(map[string]string{"removed": text})
		return nil
	}
	p.print("removed %s\n", text)
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
	p.print("%s  %s\n", v.Decision, target)
	p.print("  by %s", v.Rule)
	if v.From != "" {
		p.print(" (%s)", v.From)
	}
	p.print("\n  %s\n", v.Reason)
	if v.Trusted != "" {
		p.print("  tier: %s\n", v.Trusted)
	}
	return nil
}
