// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper/internal/app"
)

// settingsAnswer is the JSON form of dipper config.
type settingsAnswer struct {
	UserFile       string        `json:"userFile,omitempty"`    // that was read
	ProjectFile    string        `json:"projectFile,omitempty"` // that was read
	ProjectTrusted bool          `json:"projectTrusted"`
	State          string        `json:"state,omitempty"` // the folder of pages and permissions
	Settings       []app.Setting `json:"settings"`
}

func (p *Program) configuration() *cobra.Command {
	return &cobra.Command{
		Use: "config", Short: "Every setting, its value and where it comes from", Args: noArgs, GroupID: groupState,
		Long: `Every setting with its value and the place that decides it: a flag, the
environment, the project file, the user file, or the default. Keys and passwords
are never shown.`,
		RunE: func(*cobra.Command, []string) error {
			l, err := p.load()
			if err != nil {
				return err
			}
			p.printSettings(settingsAnswer{l.UserPath, l.ProjectPath, l.ProjectTrusted, l.DataDir, l.Print()})
			return nil
		},
	}
}

func (p *Program) printSettings(a settingsAnswer) {
	if p.flags.json {
		p.writeJSON(a)
		return
	}
	trusted := "not trusted: it may only narrow"
	if a.ProjectTrusted {
		trusted = "trusted"
	}
	rows := [][]string{{"user file", orNone(a.UserFile)}, {"project file", orNone(a.ProjectFile)}, {"state", orNone(a.State)}}
	if a.ProjectFile != "" {
		rows[1] = append(rows[1], trusted)
	}
	for _, s := range a.Settings {
		rows = append(rows, []string{s.Key, s.Value, s.Origin})
	}
	p.table(rows)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (p *Program) version() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "The version of this program", Args: noArgs, GroupID: groupAgent,
		RunE: func(*cobra.Command, []string) error { return p.printVersion() }}
}

func (p *Program) printVersion() error {
	v := struct {
		Version string `json:"version"`
		Go      string `json:"go"`
		System  string `json:"system"`
	}{app.Version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if p.flags.json {
		p.writeJSON(v)
		return nil
	}
	p.print("dipper %s (%s, %s)\n", v.Version, v.Go, v.System)
	return nil
}
