// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// maxSettings bounds a settings file. Files of a few kilobytes are the rule; a
// file this large is not one.
const maxSettings = 1 << 20

// otherTool is the shape of a rule about a tool that is none of ours, such as
// "Bash(git status)" or "Edit".
var otherTool = regexp.MustCompile(`(?s)^[A-Za-z][A-Za-z0-9]*(\(.*\))?$`)

// LoadSettings reads a settings file of the reference tool: a JSON object with
// permissions.allow, .ask and .deny, lists of rules such as
// "WebFetch(domain:example.com)", "WebSearch" and "mcp__server__tool", and
// skipWebFetchPreflight. Rules about other tools are left out, other keys are
// not looked at. A file that cannot be read, is over 1 MiB, or holds a rule of
// ours that cannot be understood is fault.Invalid: a deny must not get lost.
func LoadSettings(path string) (allow, ask, deny []string, skipPreflight bool, err error) {
	data, err := readSettings(path)
	if err != nil {
		return nil, nil, nil, false, err
	}
	var s struct {
		Permissions struct{ Allow, Ask, Deny []string }
		Skip        bool `json:"skipWebFetchPreflight"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &s); err != nil {
		return nil, nil, nil, false, fault.Wrap(err, fault.Invalid, "", "the settings file %s is not understood as JSON: %v", path, err)
	}
	for _, l := range []struct {
		key  string
		from []string
		to   *[]string
	}{{"allow", s.Permissions.Allow, &allow}, {"ask", s.Permissions.Ask, &ask}, {"deny", s.Permissions.Deny, &deny}} {
		for _, rule := range l.from {
			ours, err := ourRule(rule)
			if err != nil {
				return nil, nil, nil, false, fault.Wrap(err, fault.Invalid, "",
					"permissions.%s of the settings file %s holds %q, which is not understood", l.key, path, rule)
			}
			if ours {
				*l.to = append(*l.to, rule)
			}
		}
	}
	return allow, ask, deny, s.Skip, nil
}

func ourRule(rule string) (bool, error) {
	tool, _, _ := strings.Cut(rule, "(")
	ours := tool == "WebFetch" || tool == searchRule || strings.HasPrefix(rule, "mcp__")
	if !ours && otherTool.MatchString(rule) {
		return false, nil
	}
	_, err := check.ParseRule(rule)
	return err == nil, err
}

// readSettings reads a regular file: opening a pipe or a device may wait for ever.
func readSettings(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "", "the settings file %s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "", "the settings file %s cannot be opened", path)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "", "the settings file %s cannot be read", path)
	}
	if len(data) > maxSettings {
		return nil, fault.New(fault.Invalid, "", "the settings file %s is over 1 MiB", path)
	}
	return data, nil
}
