// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dipper-web/dipper/fault"
)

// envPrefix begins the name of every variable of Dipper's own.
const envPrefix = "DIPPER_"

// The variables that are no keys. MCPDepth is set for the MCP servers that
// Dipper starts, which then start none themselves.
const (
	envHome   = "DIPPER_HOME"
	envConfig = "DIPPER_CONFIG"
	MCPDepth  = "DIPPER_MCP_DEPTH"
)

// environ is the environment by name.
type environ map[string]string

// newEnviron reads the form of os.Environ; of a name given twice the first
// counts, as for os.Getenv.
func newEnviron(env []string) environ {
	e := environ{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if _, seen := e[name]; !seen {
			e[name] = value
		}
	}
	return e
}

// either gives a variable that is written in upper or in lower case.
func (e environ) either(name string) string {
	if v := e[name]; v != "" {
		return v
	}
	return e[strings.ToLower(name)]
}

// Standard holds the variables that other programs use too. Empty: not set.
type Standard struct {
	AnthropicKey, AnthropicBaseURL string
	OpenAIKey, OpenAIBaseURL       string
	BraveKey, TavilyKey, ExaKey    string
	SearXNGURL                     string
	HTTPSProxy, HTTPProxy, NoProxy string // upper or lower case
	CertFile                       string // SSL_CERT_FILE
	NoColor                        bool
}

// standard collects the variables and checks the addresses among them.
func (e environ) standard() (Standard, error) {
	s := Standard{
		AnthropicKey: e["ANTHROPIC_API_KEY"], AnthropicBaseURL: e["ANTHROPIC_BASE_URL"],
		OpenAIKey: e["OPENAI_API_KEY"], OpenAIBaseURL: e["OPENAI_BASE_URL"],
		BraveKey: e["BRAVE_API_KEY"], TavilyKey: e["TAVILY_API_KEY"], ExaKey: e["EXA_API_KEY"],
		SearXNGURL: e["SEARXNG_URL"],
		HTTPSProxy: e.either("HTTPS_PROXY"), HTTPProxy: e.either("HTTP_PROXY"), NoProxy: e.either("NO_PROXY"),
		CertFile: e["SSL_CERT_FILE"], NoColor: e["NO_COLOR"] != "",
	}
	for _, v := range []struct{ name, value string }{
		{"ANTHROPIC_BASE_URL", s.AnthropicBaseURL}, {"OPENAI_BASE_URL", s.OpenAIBaseURL}, {"SEARXNG_URL", s.SearXNGURL},
	} {
		if _, err := webURL(v.value); v.value != "" && err != nil {
			return s, fault.New(fault.Invalid, "", "%s: %v", v.name, err)
		}
	}
	return s, nil
}

// level reads the keys that the environment sets. An empty variable is as good
// as none. A variable of Dipper's own that is no key is refused where it can
// only be a slip of the pen, and noted otherwise.
func (e environ) level(p place) (level, []string, error) {
	out, known := level{}, map[string]bool{envHome: true, envConfig: true, MCPDepth: true}
	for _, s := range settings() {
		name := s.variable()
		known[name] = true
		if e[name] == "" {
			continue
		}
		r := &reader{place: p, file: name}
		entry, err := r.text(s, e[name])
		if err != nil {
			return nil, nil, err
		}
		out[s.key] = entry
	}
	var notes []string
	for name, value := range e {
		if !strings.HasPrefix(name, envPrefix) || known[name] || value == "" {
			continue
		}
		near := nearest(known, func(k string) int { return EditDistance(name, k) })
		if slip(name, near) {
			return nil, nil, fault.New(fault.Invalid, "", "unknown variable %s; the nearest known one is %s", clip(name), near)
		}
		notes = append(notes, fmt.Sprintf("the variable %s is not one of Dipper's and was left out", clip(name)))
	}
	slices.Sort(notes)
	return out, notes, nil
}

