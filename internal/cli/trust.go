// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/app"
	"github.com/dipper-web/dipper/permit"
)

func (p *Program) trust() *cobra.Command {
	return &cobra.Command{
		Use: "trust [PATH]", Short: "Let a project's .dipper.yaml and .mcp.json count",
		Long: `Until a project is trusted, its .dipper.yaml may only narrow what Dipper does, and
the servers of its .mcp.json are not started. This shows the commands and
addresses that the files name, asks, and remembers folder and content: a changed
file must be trusted again.`,
		Args: optionalPath,
		RunE: func(cmd *cobra.Command, args []string) error { return p.runTrust(cmd.Context(), first(args)) },
	}
}

func (p *Program) untrust() *cobra.Command {
	return &cobra.Command{Use: "untrust [PATH]", Short: "Take the trust of a project back", Args: optionalPath,
		RunE: func(_ *cobra.Command, args []string) error {
			known, err := app.Untrust(p.source(), first(args))
			if err != nil {
				return err
			}
			if p.flags.json {
				p.writeJSON(map[string]bool{"removed": known})
			} else if known {
				fmt.Fprintln(p.Stdout, "no longer trusted")
			} else {
				fmt.Fprintln(p.Stdout, "was not trusted")
			}
			return nil
		}}
}

// trustAnswer is the JSON form.
type trustAnswer struct {
	Dir     string        `json:"dir"`
	Files   []string      `json:"files"`
	Effects []trustEffect `json:"effects"`
	Trusted bool          `json:"trusted"`
}

type trustEffect struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

func (p *Program) runTrust(ctx context.Context, path string) error {
	src := p.source()
	project, err := app.TrustStatus(src, path)
	if err != nil {
		return err
	}
	out := trustAnswer{Dir: project.Dir, Files: project.Files, Effects: []trustEffect{}, Trusted: project.Trusted}
	for _, e := range project.Effects {
		out.Effects = append(out.Effects, trustEffect{e.Kind, e.Text})
	}
	w := p.Stdout
	if p.flags.json {
		w = p.Stderr
	}
	fmt.Fprintf(w, "%s\n", project.Dir)
	for _, e := range out.Effects {
		fmt.Fprintf(w, "  %-8s %s\n", e.Kind, e.Text)
	}
	if !out.Trusted {
		if err := p.agree(ctx); err != nil {
			return err
		}
		if err := app.TrustProject(src, project); err != nil {
			return err
		}
		out.Trusted = true
	}
	if p.flags.json {
		p.writeJSON(out)
		return nil
	}
	fmt.Fprintln(w, "trusted, as the files are now")
	return nil
}

// agree asks for the yes that a project needs; -y says it beforehand.
func (p *Program) agree(ctx context.Context) error {
	if p.flags.yes {
		return nil
	}
	show := p.progress()
	asker := p.asker(show)
	if asker == nil {
		return fault.New(fault.Unasked, fault.ByRule, "trusting a project needs a yes, and nobody can be asked here: run dipper trust -y after reading the list")
	}
	c, err := asker.Ask(ctx, permit.Question{URL: "and start what stands above", Reason: "This lets the project's files count as they are now."})
	switch {
	case err != nil:
		return err
	case c == permit.No:
		return fault.New(fault.Denied, fault.ByPerson, "the project was not trusted")
	}
	return nil
}

func optionalPath(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("%s takes one folder; got %d", cmd.CommandPath(), len(args))
	}
	return nil
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
