// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dipper-web/dipper/fault"
)

// fetchArgs are the arguments of web_fetch.
type fetchArgs struct {
	URL, Prompt, Mode, Section, Cursor, Find string
	URLs                                     []string
	Budget                                   int
	Refresh, Verbose                         bool
}

// readArgs reads and checks the arguments. One that does not exist is refused: a
// misspelt one would otherwise be lost in silence.
func readArgs(raw json.RawMessage) (fetchArgs, error) {
	var a fetchArgs
	err := decode(raw, "web_fetch", map[string]any{
		"url": &a.URL, "urls": &a.URLs, "prompt": &a.Prompt, "mode": &a.Mode, "budget": &a.Budget, "section": &a.Section,
		"cursor": &a.Cursor, "find": &a.Find, "refresh": &a.Refresh, "verbose": &a.Verbose,
	})
	if err != nil {
		return a, err
	}
	a.Prompt = strings.TrimSpace(a.Prompt)
	switch {
	case a.URL == "" && len(a.URLs) == 0:
		return a, invalid("web_fetch needs a url")
	case a.URL != "" && len(a.URLs) > 0:
		return a, invalid("web_fetch takes url or urls, not both")
	case len(a.URLs) > maxURLs:
		return a, invalid("web_fetch reads at most %d urls a call; got %d", maxURLs, len(a.URLs))
	case len(a.URLs) > 0 && (a.Section != "" || a.Cursor != ""):
		return a, invalid("section and cursor belong to one page; give url instead of urls")
	case a.Budget < 0:
		return a, invalid("budget is a number of tokens, at least 1; got %d", a.Budget)
	}
	return a, nil
}

func invalid(format string, args ...any) error { return fault.New(fault.Invalid, "", format, args...) }

// decode puts the members of a JSON object into fields, which point to strings,
// lists of strings, numbers or truth values. null counts as not given, an
// unknown name and another type are refused.
func decode(raw json.RawMessage, tool string, fields map[string]any) error {
	if len(raw) == 0 {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return invalid("the arguments of %s are one JSON object", tool)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		field, ok := fields[name]
		if !ok {
			return invalid("%s has no argument %q; it takes %s", tool, name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if want := put(members[name], field); want != "" {
			return invalid("the argument %s of %s is %s", name, tool, want)
		}
	}
	return nil
}

// put reads one value; it gives what was expected where it is something else.
func put(raw json.RawMessage, field any) (want string) {
	if n, ok := field.(*int); ok {
		return putNumber(raw, n)
	}
	if json.Unmarshal(raw, field) == nil {
		return ""
	}
	switch field.(type) {
	case *bool:
		return "true or false"
	case *[]string:
		return "a list of texts"
	}
	return "a text"
}

// putNumber reads a whole number, also one that is written as 500.0.
func putNumber(raw json.RawMessage, n *int) (want string) {
	if string(raw) == "null" {
		return ""
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != float64(int(f)) || f > 1<<40 || f < -1<<40 {
		return "a whole number"
	}
	*n = int(f)
	return ""
}
