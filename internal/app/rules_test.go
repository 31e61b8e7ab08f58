// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/internal/webtest"
	"github.com/dipper-web/dipper/permit"
)

const lamps = "http://docs.example.org/lamps"

// newSite is a web with one page, and robots.txt as given where it is.
func newSite(t *testing.T, robots string) *webtest.Web {
	t.Helper()
	w := webtest.NewWeb(t)
	page(t, w, lamps, article)
	if robots != "" {
		page(t, w, "http://docs.example.org/robots.txt", robots)
	}
	return w
}

func TestRobots(t *testing.T) {
	const forbids = "Content-Type: text/plain\n\nUser-agent: *\nDisallow: /lamps\n"
	tests := []struct {
		name, robots, mode string
		by                 permit.By
		want               string // the failure, or nothing
	}{
		{"none", "", "autonomous", permit.Agent, ""},
		{"forbids", forbids, "autonomous", permit.Agent, "blocked/robots"},
		{"a person may", forbids, "autonomous", permit.Person, ""},
		{"nobody may", forbids, "obey", permit.Person, "blocked/robots"},
		{"not read", forbids, "ignore", permit.Agent, ""},
		{"forbids others", "Content-Type: text/plain\n\nUser-agent: Other\nDisallow: /\n", "obey", permit.Agent, ""},
		{"out of order", "Status: 500\n\n", "autonomous", permit.Agent, "unverified/robots"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNook(t).reach(newSite(t, tt.robots))
			n.user("preflight: { robots: " + tt.mode + " }\n")
			r := dipper.Request{URL: lamps, NamedBy: tt.by}
			if tt.want == "" {
				fetch(t, n.open(), r)
			} else {
				wantFault(t, n.open(), r, tt.want)
			}
		})
	}
}

// watched is a port that must not be dialled.
func watched(t *testing.T, addr string) (port int, dialled *atomic.Bool) {
	t.Helper()
	l, err := net.Listen("tcp", addr+":0")
	if err != nil {
		t.Skipf("%s cannot be listened on: %v", addr, err)
	}
	dialled = &atomic.Bool{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			dialled.Store(true)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return l.Addr().(*net.TCPAddr).Port, dialled
}

// TestRobotsGoThroughTheGuard: a robots.txt may move, but to no place that a page
// may not come from, that a rule denies or a list blocks.
func TestRobotsGoThroughTheGuard(t *testing.T) {
	port, dialled := watched(t, "127.0.0.2")
	rules := "Content-Type: text/plain\n\nUser-agent: *\nDisallow: /lamps\n"
	tests := []struct{ name, to, user, want string }{
		{"a private address", fmt.Sprintf("http://127.0.0.2:%d/robots.txt", port), "", "unverified/robots"},
		{"another scheme", "file:///etc/passwd", "", "unverified/robots"},
		{"an allowed place", "http://rules.example.org/robots.txt", "", "blocked/robots"},
		{"a denied place", "http://rules.example.org/robots.txt", "permissions: { deny: ['domain:rules.example.org'] }", "unverified/robots"},
		{"a blocked place", "http://rules.example.org/robots.txt", "preflight: { block: ['rules.example.org'] }", "unverified/robots"},
		{"the same site", "/rules.txt", "", "blocked/robots"},
		{"round and round", "/robots.txt", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newSite(t, "Status: 301\nLocation: "+tt.to+"\n\n")
			page(t, w, "http://rules.example.org/robots.txt", rules)
			page(t, w, "http://docs.example.org/rules.txt", rules)
			n := newNook(t).reach(w)
			n.Flags["network.allow"] = []string{"127.0.0.1/32"}
			n.user(tt.user)
			a := n.open()
			w.Asked()
			if tt.want == "" {
				fetch(t, a, dipper.Request{URL: lamps})
				return
			}
			wantFault(t, a, dipper.Request{URL: lamps}, tt.want)
			asked := strings.Join(w.Asked(), " ")
			if strings.Contains(asked, "/lamps") || tt.user != "" && strings.Contains(asked, "rules.example.org") {
				t.Errorf("asked %s", asked)
			}
		})
	}
	if dialled.Load() {
		t.Error("the private address was dialled")
	}
}

