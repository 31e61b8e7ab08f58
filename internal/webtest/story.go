// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package webtest

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Story is one text archive (the txtar format) that tells of fetches: the text
// before the first file says what happens. Its files are
//
//	https://host/path     a page, see ParsePage
//	settings              how the client is set up, as "key: value" lines
//	helper                what the helper model answers
//	1 fetch               the request of the first step
//	1 want                what is expected of it, see Check
//	1 result              the whole expected result, where that is short
//
// A page, settings or helper with a number before it holds from that step on.
type Story struct {
	Name  string
	About string
	Steps []Step
}

// Step is one fetch of a story. Its Pages, Settings and Helper are nil where the
// step changes none.
type Step struct {
	Pages    map[string]Page
	Settings []Line
	Helper   *string
	Fetch    []Line
	Want     []Line
	Result   *string
}

// LoadStory reads a story.
func LoadStory(t testing.TB, path string) Story {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseStory(string(text))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return s
}

func parseStory(text string) (Story, error) {
	about, files := Archive(text)
	s := Story{About: about}
	for _, f := range files {
		at, name := 1, f.Name
		if number, rest, ok := strings.Cut(f.Name, " "); ok {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 {
				return s, fmt.Errorf("the file %q begins with no number of a step", f.Name)
			}
			at, name = n, rest
		}
		for len(s.Steps) < at {
			s.Steps = append(s.Steps, Step{Pages: map[string]Page{}})
		}
		if err := s.Steps[at-1].add(name, f.Text); err != nil {
			return s, fmt.Errorf("the file %q: %w", f.Name, err)
		}
	}
	for i, step := range s.Steps {
		if len(step.Fetch) == 0 || len(step.Want) == 0 {
			return s, fmt.Errorf("step %d needs a fetch and a want", i+1)
		}
	}
	if len(s.Steps) == 0 {
		return s, fmt.Errorf("no step")
	}
	return s, nil
}

func (s *Step) add(name, text string) (err error) {
	switch name {
	case "settings":
		s.Settings, err = ParseLines(text)
		if s.Settings == nil {
			s.Settings = []Line{}
		}
	case "fetch":
		s.Fetch, err = ParseLines(text)
	case "want":
		s.Want, err = ParseLines(text)
	case "helper":
		s.Helper = &text
	case "result":
		s.Result = &text
	default:
		if !strings.Contains(name, "://") {
			return fmt.Errorf("a story has no such file")
		}
		s.Pages[name], err = ParsePage(text)
	}
	return err
}

// File is one file of an archive.
type File struct{ Name, Text string }

// Archive reads the txtar format: text, then files, each behind a line of the
// form "-- name --".
func Archive(text string) (about string, files []File) {
	for l := range strings.Lines(text) {
		line := strings.TrimSuffix(l, "\n")
		switch {
		case strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") && len(line) > 6:
			files = append(files, File{Name: strings.TrimSpace(line[3 : len(line)-3])})
		case len(files) == 0:
			about += l
		default:
			files[len(files)-1].Text += l
		}
	}
	return strings.TrimSpace(about), files
}

// Line is one line "key: value"; the operators of Check stand in the place of
// the colon.
type Line struct{ Key, Op, Value string }

// ParseLines reads "key: value" lines. Empty lines and lines that begin with #
// are left out.
func ParseLines(text string) ([]Line, error) {
	var out []Line
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		line, ok := parseLine(l)
		if !ok {
			return nil, fmt.Errorf("%q is not key: value", l)
		}
		out = append(out, line)
	}
	return out, nil
}

func parseLine(l string) (Line, bool) {
	end := strings.IndexAny(l, ": ")
	if end <= 0 {
		return Line{}, false
	}
	key, rest := l[:end], strings.TrimLeft(l[end:], " ")
	for _, op := range []string{"!~", "~", ":", "<", ">"} {
		if value, ok := strings.CutPrefix(rest, op); ok {
			return Line{key, op, strings.TrimSpace(value)}, true
		}
	}
	return Line{}, false
}

// Check holds a value, seen in its JSON form, against the lines of a want. A key
// is a path of names with dots; it goes into every element of a list, and what
// it finds is joined with blanks. The operators:
//
//	key: text     is exactly the text; without text: is not there
//	key ~ text    holds the text
//	key !~ text   does not hold the text
//	key < 10      is a number below; key > 10 above
func Check(t testing.TB, got any, want []Line) {
	t.Helper()
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		have := strings.Join(at(tree, strings.Split(w.Key, ".")), " ")
		if !holds(have, w.Op, w.Value) {
			t.Errorf("%s %s %s\n\thave %q", w.Key, w.Op, w.Value, have)
		}
	}
}

func holds(have, op, value string) bool {
	switch op {
	case ":":
		return have == value
	case "~":
		return strings.Contains(have, value)
	case "!~":
		return !strings.Contains(have, value)
	}
	h, err1 := strconv.ParseFloat(have, 64)
	v, err2 := strconv.ParseFloat(value, 64)
	return err1 == nil && err2 == nil && (op == "<" && h < v || op == ">" && h > v)
}

// at gives the leaves of a JSON tree under a path.
func at(tree any, path []string) []string {
	switch x := tree.(type) {
	case []any:
		var out []string
		for _, e := range x {
			out = append(out, at(e, path)...)
		}
		return out
	case map[string]any:
		if len(path) == 0 {
			return nil
		}
		v, ok := x[path[0]]
		if !ok {
			return nil
		}
		return at(v, path[1:])
	case float64:
		tree = strconv.FormatFloat(x, 'f', -1, 64)
	}
	if tree == nil || len(path) > 0 {
		return nil
	}
	return []string{fmt.Sprint(tree)}
}
