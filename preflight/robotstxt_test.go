// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// verdictOf is what a crawler named agent gets for a path.
func verdictOf(robots, agent, path string) string {
	if rule, speaks := parseRobots([]byte(robots), agent).verdict(path); speaks && !rule.allow {
		return "deny"
	}
	return "allow"
}

func TestRobotsRows(t *testing.T) {
	f, err := os.Open("testdata/robots.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const most = 100 * time.Millisecond // 10 ms with a processor to itself
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); rows++ {
		var row struct {
			ID, Robots, Agent, Path, Expect, Why string
			Times                                int // how often Robots is repeated; 0: once
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		t.Run(row.ID, func(t *testing.T) {
			robots := strings.Repeat(row.Robots, max(1, row.Times))
			took := time.Hour
			for range 5 { // the best of a few, since the machine may be busy
				start := time.Now()
				if got := verdictOf(robots, row.Agent, row.Path); got != row.Expect {
					t.Fatalf("%s, want %s: %s", got, row.Expect, row.Why)
				}
				took = min(took, time.Since(start))
			}
			if took > most {
				t.Errorf("took %v: %s", took, row.Why)
			}
		})
	}
	if rows != 42 {
		t.Errorf("%d rows", rows)
	}
}

func TestRobotsRules(t *testing.T) {
	for _, c := range []struct{ name, robots, path, want string }{
		{"CR alone ends a line", "User-agent: *\rDisallow: /a\r", "/a", "deny"},
		{"blank lines do not end a group", "User-agent: Dipper\n\n\nDisallow: /a", "/a", "deny"},
		{"own group hides the star group", "User-agent: *\nDisallow: /\n\nUser-agent: Dipper\nDisallow: /a", "/b", "allow"},
		{"own group without rules hides it too", "User-agent: *\nDisallow: /\n\nUser-agent: Dipper\nDisallow:", "/b", "allow"},
		{"star and own name share a group", "User-agent: *\nUser-agent: Dipper\nDisallow: /a", "/a", "deny"},
		{"star groups merge", "User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: *\nDisallow: /c", "/c", "deny"},
		{"a group of others is none of ours", "User-agent: x\nDisallow: /", "/", "allow"},
		{"version behind the name", "User-agent: dipper/2.0\nDisallow: /a", "/a", "deny"},
		{"longer name is another agent", "User-agent: DipperBot\nDisallow: /a", "/a", "allow"},
		{"name with a star is none", "User-agent: Dip*\nDisallow: /a", "/a", "allow"},
		{"rule before any agent", "Disallow: /\nUser-agent: *\nDisallow: /b", "/a", "allow"},
		{"unknown keys are passed over", "User-agent: *\nCrawl-delay: 5\nHost: x\nDisallow: /a", "/a", "deny"},
		{"unknown key between agents", "User-agent: Dipper\nSitemap: https://x.example/\nUser-agent: x\nDisallow: /a", "/a", "deny"},

		{"equal length: allow wins", "User-agent: *\nDisallow: /page\nAllow: /page", "/page", "allow"},
		{"equal length of a pattern with a star", "User-agent: *\nDisallow: /p*e\nAllow: /page", "/page", "allow"},
		{"stars count for the length", "User-agent: *\nAllow: /page\nDisallow: /*.htm", "/page.htm", "deny"},
		{"a run of stars keeps its length", "User-agent: *\nAllow: /pag\nDisallow: /****", "/page", "deny"},
		{"end mark counts", "User-agent: *\nAllow: /\nDisallow: /$", "/", "deny"},
		{"empty allow says nothing", "User-agent: *\nAllow:\nDisallow: /a", "/a", "deny"},

		{"star at the start", "User-agent: *\nDisallow: *.php", "/a/b.php?c", "deny"},
		{"star matches nothing too", "User-agent: *\nDisallow: /a*b", "/ab", "deny"},
		{"pieces in order", "User-agent: *\nDisallow: /a*c*b", "/abc", "allow"},
		{"end behind a star", "User-agent: *\nDisallow: /a*b$", "/a/b/b", "deny"},
		{"end behind a star, more follows", "User-agent: *\nDisallow: /a*b$", "/a/b/bc", "allow"},
		{"pieces do not overlap", "User-agent: *\nDisallow: /aba*aba$", "/aba", "allow"},
		{"last piece does not overlap", "User-agent: *\nDisallow: /*ab*ba$", "/aba", "allow"},
		{"only an end mark", "User-agent: *\nDisallow: $", "/", "allow"},
		{"star and end", "User-agent: *\nDisallow: *$", "/x", "deny"},
		{"query is part of the path", "User-agent: *\nDisallow: /*?sort=", "/list?sort=up", "deny"},

		{"code of an unreserved sign in the rule", "User-agent: *\nDisallow: /%7Ejoe/", "/~joe/x", "deny"},
		{"code of an unreserved sign in the path", "User-agent: *\nDisallow: /~joe/", "/%7ejoe/x", "deny"},
		{"coded slash is no slash", "User-agent: *\nDisallow: /a/b", "/a%2fb", "allow"},
		{"coded slash, either case", "User-agent: *\nDisallow: /a%2Fb", "/a%2fb", "deny"},
		{"bare bytes in the rule", "User-agent: *\nDisallow: /ツ", "/%E3%83%84", "deny"},
		{"coded star is a plain one", "User-agent: *\nDisallow: /a%2Ab", "/a*b", "deny"},
		{"coded star is no star", "User-agent: *\nDisallow: /a%2Ab", "/aXb", "allow"},
		{"coded end mark is a plain sign", "User-agent: *\nDisallow: /a%24", "/a$b", "deny"},
		{"percent without a code", "User-agent: *\nDisallow: /100%", "/100%25x", "deny"},
		{"blank inside the rule", "User-agent: *\nDisallow: /a b", "/a%20b", "deny"},

		{"second BOM is no BOM", "\ufeff\ufeffUser-agent: *\nDisallow: /", "/", "allow"},
		{"UTF-16", "\xff\xfeU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00", "/", "allow"},
		{"no-break space is no blank", "User-agent:\u00a0*\nDisallow: /", "/", "allow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := verdictOf(c.robots, "Dipper", c.path); got != c.want {
				t.Errorf("%s, want %s for %s of\n%s", got, c.want, c.path, c.robots)
			}
		})
	}
}

