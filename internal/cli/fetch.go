// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/convert"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/app"
	"github.com/dipper-web/dipper/permit"
)

// fetchFlags are the flags of dipper fetch.
type fetchFlags struct {
	req            dipper.Request
	mode, render   string
	output         string
	budgetSaid     bool
	readsWithModel bool
}

func (p *Program) fetch() *cobra.Command {
	var f fetchFlags
	cmd := &cobra.Command{
		Use:   "fetch URL [PROMPT]",
		Short: "Read one page: an answer, its passages, or the page as Markdown",
		Long: `Read one page.

With a PROMPT the part of the page that answers comes back: written by the helper
model where one is configured (--mode answer), else as the passages that fit best,
word for word (--mode extract). Without a PROMPT the page comes back as Markdown.`,
		Example: `  dipper fetch https://go.dev/ref/spec "What is the zero value of a map?"
  dipper fetch https://go.dev/ref/spec --section Map_types
  dipper fetch https://go.dev/ref/spec --find "method set"
  dipper fetch https://example.com/data.json --mode raw -o data.json`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usage("fetch needs a URL: dipper fetch URL [PROMPT]")
			case len(args) > 2:
				return usage("fetch takes a URL and one prompt; put the prompt in quotation marks")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.req.URL = args[0]
			if len(args) == 2 {
				f.req.Prompt = strings.TrimSpace(args[1])
			}
			if cmd.Flags().Changed("budget") && f.req.Budget < 1 {
				return usage("--budget is a number of tokens, at least 1")
			}
			return p.runFetch(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.mode, "mode", "", "answer, extract, markdown or raw")
	fl.BoolVar(&f.req.Full, "full", false, "everything visible, not the main content alone")
	fl.IntVar(&f.req.Budget, "budget", 0, "`tokens` of the result (extract 1000, answer 2000, else the whole page)")
	fl.StringVar(&f.req.Section, "section", "", "`id` of the section to read")
	fl.StringVar(&f.req.Cursor, "cursor", "", "read on where an earlier result stopped (its shown.next)")
	fl.StringVar(&f.req.Find, "find", "", "show the places that hold this `text`")
	fl.StringVar(&f.req.Links, "links", "", "inline, end or none")
	fl.BoolVar(&f.req.Refresh, "refresh", false, "ask the site again, even if the page is kept")
	fl.BoolVar(&f.req.Offline, "offline", false, "never ask the network: kept pages only")
	fl.StringVar(&f.render, "render", "auto", "run the page's scripts: auto, never, always")
	fl.StringVarP(&f.output, "output", "o", "", "write the result to a `file`")
	return cmd
}

func (p *Program) runFetch(ctx context.Context, f fetchFlags) error {
	switch f.render {
	case "auto", "never":
	case "always":
		return usage("--render always is not built yet: pages that need JavaScript end as shell")
	default:
		return usage("--render %q is unknown: use auto, never or always", f.render)
	}
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
	if err != nil {
		return err
	}
	show.done(ans)
	if ans.Mode == dipper.ModeExtract && f.mode == "" && !a.Client.HasModel() {
		p.note("no helper model is configured, so these are passages of the page; set ANTHROPIC_API_KEY, OPENAI_BASE_URL or model.provider to get answers")
	}
	p.exit = ans.Outcome.ExitCode()
	return p.put(ans, f.output)
}

// put writes the result where the command line wants it.
func (p *Program) put(ans *dipper.Answer, output string) error {
	data := []byte(ans.Result)
	if ans.Mode == dipper.ModeRaw && ans.Raw != nil && ans.Shown != nil && !ans.Shown.Truncated {
		data = ans.Raw
	}
	if output != "" {
		if err := writeWhole(output, data); err != nil {
			return fault.Wrap(err, fault.Internal, "", "the result could not be written to %s: %v", output, err)
		}
		if !p.flags.json {
			return nil
		}
	}
	if p.flags.json {
		p.writeJSON(ans)
		return nil
	}
	if p.Terminals.Out {
		data = []byte(p.safe(string(data), true))
	}
	if ans.Mode != dipper.ModeRaw && len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	if _, err := p.Stdout.Write(data); err != nil {
		return fault.Wrap(err, fault.Internal, "", "the result could not be written: %v", err)
	}
	return nil
}

// writeWhole writes a file so that it is there whole or not at all.
func writeWhole(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".dipper-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // after the rename there is nothing left to remove
	_, err = tmp.Write(data)
	if e := tmp.Chmod(0o644); err == nil {
		err = e
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// safe makes a page's text harmless on a terminal.
func (p *Program) safe(s string, terminal bool) string {
	if !terminal {
		return s
	}
	clean, _ := convert.Clean(s)
	return clean
}

// size writes a number of bytes as people do.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return trimZero(float64(n)/1000) + " KB"
	}
	return trimZero(float64(n)/1_000_000) + " MB"
}

func trimZero(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }
