// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/internal/webtest"
	"github.com/dipper-web/dipper/permit"
	"github.com/dipper-web/dipper/preflight"
	"github.com/dipper-web/dipper/retrieve"
)

const ferry = "https://harbour.example/ferry"

// gated answers after its gate is opened, and says when somebody waits at it.
type gated struct {
	came, open chan struct{}
	asked      atomic.Int64
}

func newGated() *gated { return &gated{came: make(chan struct{}, 16), open: make(chan struct{})} }

func (g *gated) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.asked.Add(1)
	g.came <- struct{}{}
	select {
	case <-g.open:
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprint(w, "The ferry leaves at noon.")
}

// fetching is a fetch that goes on in the background.
type fetching struct {
	ans *dipper.Answer
	err error
}

func (h *house) begin(ctx context.Context, r dipper.Request) <-chan fetching {
	r.NamedBy = permit.Person
	out := make(chan fetching, 1)
	go func() {
		ans, err := h.Fetch(ctx, r)
		out <- fetching{ans, err}
	}()
	return out
}

// wait waits until n events of a kind were heard.
func (e *ears) wait(t testing.TB, n int, is func(dipper.Event) bool) {
	t.Helper()
	for range 2000 {
		e.mu.Lock()
		have := 0
		for _, ev := range e.heard {
			if is(ev) {
				have++
			}
		}
		e.mu.Unlock()
		if have >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the events did not come")
}

func permitted(e dipper.Event) bool { return e.Stage == dipper.StagePermit && e.Kind == dipper.Ended }

func TestTwoCallersShareOneRequest(t *testing.T) {
	h, site := newHouse(t), newGated()
	h.web.Handle(ferry, site)
	h.open()
	first := h.begin(t.Context(), dipper.Request{URL: ferry})
	<-site.came
	second := h.begin(t.Context(), dipper.Request{URL: ferry + "#times"})
	h.ears.wait(t, 2, permitted)
	time.Sleep(5 * time.Millisecond) // from the permission to the flight is a few lines
	close(site.open)
	a, b := <-first, <-second
	if a.err != nil || b.err != nil || site.asked.Load() != 1 {
		t.Fatalf("errors %v, %v; %d requests", a.err, b.err, site.asked.Load())
	}
	if b.ans.URL != ferry+"#times" || b.ans.Result != a.ans.Result {
		t.Errorf("the second caller got %q of %s", b.ans.Result, b.ans.URL)
	}
	runs := map[string][]dipper.Event{}
	for _, e := range h.ears.take() {
		runs[e.Run] = append(runs[e.Run], e)
	}
	joined := 0
	for _, events := range runs {
		checkRun(t, events)
		for _, e := range events {
			if e.Kind == dipper.Joined {
				joined++
				if got := strings.Join(ended(events), " "); got != "check permit" {
					t.Errorf("the run that joined has the stages %s", got)
				}
			}
		}
	}
	if joined != 1 || len(b.ans.Stages) != 2 {
		t.Errorf("%d joined events; stages of the second caller: %v", joined, b.ans.Stages)
	}
}

func TestSecondCallerOutlivesTheFirst(t *testing.T) {
	h, site := newHouse(t), newGated()
	h.web.Handle(ferry, site)
	h.open()
	ctx, cancel := context.WithCancel(t.Context())
	first := h.begin(ctx, dipper.Request{URL: ferry})
	<-site.came
	second := h.begin(t.Context(), dipper.Request{URL: ferry})
	h.ears.wait(t, 2, permitted)
	time.Sleep(5 * time.Millisecond)
	cancel()
	wantFault(t, (<-first).err, "canceled")
	close(site.open)
	if b := <-second; b.err != nil || !strings.Contains(b.ans.Result, "noon") || site.asked.Load() != 1 {
		t.Errorf("second caller: %v; %d requests", b.err, site.asked.Load())
	}
	if again := h.fetch(dipper.Request{URL: ferry}); again.Source != "cache" {
		t.Errorf("the page was not kept: %s", again.Source)
	}
}

func TestJoinedFailureNamesItsOwnURL(t *testing.T) {
	h, site := newHouse(t), newGated()
	h.web.Handle(ferry, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site.came <- struct{}{}
		<-site.open
		http.Error(w, "out of order", http.StatusInternalServerError)
	}))
	h.open()
	first := h.begin(t.Context(), dipper.Request{URL: ferry})
	<-site.came
	second := h.begin(t.Context(), dipper.Request{URL: ferry + "#b"})
	h.ears.wait(t, 2, permitted)
	time.Sleep(5 * time.Millisecond)
	close(site.open)
	for url, f := range map[string]fetching{ferry: <-first, ferry + "#b": <-second} {
		wantFault(t, f.err, "refused/status")
		var e *dipper.Error
		if !errors.As(f.err, &e) || e.URL != url || e.Stage != dipper.StageRetrieve {
			t.Errorf("asked %s, failed %v", url, f.err)
		}
	}
}

// The party of a flight: what robots.txt forbids a model does not reach it by way
// of a person who asked at the same moment.
func TestModelDoesNotShareAPersonsFlight(t *testing.T) {
	h, site := newHouse(t), newGated()
	h.web.Handle(ferry, site)
	h.page("https://harbour.example/robots.txt", "Content-Type: text/plain\n\nUser-agent: *\nDisallow: /\n")
	h.opts.Robots = preflight.NewRobots(preflight.RobotsOptions{Fetch: h.robots})
	h.open()
	first := h.begin(t.Context(), dipper.Request{URL: ferry})
	<-site.came
	_, err := h.Fetch(t.Context(), dipper.Request{URL: ferry, NamedBy: permit.Agent})
	wantFault(t, err, "blocked/robots")
	close(site.open)
	h.must((<-first).err)
}

func TestCancelEndsAtOnce(t *testing.T) {
	for name, stop := range map[string]func(*house) string{
		"while the site is silent": func(h *house) string {
			h.web.Handle(ferry, newGated())
			return ""
		},
		"while the model thinks": func(h *house) string {
			h.helper(webtest.Hangs())
			h.page(ferry, "Content-Type: text/plain\n\nThe ferry leaves at noon.\n")
			return "When does it leave?"
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			prompt := stop(h)
			h.open()
			last := dipper.StageRetrieve
			if prompt != "" {
				last = dipper.StageExtract
			}
			best := time.Hour
			for range 3 { // a busy machine may hold up one of them
				h.ears.take()
				ctx, cancel := context.WithCancel(t.Context())
				out := h.begin(ctx, dipper.Request{URL: ferry, Prompt: prompt})
				h.ears.wait(t, 1, func(e dipper.Event) bool { return e.Stage == last && e.Kind == dipper.Began })
				start := time.Now()
				cancel()
				wantFault(t, (<-out).err, "canceled")
				best = min(best, time.Since(start))
			}
			if best > 100*time.Millisecond {
				t.Errorf("it took %v", best)
			}
		})
	}
}

func TestCanceledBeforeItBegins(t *testing.T) {
	h := newHouse(t)
	h.page(ferry, "Content-Type: text/plain\n\nhere\n").open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.Fetch(ctx, dipper.Request{URL: ferry, NamedBy: permit.Person})
	wantFault(t, err, "canceled")
	if asked := h.web.Asked(); len(asked) != 0 {
		t.Errorf("asked %v", asked)
	}
}

// A model that hangs: passages come, within the time for the whole call.
func TestHangingModelLeavesPassagesInTime(t *testing.T) {
	h := newHouse(t).helper(webtest.Hangs())
	h.page(ferry, "Content-Type: text/plain\nDelay: 50ms\n\nThe ferry leaves at noon.\n")
	h.opts.Timeout = time.Second
	h.open()
	start := time.Now()
	ans := h.fetch(dipper.Request{URL: ferry, Prompt: "When does it leave?"})
	if took := time.Since(start); took > h.opts.Timeout+time.Second { // a busy machine may be late by itself
		t.Errorf("it took %v of %v", took, h.opts.Timeout)
	}
	if ans.Outcome != dipper.Partial || ans.Path != "passages" || !strings.Contains(ans.Result, "noon") {
		t.Errorf("%s by %s: %q", ans.Outcome, ans.Path, ans.Result)
	}
	webtest.Check(t, ans, []webtest.Line{{Key: "warnings.code", Op: ":", Value: "model-timeout"}})
}

