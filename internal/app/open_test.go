// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/webtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const article = "Content-Type: text/html\n\n<title>Lamps</title><main><h1>Lamps</h1><p>The lamp of the tower burns nine hours on one filling of oil, as the keeper's book says.</p></main>"

// page puts a page into a web.
func page(t *testing.T, w *webtest.Web, url, text string) {
	t.Helper()
	p, err := webtest.ParsePage(text)
	if err != nil {
		t.Fatal(err)
	}
	w.Handle(url, p)
}

// reach lets a nook reach a web: loopback is allowed, and its names are declared.
// Those of http are declared for the port of https too, or the question whether
// they could be upgraded would go to the network.
func (n *nook) reach(w *webtest.Web) *nook {
	n.Flags = map[string][]string{"network.allow": {"127.0.0.0/8"}}
	for name, addr := range w.Resolve() {
		host, _, _ := strings.Cut(name, ":")
		n.Flags["network.resolve"] = append(n.Flags["network.resolve"], name+":"+addr, host+":443:"+addr)
	}
	return n
}

// open opens what is configured and closes it with the test.
func (n *nook) open() *App { n.t.Helper(); return n.openWith(Doors{}) }

func (n *nook) openWith(d Doors) *App {
	n.t.Helper()
	a, err := Open(n.t.Context(), n.load(), d)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { a.Close() })
	return a
}

// fails loads and opens, which must fail, and gives the failure.
func (n *nook) fails() *fault.Error {
	n.t.Helper()
	l, err := Load(n.Source)
	if err == nil {
		var a *App
		if a, err = Open(n.t.Context(), l, Doors{}); err == nil {
			a.Close()
			n.t.Fatal("it opens")
		}
	}
	return fault.From(err)
}

func fetch(t *testing.T, a *App, r dipper.Request) *dipper.Answer {
	t.Helper()
	ans, err := a.Client.Fetch(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return ans
}

// wantFault fetches, which must fail as kind or kind/cause, and gives the failure.
func wantFault(t *testing.T, a *App, r dipper.Request, want string) *fault.Error {
	t.Helper()
	ans, err := a.Client.Fetch(t.Context(), r)
	if err == nil {
		t.Fatalf("outcome %s %q, want the failure %s", ans.Outcome, ans.Result, want)
	}
	f := fault.From(err)
	if got := strings.TrimSuffix(string(f.Kind)+"/"+string(f.Cause), "/"); got != want {
		t.Fatalf("failure %s (%v), want %s", got, err, want)
	}
	return f
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name, user string
		env        []string
		says       []string
		never      string
	}{
		{"a store that is not built", "cache: { store: 'redis://me:hunter2@db.example:6379/1' }", nil, []string{"cache.store (user file)", "redis", "use sqlite or mem"}, "hunter2"},
		{"a store from the environment", "", []string{"DIPPER_CACHE_STORE=redis://db.example"}, []string{"cache.store (environment)"}, ""},
		{"a budget of money", "budget: { costUSD: 1.5 }", nil, []string{"budget.costUSD (user file)", "not built yet"}, ""},
		{"a budget of tokens", "budget: { tokens: 5 }", nil, []string{"budget.tokens", "not built yet"}, ""},
		{"an index", "index: { fetched: true }", nil, []string{"index.fetched", "not built yet"}, ""},
		{"a rule", "permissions:\n  deny:\n    - domain:a.example\n    - 'WebFetch(domain:'", nil, []string{"config.yaml:4", "permissions.deny"}, ""},
		{"a trusted place", "trusted: { add: ['ftp://x'] }", nil, []string{"ftp://x"}, ""},
		{"a list file", "preflight: { block: ['./no-such-list.txt'] }", nil, []string{"no-such-list.txt", "cannot be read"}, ""},
		{"a certificate that is missing", "network: { cacert: [none.pem] }", nil, []string{"network.cacert", "none.pem", "cannot be read"}, ""},
		{"a certificate that is none", "network: { cacert: [config.yaml] }", nil, []string{"network.cacert", "no certificate"}, ""},
		{"a settings file that is missing", "permissions: { files: [none.json] }", nil, []string{"none.json"}, ""},
		{"a proxy from the environment", "", []string{"HTTPS_PROXY=ftp://me:hunter2@proxy.example"}, []string{"proxy", "ftp"}, "hunter2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNook(t)
			n.Env = append(n.Env, tt.env...)
			n.user(tt.user)
			f := n.fails()
			if f.Kind != fault.Invalid {
				t.Fatalf("got %v, want fault.Invalid", f)
			}
			for _, want := range tt.says {
				if !strings.Contains(f.Detail, want) {
					t.Errorf("%q does not say %q", f.Detail, want)
				}
			}
			if tt.never != "" && strings.Contains(f.Error(), tt.never) {
				t.Errorf("%q gives the password away", f)
			}
		})
	}
}

