// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/fault"
)

var update = flag.Bool("update", false, "write the printed documents anew")

const module = "github.com/dipper-web/dipper"

// imports says which packages of this module a package may import. A package
// that is not named here fails; "*" is everything.
var imports = map[string]string{
	"fault":              "",
	"internal/guard":     "fault",
	"convert":            "fault",
	"extract":            "fault",
	"cache":              "fault",
	"check":              "fault",
	"permit":             "fault check",
	"preflight":          "fault check",
	"retrieve":           "fault check internal/guard",
	".":                  "fault check permit preflight retrieve convert extract cache",
	"backend/wire":       "fault",
	"backend/anthropic":  "fault extract backend/wire",
	"backend/openai":     "fault extract backend/wire",
	"backend/sqlite":     "fault check cache permit retrieve",
	"internal/mcpserver": ". fault check permit preflight retrieve convert extract cache",
	"internal/app":       "*",
	"internal/cli":       "internal/app internal/mcpserver . fault check permit preflight retrieve convert extract cache",
	"internal/webtest":   "fault check permit preflight retrieve convert extract cache",
	"cmd/dipper":         "internal/cli",
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Dir string
	Imports, Deps   []string
	GoFiles         []string
	TestGoFiles     []string
	XTestGoFiles    []string
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// own is the place of a package in this module, "." for the root, or "".
func own(path string) string {
	if path == module {
		return "."
	}
	if rest, ok := strings.CutPrefix(path, module+"/"); ok {
		return rest
	}
	return ""
}

func TestRoomsImportOnlyTheirTable(t *testing.T) {
	for _, p := range list(t, "./...") {
		place := own(p.ImportPath)
		allowed, known := imports[place]
		if !known {
			t.Errorf("%s is not in the table of imports", place)
			continue
		}
		for _, path := range p.Imports {
			to := own(path)
			if to == "" || allowed == "*" || slices.Contains(strings.Fields(allowed), to) {
				continue
			}
			t.Errorf("%s imports %s; the table allows %q", place, to, allowed)
		}
	}
}

// heavy are libraries that a program which embeds Dipper must not be made to carry.
var heavy = []string{"modernc.org/sqlite", "database/sql", "github.com/modelcontextprotocol", "github.com/spf13/cobra", "github.com/jackc", "github.com/redis"}

func TestRootPullsInNoDriver(t *testing.T) {
	for _, dep := range list(t, ".")[0].Deps {
		for _, h := range heavy {
			if dep == h || strings.HasPrefix(dep, h+"/") {
				t.Errorf("importing the root pulls in %s", dep)
			}
		}
	}
}

func TestEveryStageHasItsRoom(t *testing.T) {
	for _, s := range dipper.Stages() {
		if info, err := os.Stat(string(s)); err != nil || !info.IsDir() {
			t.Errorf("the stage %s has no directory of its name", s)
		}
	}
}

func TestFilesHaveTheirHeader(t *testing.T) {
	const header = "// Copyright 2026 The Dipper Authors.\n// SPDX-License-Identifier: Apache-2.0\n"
	eachFile(t, ".go", func(path string, text []byte) {
		if !bytes.HasPrefix(text, []byte(header)) {
			t.Errorf("%s does not begin with the copyright lines", path)
		}
	})
}

func TestFilesAreShortAndPackagesTested(t *testing.T) {
	const most = 500
	eachFile(t, ".go", func(path string, text []byte) {
		if n := bytes.Count(text, []byte("\n")); n > most && !strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s has %d lines, more than %d: a room is missing", path, n, most)
		}
	})
	for _, p := range list(t, "./...") {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 && len(p.GoFiles) > 0 {
			switch own(p.ImportPath) {
			case "cmd/dipper": // fifteen lines; internal/cli tests the program
			case "internal/webtest": // exams, run by those who sit them
			default:
				t.Errorf("%s has no test", own(p.ImportPath))
			}
		}
	}
}

func TestNoInitAndNoVagueNames(t *testing.T) {
	eachFile(t, ".go", func(path string, text []byte) {
		if bytes.Contains(text, []byte("\nfunc init()")) {
			t.Errorf("%s has an init function", path)
		}
	})
	vague := []string{"util", "utils", "common", "helper", "helpers", "types", "model", "models", "core", "pkg", "misc"}
	for _, p := range list(t, "./...") {
		if slices.Contains(vague, filepath.Base(p.ImportPath)) {
			t.Errorf("%s: the name says nothing", p.ImportPath)
		}
	}
}

// eachFile calls do for every file of the repository with this ending.
func eachFile(t *testing.T, ending string, do func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ending) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			do(path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFaultsDocumentIsCurrent(t *testing.T) {
	compare(t, "doc/faults.md", faultsDocument())
}

func TestArchitectureDocumentIsCurrent(t *testing.T) {
	const path, from, to = "doc/architecture.md", "<!-- imports -->\n", "<!-- end -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), from)
	_, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table of imports", path)
	}
	var b strings.Builder
	b.WriteString("| package | may import |\n|---|---|\n")
	for _, place := range slices.Sorted(maps.Keys(imports)) {
		if _, err := os.Stat(place); err != nil {
			t.Errorf("the table names %s, which is not there", place)
		}
		allowed := imports[place]
		switch allowed {
		case "":
			allowed = "nothing"
		case "*":
			allowed = "everything"
		default:
			allowed = "`" + strings.Join(strings.Fields(allowed), "` `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", place, allowed)
	}
	compare(t, path, head+from+b.String()+to+tail)
}

// mentioned finds what looks like a path of this repository in a document.
var mentioned = regexp.MustCompile("`([a-z][a-z0-9_./-]*(?:\\.go|/))`|\\]\\(([a-z][A-Za-z0-9_./-]*)\\)")

func TestDocumentsNameRealFiles(t *testing.T) {
	eachFile(t, ".md", func(path string, text []byte) {
		for _, m := range mentioned.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			base := "."
			if name == "" {
				name, base = m[2], filepath.Dir(path)
			}
			if _, err := os.Stat(filepath.Join(base, name)); err != nil {
				t.Errorf("%s names %s, which is not there", path, name)
			}
		}
	})
}

// compare holds a printed document against what the code says now.
func compare(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the code says: go test . -run %s -update", path, t.Name())
	}
}

func faultsDocument() string {
	var b strings.Builder
	b.WriteString("<!-- Printed from fault/table.go by go test . -run TestFaultsDocumentIsCurrent -update. Do not edit. -->\n")
	b.WriteString("# Failures\n\nA call that has no outcome ends in exactly one failure. Its kind decides the exit code of the command line, the status of the\n")
	b.WriteString("JSON API and whether the same call may succeed later; its cause tells cures apart.\n\n")
	b.WriteString("| kind | what happened | exit | HTTP | retry | advice to the agent |\n|---|---|---|---|---|---|\n")
	for _, r := range fault.Table() {
		fmt.Fprintf(&b, "| `%s` | %s | %d | %d | %s | %s |\n", r.Kind, r.Meaning, r.Exit, r.HTTP, r.Retry, r.Advice)
	}
	b.WriteString("\n## Causes\n\n| kind | cause | meaning | retry | advice, where it differs |\n|---|---|---|---|---|\n")
	for _, r := range fault.Table() {
		for _, c := range r.Causes {
			retry := c.Retry
			if retry == fault.ByRow {
				retry = r.Retry
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", r.Kind, c.Name, c.Meaning, retry, c.Advice)
		}
	}
	return b.String()
}
