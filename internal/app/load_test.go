// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dipper-web/dipper/fault"
)

// nook is a private corner of the file system to load from: a home, a working
// folder, a managed file that does not exist yet.
type nook struct {
	t *testing.T
	Source
	home string
}

func newNook(t *testing.T) *nook {
	t.Helper()
	root := canonical(t.TempDir())
	n := &nook{t: t, home: filepath.Join(root, "home")}
	n.Dir, n.Managed = filepath.Join(root, "work"), filepath.Join(root, "managed.yaml")
	n.Env = []string{"HOME=" + n.home}
	for _, dir := range []string{n.home, n.Dir} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func (n *nook) write(path, text string) {
	n.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

func (n *nook) userPath() string { return filepath.Join(n.home, ".config", "dipper", "config.yaml") }

func (n *nook) user(text string)    { n.t.Helper(); n.write(n.userPath(), text) }
func (n *nook) project(text string) { n.t.Helper(); n.write(filepath.Join(n.Dir, projectFile), text) }

func (n *nook) trust() {
	n.t.Helper()
	p, err := TrustStatus(n.Source, "")
	if err == nil {
		err = TrustProject(n.Source, p)
	}
	if err != nil {
		n.t.Fatal(err)
	}
}

func (n *nook) load() *Loaded {
	n.t.Helper()
	l, err := Load(n.Source)
	if err != nil {
		n.t.Fatal(err)
	}
	return l
}

// refused loads and gives the sentence of the failure, which must be invalid.
func (n *nook) refused() string {
	n.t.Helper()
	_, err := Load(n.Source)
	if !errors.Is(err, fault.Invalid) {
		n.t.Fatalf("Load gives %v, want a failure of kind invalid", err)
	}
	return fault.From(err).Detail
}

func TestNothingSetGivesTheDefaults(t *testing.T) {
	n := newNook(t)
	l := n.load()
	for key, from := range l.Origins {
		if from != FromDefault {
			t.Errorf("%s comes from %s", key, from)
		}
	}
	text, err := os.ReadFile("testdata/defaults.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n.user(string(text))
	written := n.load()
	for _, s := range settings() {
		a, b := show(s.in(&l.Config), s.tag), show(s.in(&written.Config), s.tag)
		if a != b {
			t.Errorf("%s is %s by default, and %s where the defaults are written out", s.key, a, b)
		}
		if _, section, _ := strings.Cut(s.key, "location"); section == "" && written.Origins[s.key] != FromUser {
			t.Errorf("%s is not in testdata/defaults.yaml", s.key)
		}
	}
}

// The file that JSON writers make is a YAML file too.
func TestJSONIsRead(t *testing.T) {
	n := newNook(t)
	n.user("{\n \"network\": {\"allow\": [\"127.0.0.0/8\", \"::1/128\"], \"resolve\": {\"docs.test:80\": \"127.0.0.1:8123\"}},\n \"timeouts\": {\"total\": \"1500ms\"}}\n")
	l := n.load()
	if got := fmt.Sprint(l.Config.Network.Allow, l.Config.Network.Resolve, l.Config.Timeouts.Total); got != "[127.0.0.0/8 ::1/128] map[docs.test:80:127.0.0.1:8123] 1.5s" {
		t.Errorf("got %s", got)
	}
}

func TestPrecedence(t *testing.T) {
	levels := []string{FromUser, FromProject, FromEnvironment, FromFlag, FromManaged}
	for high := range levels {
		t.Run(levels[high], func(t *testing.T) {
			n := newNook(t)
			for i, name := range levels[:high+1] {
				value := fmt.Sprintf("%ds", 50-i)
				text := "timeouts: { total: " + value + " }\n"
				switch name {
				case FromUser:
					n.user(text)
				case FromProject:
					n.project(text)
					n.trust()
				case FromEnvironment:
					n.Env = append(n.Env, "DIPPER_TIMEOUTS_TOTAL="+value)
				case FromFlag:
					n.Flags = map[string][]string{"timeouts.total": {"30s", value}}
				case FromManaged:
					n.write(n.Managed, text)
				}
			}
			l := n.load()
			if want := time.Duration(50-high) * time.Second; l.Config.Timeouts.Total != want {
				t.Errorf("timeouts.total is %v, want %v", l.Config.Timeouts.Total, want)
			}
			if from := l.Origins["timeouts.total"]; !strings.HasSuffix(from, levels[high]) {
				t.Errorf("origin is %q, want %q", from, levels[high])
			}
		})
	}
}

func TestScalarHasOneOrigin(t *testing.T) {
	n := newNook(t)
	n.user("timeouts: { total: 5s }")
	n.Env = append(n.Env, "DIPPER_TIMEOUTS_TOTAL=6s")
	if from := n.load().Origins["timeouts.total"]; from != FromEnvironment {
		t.Errorf("origin is %q", from)
	}
}

func TestListsAddUp(t *testing.T) {
	n := newNook(t)
	n.user("permissions:\n  deny:\n    - domain:a.test\n    - domain:b.test\nnetwork:\n  ports: [8443]\n  resolve: { 'x.test:443': 127.0.0.1, 'y.test:443': 127.0.0.2 }\n")
	n.project("permissions: { deny: [ 'domain:c.test', 'domain:a.test' ] }")
	n.Env = append(n.Env, "DIPPER_PERMISSIONS_DENY=domain:d.test, domain:e.test,", "DIPPER_NETWORK_RESOLVE=y.test:443=127.0.0.3")
	n.Flags = map[string][]string{"network.resolve": {"z.test:80:127.0.0.1:8080"}}
	n.write(n.Managed, "permissions: { deny: [ 'domain:f.test' ] }\nnetwork: { ports: [9443] }\n")
	l := n.load()
	var got []string
	for _, item := range l.Items("permissions.deny") {
		got = append(got, item.Text+" "+strings.TrimPrefix(item.From, filepath.Dir(n.home)+"/"))
	}
	want := []string{
		"domain:a.test home/.config/dipper/config.yaml:3", "domain:b.test home/.config/dipper/config.yaml:4", "domain:c.test work/.dipper.yaml:1",
		"domain:d.test DIPPER_PERMISSIONS_DENY", "domain:e.test DIPPER_PERMISSIONS_DENY", "domain:f.test managed.yaml:1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("deny rules\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(l.Config.Permissions.Deny) != len(want) {
		t.Errorf("Config holds %d deny rules", len(l.Config.Permissions.Deny))
	}
	if from := l.Origins["permissions.deny"]; from != "user file + project file + environment + managed file" {
		t.Errorf("origin is %q", from)
	}
	if !slices.Equal(l.Config.Network.Ports, []int{8443, 9443}) {
		t.Errorf("ports are %v; a default holds only where nothing is said", l.Config.Network.Ports)
	}
	if want := map[string]string{"x.test:443": "127.0.0.1", "y.test:443": "127.0.0.3", "z.test:80": "127.0.0.1:8080"}; !reflect.DeepEqual(l.Config.Network.Resolve, want) {
		t.Errorf("resolve is %v, want %v", l.Config.Network.Resolve, want)
	}
}

func TestEntriesWithANameAreReplaced(t *testing.T) {
	n := newNook(t)
	n.user("search: { custom: [ { name: a, url: 'http://one.test/{query}' }, { name: b, url: 'http://b.test/{query}' } ] }\nmcp: { servers: { s: { command: one } } }\n")
	n.write(n.Managed, "search: { custom: [ { name: a, url: 'http://two.test/{query}' } ] }\nmcp: { servers: { s: { command: two } } }\n")
	l := n.load()
	if c := l.Config.Search.Custom; len(c) != 2 || c[0].URL != "http://two.test/{query}" || c[1].Name != "b" {
		t.Errorf("engines are %+v", c)
	}
	if l.Config.MCP.Servers["s"].Command != "two" {
		t.Errorf("servers are %v", l.Config.MCP.Servers)
	}
}

// A stranger's project must not hold a command up.
func TestManyRulesAreQuick(t *testing.T) {
	n := newNook(t)
	var rules strings.Builder
	rules.WriteString("permissions:\n  deny:\n")
	for i := range 45_000 {
		fmt.Fprintf(&rules, "  - domain:%d.test\n", i)
	}
	n.project(rules.String())
	start := time.Now()
	if l := n.load(); len(l.Config.Permissions.Deny) != 45_000 {
		t.Errorf("%d rules", len(l.Config.Permissions.Deny))
	}
	// Seconds below what comparing each rule with each other would take.
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("45,000 rules take %v", took)
	}
}

func TestUnsetIsNotZero(t *testing.T) {
	n := newNook(t)
	n.user("permissions:\n  preapproved: false\nmcp:\n  config: []\ntimeouts:\n  # total: 5s\nnetwork:\n  allow:\n")
	l := n.load()
	if l.Config.Permissions.Preapproved || l.Origins["permissions.preapproved"] != FromUser {
		t.Error("preapproved: false has no effect")
	}
	if len(l.Config.MCP.Config) != 0 {
		t.Errorf("mcp.config: [] leaves %v", l.Config.MCP.Config)
	}
	if l.Config.Timeouts.Total != time.Minute || l.Origins["network.allow"] != FromDefault {
		t.Error("a key without a value is not the same as none")
	}
	n.Env = append(n.Env, "DIPPER_PERMISSIONS_PREAPPROVED=", "DIPPER_PROVENANCE=")
	if l := n.load(); l.Config.Permissions.Preapproved || l.Config.Provenance != "warn" {
		t.Error("an empty variable is not the same as none")
	}
	n.user("network: { proxy: 'off' }")
	n.Flags = map[string][]string{"network.proxy": {""}}
	if l := n.load(); l.Config.Network.Proxy != "" || l.Origins["network.proxy"] != FromFlag {
		t.Errorf("--proxy \"\" leaves %q from %s", l.Config.Network.Proxy, l.Origins["network.proxy"])
	}
}

func TestUserFileIsFound(t *testing.T) {
	const text = "provenance: enforce\n"
	for _, tc := range []struct {
		name, at string
		env      []string
		flag     string
		want     string // part of the failure, empty: found
	}{
		{"home", "home/.config/dipper/config.yaml", []string{"HOME=ROOT/home"}, "", ""},
		{"xdg", "xdg/dipper/config.yaml", []string{"HOME=ROOT/home", "XDG_CONFIG_HOME=ROOT/xdg"}, "", ""},
		{"a relative XDG folder does not count", "home/.config/dipper/config.yaml", []string{"HOME=ROOT/home", "XDG_CONFIG_HOME=xdg"}, "", ""},
		{"variable", "other.yaml", []string{"DIPPER_CONFIG=ROOT/other.yaml"}, "", ""},
		{"flag", "other.yaml", []string{"DIPPER_CONFIG=ROOT/nothing.yaml"}, "ROOT/other.yaml", ""},
		{"flag seen from the working folder", "work/mine.yaml", nil, "mine.yaml", ""},
		{"a named file must exist", "other.yaml", nil, "ROOT/absent.yaml", "absent.yaml does not exist"},
		{"a folder is no file", "other.yaml/x", nil, "ROOT/other.yaml", "not a regular file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNook(t)
			root := filepath.Dir(n.home)
			n.write(filepath.Join(root, tc.at), text)
			n.Env, n.ConfigPath = nil, strings.ReplaceAll(tc.flag, "ROOT", root)
			for _, v := range tc.env {
				n.Env = append(n.Env, strings.ReplaceAll(v, "ROOT", root))
			}
			if tc.want != "" {
				if got := n.refused(); !strings.Contains(got, tc.want) {
					t.Errorf("got %q, want %q in it", got, tc.want)
				}
				return
			}
			if l := n.load(); l.Config.Provenance != "enforce" || l.UserPath != filepath.Join(root, tc.at) {
				t.Errorf("provenance is %s, read from %q", l.Config.Provenance, l.UserPath)
			}
		})
	}
}

func TestNoFileAtAll(t *testing.T) {
	n := newNook(t)
	n.user("provenance: enforce")
	n.ConfigPath = os.DevNull
	if l := n.load(); l.Config.Provenance != "warn" {
		t.Errorf("provenance is %s", l.Config.Provenance)
	}
}

func TestNoHome(t *testing.T) {
	for name, env := range map[string][]string{"unset": nil, "empty": {"HOME="}, "relative": {"HOME=here", "XDG_DATA_HOME=there"}} {
		t.Run(name, func(t *testing.T) {
			n := newNook(t)
			n.Env = env
			l := n.load()
			if l.DataDir != "" || l.UserPath != "" {
				t.Errorf("DataDir %q, UserPath %q", l.DataDir, l.UserPath)
			}
			if err := l.MakeDataDir(); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "DIPPER_HOME") {
				t.Errorf("MakeDataDir gives %v", err)
			}
			if _, err := Untrust(n.Source, ""); !errors.Is(err, fault.Invalid) {
				t.Errorf("Untrust gives %v", err)
			}
		})
	}
}

func TestDataDir(t *testing.T) {
	n := newNook(t)
	root := filepath.Dir(n.home)
	for _, tc := range []struct {
		env  []string
		want string
	}{
		{[]string{"HOME=" + n.home}, "home/.local/share/dipper"},
		{[]string{"HOME=" + n.home, "XDG_DATA_HOME=" + root + "/data"}, "data/dipper"},
		{[]string{"HOME=" + n.home, "XDG_DATA_HOME=" + root + "/data", "DIPPER_HOME=" + root + "/own/"}, "own"},
		{[]string{"DIPPER_HOME=own"}, "work/own"},
	} {
		n.Env = tc.env
		l := n.load()
		if l.DataDir != filepath.Join(root, tc.want) {
			t.Errorf("%v: DataDir is %s, want %s", tc.env, l.DataDir, tc.want)
		}
		if err := l.MakeDataDir(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(l.DataDir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v, %v", l.DataDir, info.Mode(), err)
		}
	}
}

func TestDataDirThatWasThere(t *testing.T) {
	for _, full := range []bool{false, true} {
		n := newNook(t)
		dir := filepath.Join(n.home, "state")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if full {
			n.write(filepath.Join(dir, "somebody's"), "")
		}
		n.Env = []string{"DIPPER_HOME=" + dir}
		l := n.load()
		if err := l.MakeDataDir(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if open := info.Mode().Perm() != 0o700; open != full || (len(l.Notes) > 0) != full {
			t.Errorf("holds something: %v, mode %v, notes %q", full, info.Mode(), l.Notes)
		}
	}
}

func TestRelativeFileNames(t *testing.T) {
	n := newNook(t)
	folder := filepath.Dir(n.userPath())
	n.write(filepath.Join(folder, "list.txt"), "ads.test\n")
	n.write(filepath.Join(n.Dir, "ads.test"), "")
	n.user("network: { cacert: [ca.pem, ~/more.pem, /etc/ca.pem] }\npreflight: { block: [ads.test, list.txt, 'lists/x # see https://x.test/', '*.spam.test # spam'] }\n")
	n.Env = append(n.Env, "DIPPER_PREFLIGHT_BLOCK=ads.test,./mine")
	n.Flags = map[string][]string{"network.cacert": {"flag.pem"}}
	l := n.load()
	if want := []string{folder + "/ca.pem", n.home + "/more.pem", "/etc/ca.pem", n.Dir + "/flag.pem"}; !slices.Equal(l.Config.Network.CACert, want) {
		t.Errorf("cacert is %q, want %q", l.Config.Network.CACert, want)
	}
	if want := []string{"ads.test", folder + "/list.txt", folder + "/lists/x # see https://x.test/", "*.spam.test # spam", n.Dir + "/mine"}; !slices.Equal(l.Config.Preflight.Block, want) {
		t.Errorf("block is %q, want %q", l.Config.Preflight.Block, want)
	}
}

func TestWrongNamesThePlace(t *testing.T) {
	n := newNook(t)
	n.user("permissions:\n  allow: [ 'domain:' ]\n")
	l := n.load()
	err := l.Wrong("permissions.allow", l.Items("permissions.allow")[0], fault.New(fault.Invalid, "", "no host"))
	if got := fault.From(err).Detail; got != n.userPath()+":2: permissions.allow: no host" || !errors.Is(err, fault.Invalid) {
		t.Errorf("got %q", got)
	}
}
