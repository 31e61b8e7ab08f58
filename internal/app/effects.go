// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Effect is one thing that a project would do once it is trusted, in words that
// are safe to show on a terminal.
type Effect struct {
	Kind string // command, address, rule or setting
	Text string
}

// effects lists what the project asks for: commands, addresses, rules, settings.
func (p *Project) effects() ([]Effect, error) {
	var all []Effect
	add := func(kind, format string, args ...any) {
		all = append(all, Effect{kind, visible(fmt.Sprintf(format, args...))})
	}
	server := func(s Server) {
		if s.Command != "" {
			add("command", "%s starts %s as MCP server %s", s.From, strings.Join(append([]string{s.Command}, s.Args...), " "), s.Name)
		} else {
			add("address", "%s asks %s as MCP server %s", s.From, redact(s.URL), s.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.texts)) {
		if name == projectFile || !slices.Contains(p.Files, name) {
			continue
		}
		servers, err := parseServers(p.texts[name], name)
		if err != nil {
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(servers)) {
			server(servers[key])
		}
	}
	for _, s := range settings() {
		e, ok := p.level[s.key]
		switch {
		case !ok:
		case s.key == "mcp.servers":
			for _, part := range e.parts {
				server(Server{part.name, part.value.Interface().(MCPServer), projectFile})
			}
		case strings.HasPrefix(s.key, "permissions.") && s.adds():
			add("rule", "%s: %s", s.key, s.show(e))
		case s.address():
			add("address", "%s: %s", s.key, s.show(e))
		default:
			add("setting", "%s: %s", s.key, s.show(e))
		}
	}
	order := []string{"command", "address", "rule", "setting"}
	slices.SortStableFunc(all, func(a, b Effect) int { return slices.Index(order, a.Kind) - slices.Index(order, b.Kind) })
	return all, nil
}

// address reports whether the key says where something is sent or may be reached.
func (s setting) address() bool {
	return s.tag.Get("secret") == "address" || slices.Contains([]string{"network.allow", "network.resolve", "network.cacert", "search.custom", "serve.addr", "trusted.add"}, s.key)
}

// show writes a value of one level as `dipper config` does.
func (s setting) show(e entry) string {
	v := reflect.New(s.typ).Elem()
	e.into(v)
	return show(v, s.tag)
}

// visible writes out whatever could make a terminal show something else than
// the text: control characters, direction marks, invisible characters.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
