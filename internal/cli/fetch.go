// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/app"
	"github.com/dipper-web/dipper/permit"
)

// fetchFlags are the flags of dipper fetch.
type fetchFlags struct {
	req          dipper.Request
	mode, render string
	output       string
}

func (p *Program) fetch() *cobra.Command {
	var f fetchFlags
	cmd := &cobra.Command{
		Use: "fetch URL [PROMPT]", Short: "Read one page: an answer, its passages, or the page as Markdown", GroupID: groupRead,
		Long: `Read one page.

With a PROMPT the part of the page that answers comes back: written by the helper
model where one is configured (--mode answer), else as the passages that fit best,
word for word (--mode extract). Without a PROMPT the page comes back as Markdown.
A PROMPT that begins with a dash goes after --.

A result that was cut names on stderr, and as shown.next with --json, the cursor
that reads on. --section, --find and --cursor read in the kept page, without the
network.`,
		Example: `dipper fetch https://go.dev/ref/spec "What is the zero value of a map?"
dipper fetch https://go.dev/ref/spec --section Map_types
dipper fetch https://go.dev/ref/spec --find "method set"
dipper fetch https://example.com/data.json --mode raw -o data.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return misused(cmd, "dipper fetch needs a URL, as in: dipper fetch https://example.com/ \"question\"")
			case len(args) > 2:
				return misused(cmd, "dipper fetch takes a URL and one PROMPT, and got %d arguments; put the PROMPT in quotation marks", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.req.URL, f.req.Prompt = args[0], strings.TrimSpace(first(args[1:]))
			if err := f.check(cmd); err != nil {
				return err
			}
			return p.runFetch(cmd.Context(), f)
		},
	}
	f.define(cmd)
	return cmd
}

func (f *fetchFlags) define(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.mode, "mode", "", "`MODE`: answer, extract, markdown or raw")
	fl.BoolVar(&f.req.Full, "full", false, "everything visible, not the main content alone")
	fl.IntVar(&f.req.Budget, "budget", 0, "length of the result in `TOKENS` (extract 1000, answer 2000, else the whole page)")
	fl.StringVar(&f.req.Section, "section", "", "read the section with this `ID`")
	fl.StringVar(&f.req.Cursor, "cursor", "", "read on where an earlier result stopped: its `CURSOR`")
	fl.StringVar(&f.req.Find, "find", "", "show the places that hold this `TEXT`")
	fl.StringVar(&f.req.Links, "links", "", "`WHERE` links stand: inline, end or none")
	fl.BoolVar(&f.req.Refresh, "refresh", false, "ask the site again, even if the page is kept")
	fl.BoolVar(&f.req.Offline, "offline", false, "never ask the network: kept pages only")
	fl.StringVar(&f.render, "render", "auto", "`WHEN` to run the page's scripts: auto, never, always (not built yet)")
	fl.StringVarP(&f.output, "output", "o", "", "write the result to a `FILE`; - is stdout")
	values(cmd, "mode", "answer", "extract", "markdown", "raw")
	values(cmd, "links", "inline", "end", "none")
	values(cmd, "render", "auto", "never", "always")
}

// check refuses what the request itself would take for "not said".
func (f *fetchFlags) check(cmd *cobra.Command) error {
	said := cmd.Flags().Changed
	switch {
	case said("budget") && f.req.Budget < 1:
		return misused(cmd, "--budget takes a number of tokens, at least 1; got %d", f.req.Budget)
	case f.render == "always":
		e := fault.New(fault.Invalid, "", "--render always is not built yet; a page that needs JavaScript ends as shell")
		e.Advice = "Leave --render out."
		return e
	case f.render != "auto" && f.render != "never":
		return misused(cmd, "--render %q is unknown; use auto, never or always", f.render)
	}
	for _, name := range []string{"mode", "section", "cursor", "find", "links", "output"} {
		if said(name) && cmd.Flag(name).Value.String() == "" {
			return misused(cmd, "--%s is empty; give it a value or leave it out", name)
		}
	}
	return nil
}

func (p *Program) runFetch(ctx context.Context, f fetchFlags) error {
	file, err := p.openDelivery(f.output)
	if err != nil {
		return err
	}
	defer file.drop()
	show := p.progress()
	defer show.close()
	a, err := p.open(ctx, app.Doors{Recorder: show, Asker: p.asker(show)})
	if err != nil {
		return err
	}
	defer a.Close()
	f.req.Mode = dipper.Mode(f.mode)
	f.req.Session, f.req.Yes = p.flags.session, p.flags.yes
	f.req.Images = f.req.Prompt == "" && (f.mode == "" || f.mode == string(dipper.ModeMarkdown)) && f.req.Cursor == ""
	if p.person() {
		f.req.NamedBy = permit.Person
	}
	show.begin(f.req.URL)
	ans, err := a.Client.Fetch(ctx, f.req)
	show.hold(true) // what follows is written in lines that stay
	if err != nil {
		return err
	}
	show.done(ans)
	p.hints(ans, f, a.Client.HasModel())
	p.exit = ans.Outcome.ExitCode()
	return p.deliver(ans, file, f.mode == string(dipper.ModeRaw))
}

// hints tells how to go on from here.
func (p *Program) hints(ans *dipper.Answer, f fetchFlags, model bool) {
	if ans.Mode == dipper.ModeExtract && f.mode == "" && !model {
		p.note("no helper model is configured, so these are passages of the page; set ANTHROPIC_API_KEY, OPENAI_BASE_URL or model.provider to get answers")
	}
	if ans.Shown != nil && ans.Shown.Next != "" {
		shown := ""
		if ans.Page != nil {
			shown = fmt.Sprintf("%d of %d characters are shown; ", ans.Shown.Chars, ans.Page.Chars)
		}
		p.note("%sto read on: dipper fetch %s --cursor %s", shown, shellWord(ans.URL), ans.Shown.Next)
	}
}

// shellWord writes a word so that a shell hands it on as it is.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:%,@+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
