// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is printed from the code")

// doc/config.md says what the tags of Config say.
func TestReferenceIsCurrent(t *testing.T) {
	const path = "../../doc/config.md"
	want := reference()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the tags of Config say; run go test ./internal/app -run Reference -update", path)
	}
}

const referenceHead = `<!-- Printed from the tags of Config in internal/app by go test ./internal/app -run Reference -update. Do not edit. -->

# Configuration

One YAML file, by default ` + "`$XDG_CONFIG_HOME/dipper/config.yaml`" + `; ` + "`--config`" + ` or ` + "`DIPPER_CONFIG`" + ` names another, which must then exist. Every key may stand there; none has to.

Of the places that set a key the first in this order wins:

1. the managed file ` + "`" + ManagedPath + "`" + `
2. a flag
3. the environment: the variable in the table; an empty one is as good as none
4. the project file ` + "`./.dipper.yaml`" + `
5. the user file
6. the default

Lists and tables add up over all places (of two entries with one name the higher wins); their default holds only where no place sets the key. A ` + "`deny`" + ` of any place stands.
In the environment a list is divided by commas and a table is written ` + "`name=value,name=value`" + `; both may be YAML or JSON in brackets instead, and tables of records have to be.

Durations have units (` + "`20s`, `1h30m`, `7d`" + `), sizes too (` + "`50MiB`, `2GB`" + `; a bare number is bytes).
Names of files are seen from the folder of the file they are written in, on the command line and in the environment from the working folder, and in ` + "`mcp.config`" + ` always from the working folder. ` + "`~/`" + ` is the home folder.
An unknown key, a wrong value, or a key given twice ends the command with the file, the line and what was expected.
` + "`dipper config`" + ` prints every effective value and where it came from.

**A project may only narrow.** Until ` + "`dipper trust`" + ` has accepted a project, its file counts only where the last column says how. ` + "`permissions.ask`" + ` does not count where ` + "`permissions.default`" + ` is ` + "`deny`" + `, since a question would widen there.
A project is accepted with the content of all its files: change one, and it has to be accepted again.
`

func reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	section := "\x00"
	for _, s := range settings() {
		top, _ := cutFirst(s.key)
		if top != section {
			section = top
			fmt.Fprintf(&b, "\n## %s\n\n| key | values | default | variable | before trust |\n|---|---|---|---|---|\n", top)
		}
		def := s.tag.Get("def")
		if def != "" {
			def = "`" + def + "`"
		}
		how := map[string]string{"": "no", "add": "entries add", "lower": "lower", "lower0": "lower, 0 is none", "higher": "higher"}[s.tag.Get("narrow")]
		what := s.tag.Get("doc")
		if f := s.tag.Get("flag"); f != "" {
			what += " Flag `--" + f + "`."
		}
		fmt.Fprintf(&b, "| `%s` | %s: %s | %s | `%s` | %s |\n", s.key, kindOf(s.typ, s.tag), cell(what), def, s.variable(), how)
	}
	for _, r := range []struct {
		key string
		typ reflect.Type
	}{{"search.custom", reflect.TypeFor[CustomEngine]()}, {"mcp.servers", reflect.TypeFor[MCPServer]()}, {"prices", reflect.TypeFor[Price]()}} {
		fmt.Fprintf(&b, "\n## An entry of `%s`\n\n| key | values | default |\n|---|---|---|\n", r.key)
		for i := range r.typ.NumField() {
			f := r.typ.Field(i)
			def := f.Tag.Get("def")
			if f.Tag.Get("need") != "" {
				def = "must be given"
			} else if def != "" {
				def = "`" + def + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s: %s | %s |\n", f.Tag.Get("key"), kindOf(f.Type, f.Tag), cell(f.Tag.Get("doc")), def)
		}
	}
	b.WriteString(referenceTail)
	return b.String()
}

const referenceTail = `
## Variables that other programs use too

` + "`ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`, `OPENAI_API_KEY`, `OPENAI_BASE_URL` (an address alone is enough), `BRAVE_API_KEY`, `TAVILY_API_KEY`, `EXA_API_KEY`, `SEARXNG_URL`, `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`" + ` (lower case too), ` + "`SSL_CERT_FILE`, `NO_COLOR`" + `.
With no ` + "`model.provider`" + ` the provider is that of the first key there is, anthropic before openai, else that of the first address.

` + "`DIPPER_HOME`" + ` names the folder for state, else ` + "`$XDG_DATA_HOME/dipper`" + `, else ` + "`~/.local/share/dipper`" + `; with no home at all state is kept in memory.
`

// cell keeps a text inside its cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func cutFirst(key string) (first, rest string) {
	first, rest, _ = strings.Cut(key, ".")
	return first, rest
}

// kindOf names the kind of value in one or two words.
func kindOf(t reflect.Type, tag reflect.StructTag) string {
	low, high := tag.Get("min"), tag.Get("max")
	span := ""
	if low != "" && high != "" {
		span = " from " + low + " to " + high
	} else if high != "" {
		span = " up to " + high
	}
	switch t.Kind() {
	case reflect.Slice:
		return "list"
	case reflect.Map:
		return "table"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		if one := tag.Get("one"); one != "" {
			return "`" + strings.ReplaceAll(one, " ", "`, `") + "`"
		}
		return "text"
	case reflect.Int, reflect.Float64:
		return "number" + span
	}
	if t == reflect.TypeFor[Size]() {
		return "size" + span
	}
	return "duration" + span
}