func TestBlockLists(t *testing.T) {
	n := newNook(t).reach(newSite(t, ""))
	n.write(filepath.Join(filepath.Dir(n.userPath()), "lists", "bad.txt"), "# hosts\n0.0.0.0 ads.example.net\nexample.org # tracks its readers\n")
	n.write(filepath.Join(n.Dir, "docs.example.org"), "innocent.example\n") // a file of a host's name is not read in its place
	for _, tt := range []struct{ block, says string }{
		{"lists/bad.txt", "tracks its readers"},
		{"'docs.example.org # not today'", "not today"},
		{"'*.example.org'", "docs.example.org"},
	} {
		t.Run(tt.block, func(t *testing.T) {
			n.user("preflight: { block: [" + strings.Replace(tt.block, "lists/", "./lists/", 1) + "] }\n")
			f := wantFault(t, n.open(), dipper.Request{URL: lamps, NamedBy: permit.Person}, "blocked/list")
			if !strings.Contains(f.Detail, tt.says) {
				t.Errorf("%q does not say %q", f.Detail, tt.says)
			}
		})
	}
	t.Run("a kept page", func(t *testing.T) {
		n.user("")
		fetch(t, n.open(), dipper.Request{URL: lamps})
		n.user("preflight: { block: [docs.example.org] }\n")
		wantFault(t, n.open(), dipper.Request{URL: lamps, Offline: true}, "blocked/list")
	})
	t.Run("another host", func(t *testing.T) {
		n.user("preflight: { block: [wiki.example.org] }\n")
		fetch(t, n.open(), dipper.Request{URL: lamps})
	})
}

func TestListFilesAreBounded(t *testing.T) {
	if _, err := readListFile("relative.txt"); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
	path := filepath.Join(t.TempDir(), "huge.txt")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, maxListFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := readListFile(path); err == nil || !strings.Contains(err.Error(), "32MiB") {
		t.Errorf("got %v", err)
	}
}

