// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper/internal/app"
)

// libraryShown bounds the pages that cache list shows.
const libraryShown = 1000

func (p *Program) cache() *cobra.Command {
	cmd := &cobra.Command{Use: "cache", Short: "The page library: stats, list, clear", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(
		&cobra.Command{Use: "stats", Short: "How much is kept", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return p.withApp(cmd.Context(), p.cacheStats) }},
		&cobra.Command{Use: "list", Short: "The kept pages, newest first", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return p.withApp(cmd.Context(), p.cacheList) }},
		&cobra.Command{Use: "clear [URL]", Short: "Forget one page, or all", Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return p.withApp(cmd.Context(), func(ctx context.Context, a *app.App) error { return p.cacheClear(ctx, a, args) })
			}},
	)
	return cmd
}

func (p *Program) cacheStats(ctx context.Context, a *app.App) error {
	s, err := a.Library.Stats(ctx)
	if err != nil {
		return err
	}
	if p.flags.json {
		p.writeJSON(struct {
			Pages  int        `json:"pages"`
			Bytes  int64      `json:"bytes"`
			Oldest *time.Time `json:"oldest,omitempty"`
			Newest *time.Time `json:"newest,omitempty"`
			Place  string     `json:"place"`
		}{s.Count, s.Bytes, when(s.Oldest), when(s.Newest), a.Place()})
		return nil
	}
	fmt.Fprintf(p.Stdout, "%d pages, %s, in %s\n", s.Count, size(s.Bytes), a.Place())
	if s.Count > 0 {
		fmt.Fprintf(p.Stdout, "oldest %s old, newest %s old\n", age(time.Since(s.Oldest)), age(time.Since(s.Newest)))
	}
	return nil
}

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// libraryLine is one kept page in the JSON form.
type libraryLine struct {
	ID       string    `json:"id"`
	URL      string    `json:"url"`
	Title    string    `json:"title,omitempty"`
	StoredAt time.Time `json:"storedAt"`
}

func (p *Program) cacheList(ctx context.Context, a *app.App) error {
	entries, err := a.Library.List(ctx, libraryShown)
	if err != nil {
		return err
	}
	lines := []libraryLine{}
	for _, e := range entries {
		lines = append(lines, libraryLine{e.ID, e.URL, e.Title, e.StoredAt})
	}
	if p.flags.json {
		p.writeJSON(struct {
			Pages []libraryLine `json:"pages"`
		}{lines})
		return nil
	}
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s old\t%s\t%s\n", l.ID, age(time.Since(l.StoredAt)), l.URL, p.safe(l.Title, p.Terminals.Out))
	}
	return w.Flush()
}

func (p *Program) cacheClear(ctx context.Context, a *app.App, args []string) error {
	var n int
	var err error
	if len(args) == 1 {
		n, err = a.ForgetPage(ctx, args[0])
	} else {
		n, err = a.Library.Clear(ctx)
	}
	if err != nil {
		return err
	}
	if p.flags.json {
		p.writeJSON(map[string]int{"removed": n})
		return nil
	}
	fmt.Fprintf(p.Stdout, "removed %d pages\n", n)
	return nil
}
