// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/fault"
)

// Every failure names the line, the key, what is expected and what was found.
func TestWhatIsRefusedInAFile(t *testing.T) {
	for _, tc := range []struct{ name, text, line, want string }{
		{"unknown key", "network:\n  alow: []\n", "2", "unknown key network.alow; the nearest known one is network.allow"},
		{"unknown section", "\n\nnetwrok: {}\n", "3", "unknown key netwrok; the nearest known one is network"},
		{"unknown key without a value", "index:\n  fetch:\n", "2", "unknown key index.fetch; the nearest known one is index.fetched"},
		{"key of another section", "deny: [x]\n", "1", "unknown key deny; the nearest known one is permissions.deny"},
		{"dots", "network.allow: []\n", "1", `unknown key "network.allow": network.allow is written as nested keys, not with dots`},
		{"a number as key", "1: 2\n", "1", "unknown key 1; "},
		{"a list as key", "? [a]\n: b\n", "1", "a key must be a plain word"},
		{"twice", "provenance: off\nindex: {}\nprovenance: warn\n", "3", "provenance is given twice, first in line 1"},
		{"twice inside", "cache: { ttl: 1m, ttl: 2m }\n", "1", "cache.ttl is given twice, first in line 1"},
		{"twice in a table", "network: { resolve: { 'a.test:1': 127.0.0.1, 'a.test:1': 127.0.0.2 } }", "1", "network.resolve.a.test:1 is given twice"},
		{"merge key", "x: &x {ttl: 1m}\ncache: { <<: *x }\n", "1", "unknown key x"},
		{"merge key in a section", "cache: &x {ttl: 1m}\nnetwork: { <<: *x }\n", "2", "merge keys are not read"},
		{"second document", "index: {}\n---\nindex: {}\n", "2", "a second document"},
		{"list for the file", "- a\n", "1", "the file: keys with values expected, found a list"},
		{"text for the file", "hello\n", "1", `the file: keys with values expected, found the text "hello"`},
		{"text for a section", "network: open\n", "1", `network: keys with values expected, found the text "open"`},
		{"list for a section", "cache: [1]\n", "1", "cache: keys with values expected, found a list"},
		{"text for a list", "permissions:\n  deny: domain:a.test\n", "2", `permissions.deny: a list like [a, b] expected, found the text "domain:a.test"`},
		{"keys for a list", "permissions: { deny: { a: b } }\n", "1", "permissions.deny: a list like [a, b] expected, found keys with values"},
		{"list in a list", "permissions:\n  deny:\n  - ok\n  - [a]\n", "4", "permissions.deny: a single value expected, found a list"},
		{"nothing in a list", "permissions: { deny: [~] }\n", "1", "permissions.deny: an entry without a value"},
		{"blank in a list", "permissions: { deny: [' '] }\n", "1", "permissions.deny: a text that is not blank expected"},
		{"list for a value", "provenance: [off]\n", "1", "provenance: a single value expected, found a list"},
		{"word", "provenance: Off\n", "1", `provenance: one of off, warn, ask, enforce expected, found the text "Off"`},
		{"empty word", "provenance: ''\n", "1", "one of off, warn, ask, enforce expected"},
		{"truth as text", "index: { fetched: 'true' }\n", "1", `index.fetched: true or false expected, found the text "true"`},
		{"truth of old YAML", "index: { fetched: yes }\n", "1", `true or false expected, found the text "yes"`},
		{"number as text", "network: { ports: ['80'] }\n", "1", `network.ports: a whole number from 1 to 65535 expected, found the text "80"`},
		{"fraction", "network: { ports: [80.5] }\n", "1", `a whole number from 1 to 65535 expected, found "80.5"`},
		{"port 0", "network: { ports: [0] }\n", "1", "a whole number from 1 to 65535 expected"},
		{"port too high", "network:\n  ports:\n    - 80\n    - 65536\n", "4", "a whole number from 1 to 65535 expected"},
		{"no ports", "network: { ports: [] }\n", "1", "network.ports: at least one entry expected"},
		{"count too low", "network: { perHost: { parallel: 0 } }\n", "1", "network.perHost.parallel: a whole number from 1 to 64 expected"},
		{"huge number", "budget: { tokens: 99999999999999999999 }\n", "1", "budget.tokens: a whole number from 0 to"},
		{"no deadline", "timeouts:\n  total: 0s\n", "2", `timeouts.total: a duration from 1ms to 24h expected, found the text "0s"`},
		{"negative deadline", "timeouts: { total: -5s }\n", "1", "timeouts.total: a duration like 20s or 15m expected"},
		{"bare seconds", "timeouts: { total: 60 }\n", "1", `timeouts.total: a duration like 20s or 15m expected, found "60"`},
		{"size", "cache: { disk: 2 gigs }\n", "1", `cache.disk: a size like 50MiB or 2GB expected, found the text "2 gigs"`},
		{"size too small", "cache: { memory: 1kB }\n", "1", "cache.memory: a size from 1MiB to 64GiB expected"},
		{"cost below nothing", "budget: { costUSD: -1 }\n", "1", "budget.costUSD: a number from 0 to 1000000 expected"},
		{"cost that is none", "budget: { costUSD: .nan }\n", "1", "budget.costUSD: a number from 0 to 1000000 expected"},
		{"range", "network: { allow: [localhost] }\n", "1", `network.allow: a range of addresses like 127.0.0.0/8 expected, found the text "localhost"`},
		{"url", "preflight: { url: 'ftp://x.test' }\n", "1", "preflight.url: a URL like https://host/path expected"},
		{"declared name", "network:\n  resolve:\n    a.test: 127.0.0.1\n", "3", `network.resolve: a declared name like docs.example.org:443 expected, with a port from 1 to 65535, found "a.test": "127.0.0.1"`},
		{"declared to a name", "network: { resolve: { 'a.test:80': b.test } }\n", "1", "network.resolve: one address like"},
		{"server without command", "mcp:\n  servers:\n    a: { args: [x] }\n", "3", "mcp.servers.a: command is missing"},
		{"server key", "mcp: { servers: { a: { comand: x } } }\n", "1", "unknown key mcp.servers.a.comand; the nearest known one is command"},
		{"server of both kinds", "mcp: { servers: { a: { command: x, url: 'http://x.test' } } }\n", "1", "command and url exclude each other"},
		{"server type", "mcp: { servers: { a: { type: sse, url: 'http://x.test' } } }\n", "1", "mcp.servers.a.type: one of stdio, http expected"},
		{"engine without a name", "search: { custom: [ { url: 'http://x.test/{query}' } ] }\n", "1", "search.custom: name is missing"},
		{"engine without a query", "search: { custom: [ { name: x, url: 'http://x.test/' } ] }\n", "1", "{query} is missing"},
		{"two engines of one name", "search:\n  custom:\n    - &e { name: x, url: 'http://x.test/{query}' }\n    - *e\n", "3", `search.custom: "x" is there twice`},
		{"price without out", "prices:\n  m: { in: 1 }\n", "2", "prices.m: out is missing"},
		{"price", "prices: { m: { in: cheap, out: 1 } }\n", "1", `prices.m.in: a number from 0 to 1000000 expected, found the text "cheap"`},
		{"a tag of one's own", "provenance: !secret off\n", "1", "provenance: a plain value expected"},
		{"broken", "network: [\n", "", "not valid YAML"},
		{"tab", "network:\n\tallow: []\n", "2", "not valid YAML"},
		{"no such anchor", "network: *x\n", "", "not valid YAML"},
		{"not text", "\xff\xfe\xfa", "", "not valid YAML"},
		{"control characters in a key", "\"a\\u001b[2Jb\": 1\n", "1", "unknown key a [2Jb; "},
		{"secrets stay out", "serve:\n  token: [swordfish]\n", "2", "serve.token: a single value expected, found a list"},
		{"secrets stay out of a form's failure", "serve:\n  token: sword fish\n", "2", "serve.token: visible ASCII characters without blanks expected, found another one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNook(t)
			n.user(tc.text)
			got := n.refused()
			place := n.userPath() + ":"
			if tc.line != "" {
				place += tc.line + ":"
			}
			if !strings.HasPrefix(got, place) || !strings.Contains(got, tc.want) {
				t.Errorf("got  %s\nwant %s … %s", got, place, tc.want)
			}
			if strings.Contains(got, "fish") || strings.ContainsRune(got, 0x1b) {
				t.Errorf("%q holds what it must not", got)
			}
		})
	}
}