func TestRemotePreflight(t *testing.T) {
	says := func(domain string, may bool) string { return fmt.Sprintf(`{"domain":%q,"can_fetch":%t}`, domain, may) }
	tests := []struct {
		name, answer string
		down, skip   bool
		want         string
		asked        int
	}{
		{"allows", says("docs.example.org", true), false, false, "", 1},
		{"forbids", says("docs.example.org", false), false, false, "blocked/remote", 1},
		{"speaks of another", says("docs.example.com", true), false, false, "unverified/remote", 1},
		{"is out of order", "500", false, false, "unverified/remote", 1},
		{"is down", "", true, false, "unverified/remote", 0},
		{"is skipped", says("docs.example.org", false), false, true, "", 0},
		{"is down and skipped", "", true, true, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t, func(*http.Request) string { return tt.answer })
			if tt.down {
				s.Close()
			}
			n := newNook(t).reach(newSite(t, ""))
			n.user(fmt.Sprintf("preflight: { url: '%s/v1?key=s3cret', skip: %t }\n", s.URL, tt.skip))
			a := n.open()
			for range 2 { // what is allowed is kept, for pages as for hosts
				if tt.want == "" {
					fetch(t, a, dipper.Request{URL: lamps, Refresh: true})
				} else if f := wantFault(t, a, dipper.Request{URL: lamps}, tt.want); strings.Contains(f.Detail, "s3cret") {
					t.Errorf("%q gives the key away", f.Detail)
				}
				if tt.want != "" {
					break
				}
			}
			asked := s.requests()
			if len(asked) != tt.asked || tt.asked == 1 && asked[0] != "GET /v1?domain=docs.example.org&key=s3cret" {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

// TestRemotePreflightBehindProxy: the service is a supplier like a model.
func TestRemotePreflightBehindProxy(t *testing.T) {
	service := newService(t, func(r *http.Request) string {
		return fmt.Sprintf(`{"domain":%q,"can_fetch":false}`, r.FormValue("domain"))
	})
	n := newNook(t).reach(newSite(t, ""))
	n.Env = append(n.Env, "HTTP_PROXY="+service.URL, "NO_PROXY=docs.example.org")
	n.user("preflight: { url: 'http://clears.example/v1' }\n")
	wantFault(t, n.open(), dipper.Request{URL: lamps}, "blocked/remote")
	if asked := service.requests(); len(asked) != 1 || !strings.HasPrefix(asked[0], "GET http://clears.example/v1?") {
		t.Errorf("the proxy was asked %q", asked)
	}
}

// TestSettingsFiles: the reference tool's files count like rules of one's own.
func TestSettingsFiles(t *testing.T) {
	remote := newService(t, func(*http.Request) string { return "500" })
	n := newNook(t).reach(newSite(t, ""))
	settings := filepath.Join(n.home, ".claude", "settings.json")
	n.user(fmt.Sprintf("permissions: { files: [~/.claude/settings.json], default: deny }\npreflight: { url: %q }\n", remote.URL))

	n.write(settings, `{"permissions":{"allow":["WebFetch(domain:docs.example.org)","Bash(ls)"]},"skipWebFetchPreflight":true}`)
	a := n.open()
	fetch(t, a, dipper.Request{URL: lamps})
	if a.Loaded.Config.Preflight.Skip {
		t.Error("opening changed the configuration")
	}
	if asked := remote.requests(); len(asked) > 0 {
		t.Errorf("the remote check was asked %q", asked)
	}
	rules, err := a.Book.Rules(t.Context())
	if err != nil || len(rules) != 1 || rules[0].From != settings {
		t.Errorf("rules %+v, %v", rules, err)
	}

	n.write(settings, `{"permissions":{"allow":["WebFetch"],"deny":["WebFetch(domain:example.org)"]}}`)
	wantFault(t, n.open(), dipper.Request{URL: lamps, NamedBy: permit.Person}, "denied/rule")
	n.write(settings, `{"permissions":{"allow":["WebFetch"]}}`)
	wantFault(t, n.open(), dipper.Request{URL: lamps, Refresh: true}, "unverified/remote")
	n.write(settings, `{"permissions":{"ask":["WebFetch(domain:docs.example.org)"]}}`)
	wantFault(t, n.open(), dipper.Request{URL: lamps, NamedBy: permit.Person}, "unasked/rule")
}

// TestSilentPreflight: a remote service that says nothing ends with the call.
func TestSilentPreflight(t *testing.T) {
	release := make(chan struct{})
	s := newService(t, func(*http.Request) string { <-release; return "500" })
	defer close(release)
	n := newNook(t).reach(newSite(t, ""))
	n.user(fmt.Sprintf("preflight: { url: %q }\ntimeouts: { total: 200ms }\n", s.URL))
	start := time.Now()
	if _, err := n.open().Client.Fetch(t.Context(), dipper.Request{URL: lamps}); err == nil || time.Since(start) > 3*time.Second {
		t.Errorf("got %v after %v", err, time.Since(start))
	}
}

// What is wrong with a page's own place is said of the page: its robots.txt was only
// asked first. That a place is silent, breaks off or is out of order is another matter.
func TestPlacesOutOfReach(t *testing.T) {
	listen := func(answer func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				answer(c)
			}
		}()
		t.Cleanup(func() { l.Close(); <-ended })
		return l.Addr().String()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	l.Close()
	var quiet []net.Conn
	t.Cleanup(func() { // after the listener has ended
		for _, c := range quiet {
			c.Close()
		}
	})
	silent := listen(func(c net.Conn) { quiet = append(quiet, c) })
	says := func(text string) string {
		return listen(func(c net.Conn) {
			c.Read(make([]byte, 4096))
			io.WriteString(c, text)
			c.Close()
		})
	}
	tests := []struct{ name, url, env, want string }{
		{"nobody listens", "http://" + gone + "/p", "", "unreachable/connect"},
		{"no such name", "http://nowhere.invalid/p", "", "unreachable/dns"},
		{"no TLS there", "https://" + says("hello\n") + "/p", "", "unreachable/tls"},
		{"a proxy that is gone", "http://" + says("") + "/p", "DIPPER_NETWORK_PROXY=http://" + gone, "unreachable/proxy"},
		{"silence", "http://" + silent + "/p", "", "unverified/robots"},
		{"an end without an answer", "http://" + says("") + "/p", "", "unverified/robots"},
		{"out of order", "http://" + says("HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n") + "/p", "", "unverified/robots"},
		{"too many questions", "http://" + says("HTTP/1.1 429 Later\r\nContent-Length: 0\r\n\r\n") + "/p", "", "unverified/robots"},
		{"moved to where nobody listens", "http://" + says("HTTP/1.1 301 Moved\r\nLocation: http://"+gone+"/robots.txt\r\nContent-Length: 0\r\n\r\n") + "/p", "", "unverified/robots"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNook(t)
			n.user("network: { allow: ['127.0.0.0/8'], upgrade: never }\ntimeouts: { headers: 300ms }\n")
			if tt.env != "" {
				n.Env = append(n.Env, tt.env)
			}
			wantFault(t, n.open(), dipper.Request{URL: tt.url, NamedBy: permit.Agent}, tt.want)
		})
	}
}
