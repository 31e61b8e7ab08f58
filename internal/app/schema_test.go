// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// sample gives a value of the key other than the default, as a file holds it
// and as a variable does.
func sample(t *testing.T, s setting) (inFile, inEnv, want string) {
	same := func(v string) (string, string, string) { return v, v, v }
	if words := strings.Fields(s.tag.Get("one")); len(words) > 0 {
		return same(words[len(words)-1])
	}
	switch reflect.Zero(s.typ).Interface().(type) {
	case bool:
		return same(fmt.Sprint(s.tag.Get("def") == "false"))
	case int:
		return same("2")
	case float64:
		return same("2.5")
	case time.Duration:
		return same("7s")
	case Size:
		return same("3MiB")
	case []int:
		return "[81, 444]", "81,444", "[81, 444]"
	case map[string]MCPServer:
		v := `{"a": {command: "x", args: ["-y", "b c"]}}`
		return v, v, v
	case []CustomEngine:
		v := `[{name: "mine", url: "https://s.test/?q={query}"}]`
		return v, v, `[{name: "mine", url: "https://s.test/?q={query}", method: "GET", results: "results", title: "title", link: "url", snippet: "snippet"}]`
	case map[string]Price:
		v := `{"small-model": {in: 0.25, out: 2}}`
		return v, v, v
	case map[string]string:
		return `{"a.test:443": "127.0.0.1:8443"}`, "a.test:443=127.0.0.1:8443", `{"a.test:443": "127.0.0.1:8443"}`
	}
	v, known := map[string]string{
		"": "10.1.0.0/16", "text": "words", "word": "word", "body": "body", "token": "abc-123", "agent": "Probe/1.0 (+https://p.test)", "url": "https://u.test/v1",
		"proxy": "http://p.test:3128", "listen": "[::1]:0", "host": "h.test", "store": "redis://r.test:6379/1", "file": "/etc/f", "rules": "/etc/r", "block": "*.b.test",
	}[s.tag.Get("is")]
	if !known {
		t.Fatalf("%s has the form %q, which this test does not know", s.key, s.tag.Get("is"))
	}
	if s.typ.Kind() == reflect.Slice {
		return fmt.Sprintf("[%q]", v), v, fmt.Sprintf("[%q]", v)
	}
	if s.tag.Get("secret") == "yes" {
		return v, v, masked
	}
	return fmt.Sprintf("%q", v), v, v
}

// nest writes a dotted key the way a file holds it.
func nest(key, value string) string {
	var b strings.Builder
	parts := strings.Split(key, ".")
	for i, p := range parts {
		b.WriteString(strings.Repeat("  ", i) + p + ":")
		if i < len(parts)-1 {
			b.WriteString("\n")
		}
	}
	return b.String() + " " + value + "\n"
}

func TestEveryKeyCanBeSet(t *testing.T) {
	for _, s := range settings() {
		t.Run(s.key, func(t *testing.T) {
			inFile, inEnv, want := sample(t, s)
			check := func(n *nook, from string) {
				t.Helper()
				l := n.load()
				if got := show(s.in(&l.Config), s.tag); got != want || l.Origins[s.key] != from {
					t.Errorf("value %s from %s, want %s from %s", got, l.Origins[s.key], want, from)
				}
				if before := newNook(t).load(); reflect.DeepEqual(s.in(&before.Config).Interface(), s.in(&l.Config).Interface()) {
					t.Error("the sample is the default: nothing is tested")
				}
			}
			n := newNook(t)
			n.user(nest(s.key, inFile))
			check(n, FromUser)
			n = newNook(t)
			n.Env = append(n.Env, s.variable()+"="+inEnv)
			check(n, FromEnvironment)
			n = newNook(t)
			n.Flags = map[string][]string{s.key: {inEnv}}
			if inEnv == "81,444" {
				n.Flags[s.key] = []string{"81", "444"} // of a flag each value is one entry
			}
			check(n, FromFlag)
			n = newNook(t)
			n.write(n.Managed, nest(s.key, inFile))
			check(n, FromManaged)
		})
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	variables := map[string]string{envHome: "", envConfig: "", MCPDepth: ""}
	forms := "text word body token agent url proxy listen host store file rules block resolve"
	var walkRecords func(name string, t reflect.Type, visit func(string, reflect.StructField))
	walkRecords = func(name string, rt reflect.Type, visit func(string, reflect.StructField)) {
		for i := range rt.NumField() {
			f := rt.Field(i)
			full := dotted(name, f.Tag.Get("key"))
			visit(full, f)
			inner := f.Type
			if k := inner.Kind(); k == reflect.Slice || k == reflect.Map {
				inner = inner.Elem()
			}
			if isRecord(inner) {
				walkRecords(full, inner, visit)
			}
		}
	}
	walkRecords("", reflect.TypeFor[Config](), func(name string, f reflect.StructField) {
		section := isRecord(f.Type)
		if doc := f.Tag.Get("doc"); !section && !strings.HasSuffix(doc, ".") {
			t.Errorf("%s has no sentence of documentation", name)
		}
		if is := f.Tag.Get("is"); is != "" && !strings.Contains(" "+forms+" ", " "+is+" ") {
			t.Errorf("%s has the unknown form %q", name, is)
		}
		if f.Tag.Get("key") == "" {
			t.Errorf("the field %s has no key", f.Name)
		}
	})
	for _, s := range settings() {
		if other, taken := variables[s.variable()]; taken {
			t.Errorf("%s and %s share the variable %s", s.key, other, s.variable())
		}
		variables[s.variable()] = s.key
		if how := s.tag.Get("narrow"); how == "add" != s.adds() && how != "" {
			t.Errorf("%s cannot narrow by %q", s.key, how)
		}
	}
}

func TestNearestKey(t *testing.T) {
	for unknown, want := range map[string]string{
		"netwrok":              "network",
		"network.alow":         "network.allow",
		"network.proxyresolve": "network.proxyResolves",
		"model.baseUrl":        "model.baseURL",
		"timeout":              "timeouts",
		"deny":                 "permissions.deny",
		"search.searxng.pass":  "search.searxng.password",
		"Provenance":           "provenance",
		"permissions.denied":   "permissions.deny",
	} {
		if got := nearestKey(unknown); got != want {
			t.Errorf("nearest to %s is %s, want %s", unknown, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {strings.Repeat("x", 1000), "", maxDistance}} {
		if got := EditDistance(tc.a, tc.b); got != tc.want {
			t.Errorf("EditDistance(%q, %q) = %d, want %d", clip(tc.a), tc.b, got, tc.want)
		}
	}
}