// What came before the time for the whole call was over is handed out.
func TestSlowBodyIsHandedOutInTime(t *testing.T) {
	h := newHouse(t)
	h.page(ferry, "Content-Type: text/plain\nHang: yes\n\nThe ferry leaves at noon.\n")
	h.opts.Timeout = time.Second
	h.open()
	ans := h.fetch(dipper.Request{URL: ferry})
	if ans.Outcome != dipper.Partial || !strings.Contains(ans.Result, "noon") {
		t.Errorf("%s: %q", ans.Outcome, ans.Result)
	}
}

// A store that fails is a miss with an event, never a failed fetch.
func TestFailingStoreIsAMiss(t *testing.T) {
	h := newHouse(t)
	h.page(ferry, "Content-Type: text/plain\n\nhere\n")
	h.opts.Pages = sickStore{}
	h.open()
	if ans := h.fetch(dipper.Request{URL: ferry}); ans.Outcome != dipper.OK {
		t.Errorf("outcome %s", ans.Outcome)
	}
	h.ears.wait(t, 1, func(e dipper.Event) bool { return e.Kind == dipper.Noted && strings.Contains(e.Note, "full") })
}

type sickStore struct{}

func (sickStore) Get(context.Context, string) (cache.Entry, bool, error) {
	return cache.Entry{}, false, errors.New("the disk is gone")
}
func (sickStore) Put(context.Context, cache.Entry) error { return errors.New("the disk is full") }

// A ledger that fails is a failed fetch, never a pass.
func TestFailingLedgerIsAFailure(t *testing.T) {
	h := newHouse(t)
	h.page(ferry, "Content-Type: text/plain\n\nhere\n")
	h.rules.Provenance = permit.ProvenanceEnforce
	h.opts.Seen = func(string) permit.Seen { return sickLedger{} }
	h.open()
	_, err := h.Fetch(t.Context(), dipper.Request{URL: ferry, NamedBy: permit.Agent})
	wantFault(t, err, "internal")
	if asked := h.web.Asked(); len(asked) != 0 {
		t.Errorf("asked %v", asked)
	}
}

type sickLedger struct{}

func (sickLedger) Has(context.Context, string) (bool, error) {
	return false, errors.New("the ledger is torn")
}
func (sickLedger) Add(context.Context, string, ...string) error {
	return errors.New("the ledger is torn")
}

// The numbers of the corridor that are part of the contract.
func TestNumbers(t *testing.T) {
	for name, row := range map[string]struct{ got, want any }{
		"a fetch":            {dipper.TotalTimeout, 60 * time.Second},
		"the model's share":  {dipper.ModelTimeout, 45 * time.Second},
		"a page is fresh":    {dipper.FreshFor, 15 * time.Minute},
		"pages in memory":    {dipper.MemoryBytes, 50 << 20},
		"tokens of extract":  {dipper.ExtractBudget, 1000},
		"tokens of answer":   {dipper.AnswerBudget, 2000},
		"characters of URL":  {check.MaxURL, 2000},
		"a model's page":     {extract.MaxPageChars, 100_000},
		"a quotation":        {extract.MaxQuote, 125},
		"bytes of a body":    {retrieve.BodyLimit, 10_485_760},
		"redirects followed": {retrieve.HopLimit, 10},
	} {
		if fmt.Sprint(row.got) != fmt.Sprint(row.want) {
			t.Errorf("%s: %v, want %v", name, row.got, row.want)
		}
	}
}

