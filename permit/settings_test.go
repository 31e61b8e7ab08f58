// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/fault"
)

func settings(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadSettings(t *testing.T) {
	allow, ask, deny, skip, err := LoadSettings(settings(t, "\ufeff"+`{
		"model": "any", "env": {"A": "b"},
		"permissions": {
			"allow": ["WebFetch(domain:example.com)", "WebSearch", "Bash(git status:*)", "Read", "mcp__files"],
			"ask":   ["WebFetch(domain:*.example.org)", "Edit(/src/**)"],
			"deny":  ["WebFetch", "mcp__files__write", "Bash(curl (all of it))"],
			"defaultMode": "plan"
		},
		"skipWebFetchPreflight": true
	}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"WebFetch(domain:example.com)", "WebSearch", "mcp__files"}; !slices.Equal(allow, want) {
		t.Errorf("allow %q", allow)
	}
	if want := []string{"WebFetch(domain:*.example.org)"}; !slices.Equal(ask, want) {
		t.Errorf("ask %q", ask)
	}
	if want := []string{"WebFetch", "mcp__files__write"}; !slices.Equal(deny, want) {
		t.Errorf("deny %q", deny)
	}
	if !skip {
		t.Error("skipWebFetchPreflight is lost")
	}
}

func TestLoadSettingsWithNothingOfOurs(t *testing.T) {
	for _, text := range []string{`{}`, `{"permissions": {}}`, `{"permissions": {"deny": ["Bash"]}}`, `{"permissions": null}`} {
		allow, ask, deny, skip, err := LoadSettings(settings(t, text))
		if err != nil || len(allow)+len(ask)+len(deny) > 0 || skip {
			t.Errorf("%s: %v %v %v %v %v", text, allow, ask, deny, skip, err)
		}
	}
}

func TestLoadSettingsLosesNoRule(t *testing.T) {
	for name, text := range map[string]string{
		"cut off":             `{"permissions": {"deny": ["WebFetch(domain:exam`,
		"not JSON":            `permissions: {deny: []}`,
		"a list of numbers":   `{"permissions": {"deny": [1]}}`,
		"not a rule":          `{"permissions": {"deny": ["WebFetch(url:https://example.com)"]}}`,
		"half a rule":         `{"permissions": {"deny": ["WebFetch(domain:example.com"]}}`,
		"no host":             `{"permissions": {"allow": ["WebFetch(domain:)"]}}`,
		"no tool":             `{"permissions": {"ask": ["(x)"]}}`,
		"larger than allowed": `{"x": "` + strings.Repeat("x", maxSettings) + `"}`,
		"empty":               ``,
	} {
		t.Run(name, func(t *testing.T) {
			path := settings(t, text)
			_, _, _, _, err := LoadSettings(path)
			if !errors.Is(err, fault.Invalid) || !strings.Contains(fault.From(err).Detail, path) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, _, _, _, err := LoadSettings(filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, fault.Invalid) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestMemory(t *testing.T) {
	m, ctx := NewMemory(), t.Context()
	for _, r := range []Remembered{{Kind: Allow, Rule: "domain:a.example"}, {Kind: Ask, Rule: "domain:b.example"}, {Kind: Deny, Rule: "domain:a.example"}} {
		if err := m.Remember(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := m.Recall(ctx)
	if err != nil || len(kept) != 2 || kept[0].Kind != Deny || kept[1].Rule != "domain:b.example" {
		t.Errorf("%+v, %v", kept, err)
	}
	kept[0].Rule = "changed"
	for rule, want := range map[string]bool{"domain:a.example": true, "domain:c.example": false} {
		if was, err := m.Forget(ctx, rule); was != want || err != nil {
			t.Errorf("forget %s: %v, %v", rule, was, err)
		}
	}
	if kept, _ := m.Recall(ctx); len(kept) != 1 {
		t.Errorf("%+v", kept)
	}
}

func TestSettingsFromNoRegularFile(t *testing.T) {
	if _, _, _, _, err := LoadSettings(t.TempDir()); !errors.Is(err, fault.Invalid) {
		t.Errorf("a folder: %v", err)
	}
	if _, _, _, _, err := LoadSettings(os.DevNull); !errors.Is(err, fault.Invalid) {
		t.Errorf("a device: %v", err)
	}
}
