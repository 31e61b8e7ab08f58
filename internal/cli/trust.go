// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/app"
	"github.com/dipper-web/dipper/permit"
)

func (p *Program) trust() *cobra.Command {
	return &cobra.Command{
		Use: "trust [PATH]", Short: "Let a project's .dipper.yaml and .mcp.json count", GroupID: groupState,
		Long: `Until a project is trusted, its .dipper.yaml may only narrow what Dipper does, and
the servers of its .mcp.json are not started. This shows the commands and
addresses that the files name, asks, and remembers folder and content: a changed
file must be trusted again. PATH is the folder; the working folder if left out.`,
		Example: `dipper trust
dipper trust ~/src/project -y`,
		Args: atMostOne("one folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.runTrust(cmd.Context(), first(args)) },
	}
}

func (p *Program) untrust() *cobra.Command {
	return &cobra.Command{Use: "untrust [PATH]", Short: "Take the trust of a project back", Args: atMostOne("one folder"), GroupID: groupState,
		RunE: func(_ *cobra.Command, args []string) error {
			known, err := app.Untrust(p.source(), first(args))
			if err != nil {
				return err
			}
			switch {
			case p.flags.json:
				p.writeJSON(map[string]bool{"removed": known})
			case known:
				p.print("no longer trusted\n")
			default:
				p.print("was not trusted\n")
			}
			return nil
		}}
}

// trustAnswer is the JSON form.
type trustAnswer struct {
	Dir     string        `json:"dir"`
	Files   []string      `json:"files"`
	Effects []trustEffect `json:"effects"`
	Changed bool          `json:"changed"` // it was trusted, and the files have changed since
	Trusted bool          `json:"trusted"`
}

type trustEffect struct {
	Kind string `json:"kind"` // command, address, rule or setting
	Text string `json:"text"`
}

func (p *Program) runTrust(ctx context.Context, path string) error {
	src := p.source()
	project, err := app.TrustStatus(src, path)
	if err != nil {
		return err
	}
	out := trustAnswer{Dir: project.Dir, Files: append([]string{}, project.Files...), Effects: []trustEffect{}, Changed: project.Changed, Trusted: project.Trusted}
	for _, e := range project.Effects {
		out.Effects = append(out.Effects, trustEffect{e.Kind, e.Text})
	}
	was := out.Trusted
	if !was {
		if len(out.Files) > 0 {
			p.showProject(out)
			if err := p.agree(ctx, out.Dir); err != nil {
				return err
			}
		}
		if err := app.TrustProject(src, project); err != nil {
			return err
		}
		out.Trusted = true
	}
	switch {
	case p.flags.json:
		p.writeJSON(out)
	case was:
		p.print("trusted already, as the files are now: %s\n", plain(out.Dir))
	default:
		p.print("trusted, as the files are now: %s\n", plain(out.Dir))
	}
	return nil
}

// showProject tells what the files would do: part of the question, so it stands
// on stderr where the question does.
func (p *Program) showProject(t trustAnswer) {
	w := p.Stderr
	if !p.flags.json && !p.Terminals.Err {
		w = io.Writer(p.out)
	}
	fmt.Fprintf(w, "%s\n", plain(t.Dir))
	if t.Changed {
		fmt.Fprintln(w, "  It was trusted before, and its files have changed since.")
	}
	for _, e := range t.Effects {
		fmt.Fprintf(w, "  %-8s %s\n", e.Kind, e.Text)
	}
	if len(t.Effects) == 0 {
		fmt.Fprintln(w, "  Its files start nothing and change nothing.")
	}
}

// agree asks for the yes that a project needs; -y says it beforehand.
func (p *Program) agree(ctx context.Context, dir string) error {
	if p.flags.yes {
		return nil
	}
	show := p.progress()
	defer show.close()
	nobody := fault.New(fault.Unasked, fault.ByRule, "trusting %s needs a yes, and nobody can be asked here", dir)
	nobody.Advice = "Read what the project would do, then run dipper trust -y."
	a := p.atTerminal(show)
	if a == nil {
		return nobody
	}
	c, err := a.put(ctx, "Trust this project, as its files are now?\n", "  [y] yes  [n] no: ", false)
	switch {
	case errors.Is(err, permit.ErrNobody):
		return nobody
	case err != nil:
		return err
	case c == permit.No:
		e := fault.New(fault.Denied, fault.ByPerson, "%s was not trusted", dir)
		e.Advice = "It still narrows what Dipper does; run dipper trust again to change that."
		return e
	}
	return nil
}
