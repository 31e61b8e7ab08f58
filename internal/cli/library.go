// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper/internal/app"
)

// libraryShown bounds the pages that cache list shows.
const libraryShown = 1000

func (p *Program) cache() *cobra.Command {
	cmd := &cobra.Command{Use: "cache", Short: "The page library: stats, list, clear", Args: subcommand, GroupID: groupState,
		RunE: showHelp}
	cmd.AddCommand(
		&cobra.Command{Use: "stats", Short: "How much is kept", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return p.withApp(cmd.Context(), p.cacheStats) }},
		&cobra.Command{Use: "list", Short: "The kept pages, newest first", Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return p.withApp(cmd.Context(), p.cacheList) }},
		&cobra.Command{Use: "clear [URL]", Short: "Forget one page, or all", Args: atMostOne("one URL"),
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
	p.print("%s, %s, in %s\n", count(s.Count, "page"), size(s.Bytes), a.Place())
	if s.Count > 0 {
		p.print("oldest %s old, newest %s old\n", age(time.Since(s.Oldest)), age(time.Since(s.Newest)))
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
	var rows [][]string
	for _, l := range lines {
		rows = append(rows, []string{l.ID, age(time.Since(l.StoredAt)) + " old", l.URL, l.Title})
	}
	p.table(rows)
	return nil
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
	p.print("removed %s\n", count(n, "page"))
	return nil
}
