// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"runtime"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper/internal/app"
)

func (p *Program) configuration() *cobra.Command {
	return &cobra.Command{Use: "config", Short: "Every setting, its value and where it comes from", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			l, err := p.load()
			if err != nil {
				return err
			}
			settings := l.Print()
			if p.flags.json {
				p.writeJSON(struct {
					Settings []app.Setting `json:"settings"`
				}{settings})
				return nil
			}
			w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
			for _, s := range settings {
				fmt.Fprintf(w, "%s\t%s\t%s\n", s.Key, s.Value, s.Origin)
			}
			return w.Flush()
		}}
}

func (p *Program) version() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "The version of this program", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				System  string `json:"system"`
			}{app.Version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			if p.flags.json {
				p.writeJSON(v)
				return nil
			}
			fmt.Fprintf(p.Stdout, "dipper %s (%s, %s)\n", v.Version, v.Go, v.System)
			return nil
		}}
}