func TestOpenNotes(t *testing.T) {
	tests := []struct {
		name, user string
		env        []string
		says       string
	}{
		{"nothing", "", nil, ""},
		{"a model that nobody serves", "model: { name: little }", nil, "model.name is little"},
		{"no model at all", "model: { provider: none, name: little }", nil, ""},
		{"a certificate file that is missing", "", []string{"SSL_CERT_FILE=/no/such/bundle.pem"}, "/no/such/bundle.pem"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNook(t)
			n.Env = append(n.Env, tt.env...)
			n.user(tt.user)
			got := strings.Join(n.open().Notes, "\n")
			if !strings.Contains(got, tt.says) || tt.says == "" && got != "" {
				t.Errorf("notes %q, want %q", got, tt.says)
			}
		})
	}
}

// TestDoorsBoundTheTime: the shorter of the two times holds.
func TestDoorsBoundTheTime(t *testing.T) {
	for _, tt := range []struct {
		total string
		door  time.Duration
		want  time.Duration
	}{{"60s", 50 * time.Second, 50 * time.Second}, {"2s", 50 * time.Second, 2 * time.Second}, {"7s", 0, 7 * time.Second}} {
		n := newNook(t)
		n.user("timeouts: { total: " + tt.total + " }\n")
		if got := n.openWith(Doors{MaxTotal: tt.door}).patience(); got != tt.want {
			t.Errorf("total %s, door %v: %v, want %v", tt.total, tt.door, got, tt.want)
		}
	}
}

// ears hear events.
type ears struct {
	mu    sync.Mutex
	heard []dipper.Event
}

// notes joins what was noted.
func (e *ears) notes() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []string
	for _, ev := range e.heard {
		if ev.Kind == dipper.Noted {
			all = append(all, ev.Note)
		}
	}
	return strings.Join(all, "\n")
}

func (e *ears) Record(ev dipper.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, ev)
}

// TestLateNotes: what the library says once everything is open is recorded and
// logged, and races with nobody who reads Notes.
func TestLateNotes(t *testing.T) {
	var log strings.Builder
	heard := &ears{}
	a := newNook(t).openWith(Doors{Recorder: heard, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	before := len(a.Notes)
	a.note("the library was set aside")
	if len(a.Notes) != before || len(heard.heard) != 1 || heard.heard[0].Kind != dipper.Noted || !strings.Contains(log.String(), "set aside") {
		t.Errorf("notes %q, events %v, log %q", a.Notes, heard.heard, &log)
	}
}

// TestCloseEndsEverything opens with all that starts something, uses it, and
// leaves nothing behind.
func TestCloseEndsEverything(t *testing.T) {
	w := webtest.NewWeb(t)
	page(t, w, "http://docs.example.org/lamps", article)
	clears := newService(t, func(r *http.Request) string { return `{"domain":"` + r.FormValue("domain") + `","can_fetch":true}` })
	model := newService(t, func(*http.Request) string { return chat("Nine hours.") })
	ignore := goleak.IgnoreCurrent()
	n := newNook(t).reach(w)
	n.user(fmt.Sprintf("preflight: { url: %q, robots: obey }\nmodel: { provider: openai, name: m, baseURL: %q }\n", clears.URL, model.URL))
	a, err := Open(context.Background(), n.load(), Doors{})
	if err != nil {
		t.Fatal(err)
	}
	if ans := fetch(t, a, dipper.Request{URL: "http://docs.example.org/lamps", Prompt: "How long?"}); ans.Path != "helper" || ans.Result != "Nine hours." {
		t.Errorf("got %+v", ans)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	goleak.VerifyNone(t, ignore, goleak.IgnoreAnyFunction("net/http.(*conn).serve"))
	n.open() // what was closed opens again
}

func TestOpenIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	n := newNook(t)
	if a, err := Open(ctx, n.load(), Doors{}); !errors.Is(err, fault.Canceled) {
		t.Errorf("got %v, %v, want fault.Canceled", a, err)
	}
}

// TestWhereStateLies: one folder for the user alone, and none where none is wanted.
func TestWhereStateLies(t *testing.T) {
	n := newNook(t)
	home := filepath.Join(n.home, "state")
	n.Env = append(n.Env, "DIPPER_HOME="+home)
	a := n.open()
	for path, mode := range map[string]os.FileMode{home: 0o700, a.Place(): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if err := a.TryStore(t.Context()); err != nil {
		t.Error(err)
	}
	m := newNook(t)
	m.user("cache: { store: mem }\n")
	b := m.open()
	if _, err := os.Stat(b.Loaded.DataDir); err == nil || b.Place() != "memory" || len(b.Notes) > 0 {
		t.Errorf("a folder was made for %s, notes %q", b.Place(), b.Notes)
	}
	if err := b.TryStore(t.Context()); err != nil {
		t.Error(err)
	}
}

// service is a supplier: it answers every request with JSON and remembers them.
type service struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newService(t *testing.T, answer func(*http.Request) string) *service {
	s := &service{}
	s.Server = httptest.NewServer(s.handler(answer))
	t.Cleanup(s.Close)
	return s
}

// handler answers with JSON; an answer that begins with a digit is a status.
func (s *service) handler(answer func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.String())
		s.mu.Unlock()
		text, status := answer(r), 0
		if n, err := fmt.Sscanf(text, "%d", &status); n == 1 && err == nil {
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, text)
	})
}

func (s *service) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

// chat is what a chat completion says.
func chat(text string) string {
	return fmt.Sprintf(`{"model":"m","choices":[{"finish_reason":"stop","message":{"content":%q}}]}`, text)
}