func TestWhatIsTaken(t *testing.T) {
	for _, tc := range []struct {
		name, text, key string
		want            any
	}{
		{"nothing", "", "provenance", "warn"},
		{"a comment", "# nothing yet\n", "provenance", "warn"},
		{"null", "~\n", "provenance", "warn"},
		{"mark of byte order", "\ufeffprovenance: ask\n", "provenance", "ask"},
		{"an unquoted off", "network: { proxy: off }\n", "network.proxy", "off"},
		{"a password of digits", "search: { searxng: { password: 0123 } }\n", "search.searxng.password", "0123"},
		{"a name like a number", "model: { name: 4.10 }\n", "model.name", "4.10"},
		{"an alias", "permissions: { allow: &x ['domain:a.test'], ask: *x }\n", "permissions.ask", []string{"domain:a.test"}},
		{"bytes", "cache: { disk: 4194304 }\n", "cache.disk", Size(4 << 20)},
		{"a number in base 16", "policy: { maxQuote: 0x20 }\n", "policy.maxQuote", 32},
		{"whole cost", "budget: { costUSD: 3 }\n", "budget.costUSD", 3.0},
		{"other scripts in a declared name", "network: { resolve: { 'BÜCHER.test.:0443': '[::1]:8443' } }\n", "network.resolve", map[string]string{"xn--bcher-kva.test:443": "[::1]:8443"}},
		{"an empty argument", "mcp: { servers: { a: { command: x, args: [''], env: { A: '' } } } }\n", "mcp.servers", map[string]MCPServer{"a": {Command: "x", Args: []string{""}, Env: map[string]string{"A": ""}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNook(t)
			n.user(tc.text)
			l := n.load()
			for _, s := range settings() {
				if got := s.in(&l.Config).Interface(); s.key == tc.key && !reflect.DeepEqual(got, tc.want) {
					t.Errorf("%s is %#v, want %#v", s.key, got, tc.want)
				}
			}
		})
	}
}

func TestWhatIsRefusedElsewhere(t *testing.T) {
	for _, tc := range []struct {
		name  string
		env   string
		flag  string
		value []string
		want  string
	}{
		{name: "variable of a section", env: "DIPPER_NETWORK_ALOW=x", want: "unknown variable DIPPER_NETWORK_ALOW; the nearest known one is DIPPER_NETWORK_ALLOW"},
		{name: "variable almost right", env: "DIPPER_PROVENENCE=enforce", want: "unknown variable DIPPER_PROVENENCE; the nearest known one is DIPPER_PROVENANCE"},
		{name: "duration", env: "DIPPER_TIMEOUTS_TOTAL=60", want: `DIPPER_TIMEOUTS_TOTAL: a duration like 20s or 15m expected, found "60"`},
		{name: "list", env: "DIPPER_NETWORK_PORTS=80,http", want: `DIPPER_NETWORK_PORTS: a whole number from 1 to 65535 expected, found "http"`},
		{name: "rules of any project", env: "DIPPER_PERMISSIONS_FILES=.tool/settings.json", want: "DIPPER_PERMISSIONS_FILES: an absolute name expected"},
		{name: "list of nothing", env: "DIPPER_NETWORK_PORTS=,", want: "DIPPER_NETWORK_PORTS: at least one entry expected"},
		{name: "table", env: "DIPPER_NETWORK_RESOLVE=a.test", want: "DIPPER_NETWORK_RESOLVE: HOST:PORT:ADDR"},
		{name: "YAML", env: "DIPPER_MCP_SERVERS={a: {}}", want: "DIPPER_MCP_SERVERS: mcp.servers.a: command is missing"},
		{name: "broken YAML", env: "DIPPER_PRICES={", want: "DIPPER_PRICES: not valid YAML"},
		{name: "secret", env: "DIPPER_SERVE_TOKEN=sword fish", want: "DIPPER_SERVE_TOKEN: visible ASCII characters without blanks expected"},
		{name: "standard variable", env: "SEARXNG_URL=search.test", want: "SEARXNG_URL: a URL like https://host/path expected"},
		{name: "range", flag: "network.allow", value: []string{"127.0.0.0/8", "10/8"}, want: `--allow-net: a range of addresses like 127.0.0.0/8 expected, found "10/8"`},
		{name: "declared name", flag: "network.resolve", value: []string{"a.test:80"}, want: "--resolve: HOST:PORT:ADDR"},
		{name: "time-out", flag: "timeouts.total", value: []string{"0s"}, want: "--timeout: a duration from 1ms to 24h expected"},
		{name: "empty time-out", flag: "timeouts.total", value: []string{""}, want: "--timeout: a duration like 20s or 15m expected"},
		{name: "proxy", flag: "network.proxy", value: []string{"ftp://p.test"}, want: "--proxy: off or a proxy like http://host:3128 expected"},
		{name: "empty file", flag: "network.cacert", value: []string{""}, want: "--cacert: a value expected"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNook(t)
			if tc.env != "" {
				n.Env = append(n.Env, tc.env)
			} else {
				n.Flags = map[string][]string{tc.flag: tc.value}
			}
			if got := n.refused(); !strings.HasPrefix(got, tc.want) || strings.Contains(got, "fish") {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestForeignVariablesAreNoted(t *testing.T) {
	n := newNook(t)
	n.Env = append(n.Env, "DIPPER_LADLE_COLOUR=red", "DIPPER_MCP_DEPTH=1")
	if l := n.load(); len(l.Notes) != 1 || !strings.Contains(l.Notes[0], "DIPPER_LADLE_COLOUR") || strings.Contains(l.Notes[0], "red") {
		t.Errorf("notes are %q", l.Notes)
	}
}

func TestFlagOfNoKeyIsOurFault(t *testing.T) {
	n := newNook(t)
	n.Flags = map[string][]string{"network.alow": {"x"}}
	if _, err := Load(n.Source); !errors.Is(err, fault.Internal) {
		t.Errorf("got %v", err)
	}
}

func TestTooMuch(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("permissions:\n  allow: &a [" + strings.Repeat("x,", 40_000) + "x]\n  ask: *a\n  deny: *a\n")
	var deep strings.Builder
	deep.WriteString("prices: " + strings.Repeat("{a: ", 200_000))
	for name, tc := range map[string]struct{ text, want string }{
		"size":    {"#" + strings.Repeat(" ", maxFile), "is larger than 1MiB"},
		"aliases": {bomb.String(), "more than 100000 values"},
		"depth":   {deep.String(), "not valid YAML"},
		"circle":  {"permissions: &p\n  allow: *p\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNook(t)
			n.user(tc.text)
			if got := n.refused(); !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// No text makes the reader panic, and what it takes it takes again.
func FuzzReadFile(f *testing.F) {
	text, err := os.ReadFile("testdata/defaults.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(text), "a: &a [*a]", "? [x]\n: y", "network: {resolve: {'a.test:1': 127.0.0.1}}", "mcp: {servers: {a: {command: x, args: [1]}}}",
		"<<: {a: b}", "cache: {ttl: 1d2h, disk: 1e3}", "--- !!binary x", "search: {custom: [{name: a, url: 'http://${X}/{query}'}]}", "budget: {costUSD: 1e400, tokens: 0b1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p := place{base: "/nowhere", home: "/home/x", inFile: true}
		out, err := readFile(text, "fuzz.yaml", p)
		if err != nil {
			if !errors.Is(err, fault.Invalid) || !strings.HasPrefix(fault.From(err).Detail, "fuzz.yaml") {
				t.Fatalf("a failure without kind or place: %v", err)
			}
			return
		}
		for _, s := range settings() {
			e, given := out[s.key]
			if !given {
				continue
			}
			again, err := readFile([]byte(nest(s.key, s.written(e))), "again.yaml", p)
			if err != nil || s.written(again[s.key]) != s.written(e) {
				t.Fatalf("%s: %s is read again as %v, %v", s.key, s.written(e), again[s.key], err)
			}
		}
	})
}

// written is the value in full, secrets too, for a round trip.
func (s setting) written(e entry) string {
	v := reflect.New(s.typ).Elem()
	e.into(v)
	switch x := v.Interface().(type) {
	case string:
		return jsonText(x)
	case []string:
		items := []string{}
		for _, item := range x {
			items = append(items, jsonText(item))
		}
		return "[" + strings.Join(items, ",") + "]"
	case map[string]MCPServer, []CustomEngine:
		return "" // records are shown without their secrets
	}
	return show(v, "")
}

func TestUnreadableFile(t *testing.T) {
	n := newNook(t)
	if err := os.MkdirAll(n.userPath(), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := n.refused(); !strings.Contains(got, "not a regular file") {
		t.Errorf("got %q", got)
	}
	n = newNook(t)
	n.write(filepath.Join(n.home, ".config"), "a file where a folder is expected")
	n.load()
	n.write(n.Managed, "oops: 1")
	if got, want := n.refused(), fmt.Sprintf("%s:1: unknown key oops", n.Managed); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
