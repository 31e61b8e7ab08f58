// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dipper-web/dipper/fault"
)

// check holds the rules of one server that no single field shows. The type may
// be left out where command or url tells it.
func (m MCPServer) check() error {
	switch {
	case m.Command != "" && m.URL != "":
		return errors.New("command and url exclude each other")
	case m.Type == "stdio" && m.Command == "", m.Type == "" && m.URL == "" && m.Command == "":
		return errors.New("command is missing")
	case m.Type == "http" && m.URL == "":
		return errors.New("url is missing")
	case m.Type == "stdio" && m.URL != "" || m.Type == "http" && m.Command != "":
		return fmt.Errorf("type %s does not go with the rest", m.Type)
	}
	return filledURL(m.URL)
}

// check makes sure that the query gets into the request.
func (c CustomEngine) check() error {
	if !strings.Contains(c.URL+c.Body, "{query}") {
		return errors.New("{query} is missing in url and body")
	}
	return filledURL(c.URL)
}

// filledURL checks an address in which variables are still to be filled in.
func filledURL(text string) error {
	if text == "" || strings.Contains(text, "${") {
		return nil
	}
	_, err := webURL(strings.NewReplacer("{query}", "q", "{limit}", "1").Replace(text))
	return err
}

// Server is an MCP server to attach, with ${VAR} as written.
type Server struct {
	Name string
	MCPServer
	// From is the file that names it, or "mcp.servers".
	From string
}

// Servers gives the MCP servers that may be started, by name, and notes about
// those that may not: of a project that is not trusted, or Dipper itself. Of one
// name the later file wins, and mcp.servers over all. A process that was itself
// started as an MCP server by Dipper gets none.
func (l *Loaded) Servers() (servers []Server, notes []string, err error) {
	if l.env[MCPDepth] != "" {
		return nil, []string{"this Dipper was started by another, so it starts no MCP servers"}, nil
	}
	found := map[string]Server{}
	for _, name := range l.Config.MCP.Config {
		text, why, err := l.serverFile(name)
		if err != nil {
			return nil, nil, err
		}
		if why != "" {
			notes = append(notes, why)
		}
		listed, err := parseServers(text, name)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(found, listed)
	}
	for name, m := range l.Config.MCP.Servers {
		found[name] = Server{name, m, "mcp.servers"}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if s := found[name]; s.isDipper() {
			notes = append(notes, fmt.Sprintf("the MCP server %s is Dipper itself and was left out", clip(name)))
		} else {
			servers = append(servers, s)
		}
	}
	return servers, notes, nil
}

// serverFile reads one file of mcp.config: nothing where the project's does not
// exist, nothing and the reason where it is not trusted.
func (l *Loaded) serverFile(name string) (text []byte, why string, err error) {
	if ownsFile(name) {
		text, exists := l.project.texts[name]
		if exists && !l.ProjectTrusted {
			return nil, fmt.Sprintf("the servers of %s are not started: the project is not trusted (dipper trust shows what they would do and accepts them)", clip(name)), nil
		}
		return text, "", nil
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok && l.env.home() != "" {
		name = filepath.Join(l.env.home(), rest)
	}
	text, err = readBounded(name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = fault.Wrap(err, fault.Invalid, "", "%s, which mcp.config names, does not exist", name)
	} else if err != nil {
		err = fault.Wrap(err, fault.Invalid, "", "%s, which mcp.config names, cannot be read: %v", name, plainly(err))
	}
	return text, "", err
}

// isDipper reports whether starting the server would start this program again.
func (s Server) isDipper() bool {
	base := filepath.Base(filepath.ToSlash(s.Command))
	return strings.EqualFold(strings.TrimSuffix(strings.ToLower(base), ".exe"), "dipper")
}

// parseServers reads the mcpServers format, which is other programs' too: keys
// that mean nothing here are passed over.
func parseServers(text []byte, file string) (map[string]Server, error) {
	out := map[string]Server{}
	if len(text) == 0 {
		return out, nil
	}
	var format struct {
		Servers map[string]struct {
			Type, Command, URL string
			Args               []string
			Env, Headers       map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &format); err != nil {
		return nil, fault.New(fault.Invalid, "", "%s%s is not in the mcpServers format: %s", file, lineOf(text, err), `{"mcpServers": {"NAME": {"command": …}}} or "url" expected`)
	}
	for name, s := range format.Servers {
		m := MCPServer{Type: s.Type, Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers}
		if m.Type == "streamable-http" {
			m.Type = "http" // the name that the protocol itself uses
		}
		err := m.check()
		if m.Type != "" && m.Type != "stdio" && m.Type != "http" {
			err = errors.New("the type is not known; use stdio or http")
		}
		switch {
		case err != nil && ownsFile(file): // a project's text is not repeated
			return nil, fault.New(fault.Invalid, "", "%s: a server: %v", file, err)
		case err != nil:
			return nil, fault.New(fault.Invalid, "", "%s: server %s: %v", file, clip(name), err)
		}
		out[name] = Server{name, m, file}
	}
	return out, nil
}

// lineOf gives the line in which a JSON text goes wrong, behind a colon; empty where
// it is not known.
func lineOf(text []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(-1)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	if at < 0 || at > int64(len(text)) {
		return ""
	}
	return fmt.Sprintf(":%d", 1+bytes.Count(text[:at], []byte("\n")))
}

// Expand fills in ${VAR} and ${VAR:-default} from the environment. A variable
// that is not set, or empty, takes its default; without one it is fault.Invalid.
func (l *Loaded) Expand(text string) (string, error) {
	var missing string
	pattern := regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)
	out := pattern.ReplaceAllStringFunc(text, func(m string) string {
		parts := pattern.FindStringSubmatch(m)
		switch value := l.env[parts[1]]; {
		case value != "":
			return value
		case parts[2] != "":
			return parts[3]
		}
		missing = parts[1]
		return ""
	})
	if missing != "" {
		return "", fault.New(fault.Invalid, "", "the variable %s, which the configuration refers to, is not set", missing)
	}
	return out, nil
}