// Progress is told while the body comes, and sizes have their limits.
func TestProgressAndSizes(t *testing.T) {
	h := newHouse(t)
	h.web.Handle(ferry, webtest.Page{Header: http.Header{"Content-Type": {"text/plain"}}, Body: strings.Repeat("The ferry leaves at noon.\n", 20_000)})
	h.web.Handle("https://harbour.example/huge", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(retrieve.BodyLimit+1))
		w.WriteHeader(http.StatusOK)
	}))
	h.open()
	ans := h.fetch(dipper.Request{URL: ferry})
	events := h.ears.take()
	checkRun(t, events)
	last := int64(0)
	for _, e := range events {
		if e.Kind != dipper.Progress {
			continue
		}
		if e.Bytes <= last || e.Stage != dipper.StageRetrieve || e.URL != ferry {
			t.Errorf("progress %+v after %d bytes", e, last)
		}
		last = e.Bytes
	}
	if last != 520_000 || ans.Bytes != last {
		t.Errorf("the last progress is %d, the answer has %d bytes", last, ans.Bytes)
	}
	h.fails(dipper.Request{URL: "https://harbour.example/huge"}, "toolarge")
	h.rooms.Limits.Body = 1000
	h.opts.Pages = nil
	h.open()
	h.web.Handle(ferry, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for range 100 {
			fmt.Fprintln(w, "No length was announced for this body.")
			http.NewResponseController(w).Flush()
		}
	}))
	ans = h.fetch(dipper.Request{URL: ferry})
	if ans.Outcome != dipper.Partial || ans.Bytes != 1000 || !ans.Shown.Truncated {
		t.Errorf("%s with %d bytes, shown %+v", ans.Outcome, ans.Bytes, ans.Shown)
	}
}

// asker is a person who always says the same, and counts the questions.
type asker struct {
	says  permit.Choice
	asked []permit.Question
}

func (a *asker) Ask(_ context.Context, q permit.Question) (permit.Choice, error) {
	a.asked = append(a.asked, q)
	return a.says, nil
}

// One fetch puts one question, whatever hops it takes on the host and however
// often the page is kept; a no is a denial by the person, and nothing is asked.
func TestOneQuestionForOneFetch(t *testing.T) {
	for says, want := range map[permit.Choice]string{permit.Once: "", permit.No: "denied/person"} {
		h := newHouse(t)
		h.page(ferry, "Status: 302\nLocation: /boats\n\n")
		h.page("https://harbour.example/boats", "Content-Type: text/plain\n\nThe Anna.\n")
		rule, err := check.ParseRule("domain:harbour.example")
		h.must(err)
		person := &asker{says: says}
		h.rules.Ask, h.rules.Asker = []permit.Sourced{{Rule: rule, From: "test"}}, person
		h.open()
		for n := range 2 {
			_, err := h.Fetch(t.Context(), dipper.Request{URL: ferry, NamedBy: permit.Person})
			if want != "" {
				wantFault(t, err, want)
			} else {
				h.must(err)
			}
			if len(person.asked) != n+1 {
				t.Errorf("%s: fetch %d, %d questions", says, n+1, len(person.asked))
			}
		}
		if asked := h.web.Asked(); want != "" && len(asked) > 0 {
			t.Errorf("asked %v", asked)
		}
	}
}

// A kept page whose file somebody removed is a miss.
func TestSavedFileThatIsGone(t *testing.T) {
	h := newHouse(t)
	h.page(ferry, "Content-Type: image/png\nEscapes: yes\n\n\\x89PNG\\r\\n\\x1a\\n\\x00\\x00\\x00\\rIHDR\n").open()
	path := h.fetch(dipper.Request{URL: ferry}).Saved.Path
	if again := h.fetch(dipper.Request{URL: ferry}); again.Source != "cache" {
		t.Errorf("source %s", again.Source)
	}
	h.must(os.Remove(path))
	if again := h.fetch(dipper.Request{URL: ferry}); again.Source != "network" || again.Saved.Path != path {
		t.Errorf("source %s, saved %+v", again.Source, again.Saved)
	}
}
