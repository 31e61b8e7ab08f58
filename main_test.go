// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper_test

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
	"github.com/dipper-web/dipper/internal/webtest"
	"github.com/dipper-web/dipper/permit"
	"github.com/dipper-web/dipper/retrieve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// house is a client with everything around it: a false web, the rooms, a
// library, a model. What it is made of can be changed before open is called,
// and the library stays when it is opened again.
type house struct {
	t     testing.TB
	web   *webtest.Web
	model *webtest.Model
	ears  *ears
	saved string
	guard guard.Options
	rooms retrieve.Options
	rules permit.Options
	opts  dipper.Options
	wire  *retrieve.HTTP
	*dipper.Client
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, web: webtest.NewWeb(t), ears: &ears{}, saved: t.TempDir(), guard: guard.Options{Allow: loopback}}
	h.rules.Provenance = permit.ProvenanceOff
	h.opts.Pages, h.opts.Replies = cache.NewMemory(64<<20), cache.NewMemory(1<<20)
	h.opts.Keep = folder(h.saved)
	h.opts.Recorder = h.ears
	ledgers := map[string]permit.Seen{}
	h.opts.Seen = func(session string) permit.Seen {
		if ledgers[session] == nil {
			ledgers[session] = permit.NewLedger()
		}
		return ledgers[session]
	}
	return h
}

// helper gives the house a model that may read private pages.
func (h *house) helper(m *webtest.Model) *house {
	h.model = m
	h.opts.Helper = &dipper.Helper{Model: m, Local: true}
	return h
}

// page puts a page into the web.
func (h *house) page(url, text string) *house {
	h.t.Helper()
	p, err := webtest.ParsePage(text)
	if err != nil {
		h.t.Fatal(err)
	}
	h.web.Handle(url, p)
	return h
}

// open makes the client.
func (h *house) open() *house {
	h.t.Helper()
	var err error
	h.guard.Resolve, h.rooms.Roots = h.web.Resolve(), h.web.Roots()
	h.rooms.Guard, err = guard.New(h.guard)
	h.must(err)
	h.wire, err = retrieve.New(h.rooms)
	h.must(err)
	h.t.Cleanup(h.wire.Close)
	book, err := permit.New(h.rules)
	h.must(err)
	o := h.opts
	o.Permit, o.Get, o.Limits = book, h.wire, check.Limits{Declared: h.rooms.Guard.Declared}
	h.Client, err = dipper.New(o)
	h.must(err)
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// fetch fetches and must not fail.
func (h *house) fetch(r dipper.Request) *dipper.Answer {
	h.t.Helper()
	if r.NamedBy == "" {
		r.NamedBy = permit.Person
	}
	ans, err := h.Fetch(h.t.Context(), r)
	h.must(err)
	return ans
}

// fails fetches and must fail.
func (h *house) fails(r dipper.Request, want string) *fault.Error {
	h.t.Helper()
	if r.NamedBy == "" {
		r.NamedBy = permit.Person
	}
	ans, err := h.Fetch(h.t.Context(), r)
	if err == nil {
		h.t.Fatalf("outcome %s %q, want the failure %s", ans.Outcome, ans.Result, want)
	}
	wantFault(h.t, err, want)
	return fault.From(err)
}

// wantFault checks a failure against "kind" or "kind/cause".
func wantFault(t testing.TB, err error, want string) {
	t.Helper()
	f := fault.From(err)
	if f == nil {
		t.Fatalf("no failure, want %s", want)
	}
	got := string(f.Kind)
	if f.Cause != "" {
		got += "/" + string(f.Cause)
	}
	if got != want {
		t.Fatalf("failure %s (%v), want %s", got, err, want)
	}
}

// folder keeps binary bodies in a directory.
type folder string

func (f folder) Keep(_ context.Context, name string, body []byte) (string, error) {
	path := filepath.Join(string(f), name)
	return path, os.WriteFile(path, body, 0o600)
}

// ears hear every event.
type ears struct {
	mu    sync.Mutex
	heard []dipper.Event
}

func (e *ears) Record(ev dipper.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, ev)
}

// take gives the events since the last call, in the order of their numbers.
func (e *ears) take() []dipper.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := e.heard
	e.heard = nil
	slices.SortStableFunc(out, func(a, b dipper.Event) int {
		if a.Run != b.Run {
			return strings.Compare(a.Run, b.Run)
		}
		return a.Seq - b.Seq
	})
	return out
}

// checkRun holds the events of one run against the promise: numbered from 1
// without gaps, one end for each stage entered, the run's own end last.
func checkRun(t testing.TB, events []dipper.Event) {
	t.Helper()
	open := map[dipper.Stage]int{}
	for i, e := range events {
		if e.Seq != i+1 || e.Run != events[0].Run {
			t.Errorf("event %d is number %d of run %s", i+1, e.Seq, e.Run)
		}
		switch {
		case e.Kind == dipper.Began:
			open[e.Stage]++
		case e.Kind == dipper.Ended:
			open[e.Stage]--
		}
		if open[e.Stage] < 0 {
			t.Errorf("event %d ends %q, which has not begun", e.Seq, e.Stage)
		}
	}
	for stage, n := range open {
		if n != 0 {
			t.Errorf("stage %q was entered and not ended", stage)
		}
	}
	if n := len(events); n < 2 || events[0].Kind != dipper.Began || events[0].Stage != "" || events[n-1].Kind != dipper.Ended || events[n-1].Stage != "" {
		t.Errorf("the run does not begin and end with its own events: %v", events)
	}
}

// ended lists the stages that ended, in order.
func ended(events []dipper.Event) []string {
	out := []string{}
	for _, e := range events {
		if e.Kind == dipper.Ended && e.Stage != "" {
			out = append(out, string(e.Stage))
		}
	}
	return out
}
