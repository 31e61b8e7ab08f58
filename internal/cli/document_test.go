// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const document = "../../doc/cli.md"

const documentHead = `# Command line

Every command with what it takes. This page is printed from the program itself:
` + "`go test ./internal/cli -run Document -update`" + ` writes it anew, and the tests fail where
the two differ. Outcomes, failures and exit codes are in [faults.md](faults.md), settings in
[config.md](config.md).

Results go to stdout; progress, notes and errors to stderr. Progress is live on a terminal and
plain lines otherwise. With ` + "`--json`" + ` stdout holds exactly one JSON document, for errors of the
command line and ` + "`--help`" + ` too. Flags may stand anywhere; ` + "`--`" + ` ends them.
`

// TestCLIDocumentIsCurrent holds doc/cli.md against the commands.
func TestCLIDocumentIsCurrent(t *testing.T) {
	p, _, _ := program(t)
	root := p.root()
	want := documentHead + flagTable("Flags of every command", flagsOf(root.PersistentFlags()))
	commands(root, func(cmd *cobra.Command) { want += chapter(cmd) })
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s does not tell of the commands as they are: run go test ./internal/cli -run Document -update", document)
	}
}

// commands visits a command and all below it.
func commands(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			commands(c, visit)
		}
	}
}

func chapter(cmd *cobra.Command) string {
	m := manualOf(cmd)
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n    %s\n\n%s\n", m.Command, m.Usage, described(m))
	if len(m.Examples) > 0 {
		fmt.Fprintf(&b, "\nExamples:\n\n    %s\n", strings.Join(m.Examples, "\n    "))
	}
	b.WriteString(flagTable("Flags", m.Flags))
	return b.String()
}

// described is the description with its indented lines as Markdown wants them.
func described(m manual) string {
	if m.Description == "" {
		return m.Summary + "."
	}
	return strings.ReplaceAll(m.Description, "\n  ", "\n      ")
}

func flagTable(title string, flags []flagManual) string {
	if len(flags) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n| %s | |\n|---|---|\n", title)
	for _, f := range flags {
		form := f.Flag
		if f.Short != "" {
			form = f.Short + ", " + f.Flag
		}
		if f.Value != "" {
			form += " " + f.Value
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(form, "|", "\\|"), strings.ReplaceAll(f.Meaning, "|", "\\|"))
	}
	return b.String()
}

// TestManuals holds what every command must say of itself.
func TestManuals(t *testing.T) {
	p, _, _ := program(t)
	commands(p.root(), func(cmd *cobra.Command) {
		m := manualOf(cmd)
		if m.Summary == "" || strings.HasSuffix(m.Summary, ".") {
			t.Errorf("%s: summary %q", m.Command, m.Summary)
		}
		if cmd.Args == nil && !cmd.DisableFlagParsing && cmd.Name() != "help" {
			t.Errorf("%s takes any arguments", m.Command)
		}
		if cmd.Parent() == cmd.Root() && cmd.GroupID == "" {
			t.Errorf("%s is in no group", m.Command)
		}
		for _, f := range m.Flags {
			if f.Meaning == "" || strings.HasSuffix(f.Meaning, ".") {
				t.Errorf("%s %s: meaning %q", m.Command, f.Flag, f.Meaning)
			}
		}
		for line := range strings.Lines(m.text()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 130 {
				t.Errorf("%s: a line of the help has %d columns: %s", m.Command, n, line)
			}
		}
		examplesParse(t, m)
	})
}

// examplesParse reads the example lines as the program would, without running them.
func examplesParse(t *testing.T, m manual) {
	t.Helper()
	for _, line := range m.Examples {
		args := words(line)
		if len(args) == 0 || args[0] != "dipper" {
			continue
		}
		p, _, _ := program(t)
		cmd, rest, err := p.root().Find(args[1:])
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err == nil && cmd.Args != nil {
			err = cmd.Args(cmd, cmd.Flags().Args())
		}
		if err != nil {
			t.Errorf("the example %q does not parse: %v", line, err)
		}
	}
}

// words splits a line of a shell, up to a pipe or a redirection.
func words(line string) []string {
	var out []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		var word string
		if strings.HasPrefix(line, `"`) {
			word, line, _ = strings.Cut(line[1:], `"`)
		} else {
			word, line, _ = strings.Cut(line, " ")
		}
		if word == "|" || word == ">" {
			break
		}
		out = append(out, word)
	}
	return out
}

func TestNearest(t *testing.T) {
	names := []string{"json", "budget", "allow-net", "mode"}
	for typed, want := range map[string]string{"jsn": "json", "budgt": "budget", "allow": "allow-net", "mood": "mode", "zzz": "", "": ""} {
		if got := nearest(typed, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}

func TestFlagErrorsHaveNoGoWords(t *testing.T) {
	p, _, _ := program(t)
	root := p.root()
	for _, args := range [][]string{{"fetch", "--=x"}, {"fetch", "--budget=1e9"}, {"fetch", "-\xff"}, {"fetch", "--json=perhaps"}, {"fetch", "-o"}} {
		cmd, rest, err := root.Find(args)
		if err != nil {
			t.Fatal(err)
		}
		err = flagError(cmd, cmd.ParseFlags(rest))
		if err == nil || strings.Contains(err.Error(), "strconv") || strings.Contains(err.Error(), "shorthand") || strings.Contains(err.Error(), "flag needs") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