// slip reports whether an unknown variable is meant to set a key: it is almost
// spelled like one, or it begins with the name of a section.
func slip(name, near string) bool {
	if EditDistance(name, near) <= 2 {
		return true
	}
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		if t.Field(i).Type.Kind() == reflect.Struct && strings.HasPrefix(name, envPrefix+strings.ToUpper(t.Field(i).Tag.Get("key"))+"_") {
			return true
		}
	}
	return false
}

// text reads a value from an environment variable: a list is divided by
// commas, a table is k=v,k=v, and anything in the brackets of a list or table
// is read as YAML, which holds JSON.
func (r *reader) text(s setting, text string) (entry, error) {
	kind, open := s.typ.Kind(), strings.TrimSpace(text)[:1]
	record := s.adds() && isRecord(s.typ.Elem())
	switch {
	case record, kind == reflect.Slice && open == "[" && strings.HasSuffix(text, "]"), kind == reflect.Map && open == "{":
		n, err := r.document([]byte(text))
		if err != nil || n == nil {
			return entry{}, err
		}
		e, err := r.leaf(n, s.typ, s.tag, s.key)
		e.at = r.file
		return e, err
	case s.adds():
		var items []string
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		return r.items(s, items)
	}
	v, err := r.scalar(s.typ, s.tag, text)
	if err != nil {
		return entry{}, r.wrong(s, err, text)
	}
	return entry{value: v, at: r.file}, nil
}

// items reads the entries of a list or of a simple table from their texts.
func (r *reader) items(s setting, items []string) (entry, error) {
	e := entry{at: r.file}
	for _, item := range items {
		p := part{at: r.file}
		var err error
		switch {
		case s.typ.Kind() == reflect.Slice:
			p.value, err = r.scalar(s.typ.Elem(), s.tag, item)
		default:
			var value string
			p.name, value, err = pair(s, item)
			p.value = reflect.ValueOf(value)
		}
		if err == nil && item == "" {
			err = fmt.Errorf("a value expected")
		}
		if err != nil {
			return e, r.wrong(s, err, item)
		}
		e.parts = append(e.parts, p)
	}
	if len(items) == 0 && s.tag.Get("min") != "" {
		return e, r.wrong(s, fmt.Errorf("at least one entry expected"), "")
	}
	return e, nil
}

// pair divides one entry of a simple table. A declared name may also be written
// as curl does.
func pair(s setting, item string) (name, value string, err error) {
	name, value, ok := strings.Cut(item, "=")
	switch {
	case s.tag.Get("is") == "resolve" && ok:
		return resolvePair(name, value)
	case s.tag.Get("is") == "resolve":
		return ParseResolve(item)
	case !ok || name == "":
		return "", "", fmt.Errorf("entries like name=value expected")
	}
	return name, value, nil
}

func (r *reader) wrong(s setting, err error, text string) error {
	if s.tag.Get("secret") != "" {
		return fault.New(fault.Invalid, "", "%s: %v", r.file, err)
	}
	return fault.New(fault.Invalid, "", "%s: %v, found %s", r.file, err, quote(text))
}

// flagLevel reads the values that flags gave.
func flagLevel(flags map[string][]string, p place) (level, error) {
	out, left := level{}, len(flags)
	for _, s := range settings() {
		values, given := flags[s.key]
		if !given {
			continue
		}
		left--
		r := &reader{place: p, file: "--" + s.tag.Get("flag")}
		if s.tag.Get("flag") == "" {
			r.file = "the flag for " + s.key
		}
		var e entry
		var err error
		switch {
		case s.adds() && !isRecord(s.typ.Elem()):
			e, err = r.items(s, values)
		case len(values) > 0 && values[len(values)-1] != "":
			e, err = r.text(s, values[len(values)-1])
		case len(values) > 0:
			e.at = r.file
			if e.value, err = r.scalar(s.typ, s.tag, ""); err != nil {
				err = r.wrong(s, err, "")
			}
		}
		if err != nil {
			return nil, err
		}
		out[s.key] = e
	}
	if left > 0 {
		return nil, fault.New(fault.Internal, "", "a flag was given for a key that does not exist")
	}
	return out, nil
}