func TestRobotsBeyondTheCapDoNotCount(t *testing.T) {
	filler := strings.Repeat("# a line of filler, as long as some\n", MaxRobots/36+1)
	if got := verdictOf("User-agent: *\n"+filler+"Disallow: /a\n", "Dipper", "/a"); got != "allow" {
		t.Error("a rule behind the cap counts")
	}
	if got := verdictOf("User-agent: *\nDisallow: /a\n"+filler, "Dipper", "/a"); got != "deny" {
		t.Error("a rule before the cap is lost")
	}
	// The cap falls into "Allow: /private": half of it would allow everything.
	head := "User-agent: *\nDisallow: /\n#"
	half := "\nAllow: /"
	text := head + strings.Repeat("x", MaxRobots-len(head)-len(half)) + half + "private\n"
	if got := verdictOf(text, "Dipper", "/"); got != "deny" {
		t.Error("half a rule counts")
	}
}

// What an attacker could write to make us slow.
func TestRobotsTimeIsBounded(t *testing.T) {
	path := "/" + strings.Repeat("a", 1990)
	for name, unit := range map[string]string{
		"many rules with stars": "Disallow: /*a*a*b\n",
		"many short rules":      "Disallow: /b\n",
		"many agents":           "User-agent: *\n",
		"no line end":           "x",
		"many stars":            "Disallow: /" + strings.Repeat("*a", 1000) + "b\n",
	} {
		text := "User-agent: *\n" + strings.Repeat(unit, MaxRobots/len(unit))
		start := time.Now()
		verdictOf(text, "Dipper", path)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

func TestProductToken(t *testing.T) {
	for ua, want := range map[string]string{
		"Dipper/1.0 (+https://dipper.example)": "Dipper", "Dipper": "Dipper", " my-agent 2": "my-agent", "a_b(c)": "a_b", "": "", "/1": ""} {
		if got := productToken(ua); got != want {
			t.Errorf("%q: %q, want %q", ua, got, want)
		}
	}
}

func FuzzRobots(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /a%2ab\n"), "/a*b?c")
	f.Add([]byte("\xef\xbb\xbfuser agent *\rdisalow /%\r\n"), "/%zz")
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		if len(body) > 4096 || len(path) > 256 {
			return
		}
		rules := parseRobots(body, "Dipper")
		rule, speaks := rules.verdict("/" + path)
		for _, r := range rules {
			want := slowMatch(r.pattern, normalPath("/"+path, true), r.ends)
			if got := r.matches(normalPath("/"+path, true)); got != want {
				t.Errorf("pattern %q, ends %v, path %q: %v, want %v", r.pattern, r.ends, path, got, want)
			}
			if want && (!speaks || r.length > rule.length || r.length == rule.length && r.allow && !rule.allow) {
				t.Errorf("rule %+v decides, though %+v matches", rule, r)
			}
		}
	})
}

// slowMatch is the definition of a match, without a thought for time: a table of
// which part of the pattern can end at which part of the path.
func slowMatch(pattern, path string, ends bool) bool {
	can := make([]bool, len(path)+1)
	can[0] = true
	for i := range len(pattern) {
		next := make([]bool, len(path)+1)
		for j := range can {
			if pattern[i] == '*' {
				next[j] = can[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && can[j-1] && path[j-1] == pattern[i]
			}
		}
		can = next
	}
	if ends {
		return can[len(path)]
	}
	for _, c := range can {
		if c {
			return true
		}
	}
	return false
}
