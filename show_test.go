// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/webtest"
)

// Reading on with any budgets, the parts put together are the document, each
// within its budget.
func TestPartsMakeTheWhole(t *testing.T) {
	h := newHouse(t)
	pages := map[string]string{
		"prose":   strings.Repeat("The ferry leaves at noon.\n\nNobody knows **why**, and `nobody` asks.\n", 60),
		"wide":    strings.Repeat("渡し船は正午に出る。理由は誰も知らない。\n", 80),
		"no end":  strings.Repeat("abcdefghij", 300),
		"emoji":   strings.Repeat("👩‍🚀 e\u0301 ", 200),
		"newline": strings.Repeat("\n", 500) + "end",
	}
	url := func(name string) string { return "https://harbour.example/" + strings.ReplaceAll(name, " ", "-") }
	for name, text := range pages {
		h.web.Handle(url(name), webtest.Page{Header: map[string][]string{"Content-Type": {"text/plain; charset=utf-8"}}, Body: text})
	}
	h.open()
	dice := rand.New(rand.NewPCG(1, 2))
	for name, text := range pages {
		t.Run(name, func(t *testing.T) {
			for range 8 {
				got, req := "", dipper.Request{URL: url(name), Budget: 1 + dice.IntN(150)}
				for step := 0; ; step++ {
					ans := h.fetch(req)
					got += ans.Result
					if n := extract.Tokens(ans.Result); n > req.Budget {
						t.Fatalf("%d tokens for a budget of %d", n, req.Budget)
					}
					if ans.Shown.Truncated != (ans.Shown.Next != "") || (ans.Outcome == dipper.Partial) != ans.Shown.Truncated {
						t.Fatalf("%s, shown %+v", ans.Outcome, ans.Shown)
					}
					if ans.Shown.Next == "" {
						break
					}
					if step > len(text) {
						t.Fatal("it never ends")
					}
					req = dipper.Request{URL: url(name), Budget: 1 + dice.IntN(150), Cursor: ans.Shown.Next}
				}
				if got != text {
					t.Fatalf("the parts are not the whole:\n%q\n%q", got, text)
				}
			}
		})
	}
	if n := len(h.web.Asked()); n != len(pages) {
		t.Errorf("%d requests for %d pages", n, len(pages))
	}
}

// A cursor carries the form of the page, and the end of a section.
func TestCursorCarriesTheForm(t *testing.T) {
	h := newHouse(t)
	h.page(ferry, "Content-Type: text/html\nRepeat: 30\n\n<!doctype html><title>T</title><main><h1>T</h1><p>Before it.</p><h2 id=s>S</h2>\n"+
		"<p>Line {{n}} of the section, with <a href='/x{{n}}'>a link</a>.</p>\n<h2 id=u>U</h2><p>After it.</p></main>\n")
	h.open()
	whole := h.fetch(dipper.Request{URL: ferry, Section: "s", Links: "none"}).Result
	got, req := "", dipper.Request{URL: ferry, Section: "s", Links: "none", Budget: 50}
	for {
		ans := h.fetch(req)
		got += ans.Result
		if ans.Shown.Next == "" {
			break
		}
		req = dipper.Request{URL: ferry, Cursor: ans.Shown.Next, Budget: 50}
	}
	if got != whole || strings.Contains(got, "](") || strings.Contains(got, "After it") || !strings.Contains(got, "Line 30") {
		t.Errorf("parts:\n%s\nwhole:\n%s", got, whole)
	}
}

// A cursor is data from outside: whatever stands in it, nothing breaks.
func TestForeignCursors(t *testing.T) {
	h := newHouse(t)
	h.page(ferry, "Content-Type: text/plain\n\nThe ferry leaves at noon, and comes back.\n").open()
	good := h.fetch(dipper.Request{URL: ferry, Budget: 3}).Shown.Next
	for _, c := range []string{"x", "e30", "bnVsbA", "W10", good + "A", good[:len(good)/2], strings.Repeat("e30", 1000)} {
		h.fails(dipper.Request{URL: ferry, Cursor: c}, "invalid")
	}
	h.fails(dipper.Request{URL: ferry, Cursor: good, Section: "s"}, "invalid")
	h.fails(dipper.Request{URL: ferry, Cursor: good, Find: "s"}, "invalid")
}

// Offsets of what was found fit the Markdown of the page, in characters.
func TestFindOffsets(t *testing.T) {
	h := newHouse(t)
	h.page(ferry, "Content-Type: text/html\n\n<!doctype html><title>T</title><main><h1>Möwen</h1><p>İstanbul, ÉTÉ und été; die Straße, STRASSE.</p></main>\n")
	h.open()
	runes := []rune(h.fetch(dipper.Request{URL: ferry}).Result)
	for needle, want := range map[string][]string{"été": {"ÉTÉ", "été"}, "MÖWEN": {"Möwen"}, "straße": {"Straße"}, "stanbul": {"stanbul"}} {
		var got []string
		for _, c := range h.fetch(dipper.Request{URL: ferry, Find: needle}).Citations {
			got = append(got, c.Quote)
			if c.End > len(runes) || string(runes[c.Start:c.End]) != c.Quote {
				t.Errorf("%s: characters %d to %d are not %q", needle, c.Start, c.End, c.Quote)
			}
		}
		// Places in one line are shown together, so one citation may stand for two.
		if len(got) == 0 || got[0] != want[0] {
			t.Errorf("%s: found %q, want %q", needle, got, want)
		}
	}
}

// names lists all names in a JSON tree, with a dot below each object, and fails
// on null.
func names(t *testing.T, v any, at string, into map[string]bool) {
	t.Helper()
	switch x := v.(type) {
	case nil:
		t.Errorf("%s is null", at)
	case map[string]any:
		for k, e := range x {
			into[strings.TrimPrefix(at+"."+k, ".")] = true
			names(t, e, at+"."+k, into)
		}
	case []any:
		for _, e := range x {
			names(t, e, at, into)
		}
	}
}

func namesOf(t *testing.T, v any) []string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	names(t, tree, "", set)
	var out []string
	for n := range set {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// answerNames are the names of the contract, with a dot below each object.
func answerNames() []string {
	names := strings.Fields(`url finalUrl outcome bytes code codeText durationMs result mode path trusted source title contentType charset language published
		page page.id page.chars page.tokens page.fetchedAt page.sections shown shown.chars shown.tokens shown.truncated shown.next
		citations citations.quote citations.section citations.start citations.end warnings warnings.code warnings.message warnings.count
		moved moved.from moved.to moved.status saved saved.path saved.type saved.bytes usage usage.calls usage.calls.purpose usage.calls.model
		usage.calls.inputTokens usage.calls.outputTokens usage.calls.cachedTokens usage.calls.costUSD usage.webSearchRequests usage.webFetchRequests
		usage.cacheHits usage.costUSD stages stages.stage stages.durationMs stages.note`)
	slices.Sort(names)
	return names
}

// failureNames are those of a failure.
const failureNames = "error error.advice error.cause error.code error.excerpt error.kind error.message error.retryAfterMs error.retryable error.stage url"

func TestJSONNames(t *testing.T) {
	full := dipper.Answer{
		URL: "u", FinalURL: "f", Outcome: dipper.OK, Bytes: 1, Code: 200, CodeText: "OK", DurationMs: 1, Result: "r", Mode: dipper.ModeAnswer,
		Path: "helper", Trusted: "docs", Source: "network", Title: "t", ContentType: "c", Charset: "c", Language: "en", Published: "2026-03-01",
		Page: &dipper.PageInfo{ID: "i", Chars: 1, Tokens: 1, FetchedAt: time.Unix(0, 0).UTC(), Sections: 1}, Shown: &dipper.Shown{Next: "n"},
		Citations: []dipper.Citation{{Quote: "q", Section: "s", Start: 1, End: 2}}, Warnings: []dipper.Warning{{Code: "c", Message: "m", Count: 1}},
		Moved: &dipper.Move{From: "a", To: "b", Status: 301}, Saved: &dipper.SavedFile{Path: "p", Type: "t", Bytes: 1},
		Usage:  &dipper.Usage{Calls: []dipper.Call{{Purpose: "reader", Model: "m"}}},
		Stages: []dipper.StageRun{{Stage: dipper.StageCheck, Note: "n"}}, Raw: []byte("x"), Outline: []dipper.SectionInfo{{ID: "x"}},
	}
	if got, want := namesOf(t, full), answerNames(); !slices.Equal(got, want) {
		t.Errorf("an answer has the names\n%v, want\n%v", got, want)
	}
	if got := namesOf(t, dipper.Answer{}); strings.Join(got, " ") != "bytes code codeText durationMs outcome result url" {
		t.Errorf("an empty answer has the names %v", got)
	}
	err := &dipper.Error{Stage: dipper.StageRetrieve, URL: "https://harbour.example/", Fault: &fault.Error{
		Kind: fault.Limited, Cause: fault.BySite, Detail: "d", Code: 429, RetryAfter: time.Second, Excerpt: "e", Err: errors.New("inner")}}
	if got := strings.Join(namesOf(t, err), " "); got != failureNames {
		t.Errorf("a failure has the names %s", got)
	}
	if got := strings.Join(namesOf(t, dipper.FailureOf(errors.New("odd"), "")), " "); got != "error error.advice error.kind error.message error.retryable" {
		t.Errorf("a bare failure has the names %s", got)
	}
}

// Real answers and failures of every kind of page hold nothing that is null.
func TestJSONHoldsNoNull(t *testing.T) {
	h := newHouse(t).helper(webtest.Says("At noon."))
	h.page("https://harbour.example/ok", "Content-Type: text/html\n\n<!doctype html><title>T</title><p>The ferry leaves at noon.</p>\n")
	h.page("https://harbour.example/moved", "Status: 301\nLocation: https://new.example/\n\n")
	h.page("https://new.example/", "Content-Type: text/plain\n\nnew\n")
	h.page("https://harbour.example/empty", "Content-Type: text/html\n\n<!doctype html>\n")
	h.page("https://harbour.example/bad", "Status: 500\nContent-Type: text/plain\n\nbad\n")
	h.open()
	for _, path := range []string{"ok", "moved", "empty", "bad", "none"} {
		for _, prompt := range []string{"", "When?"} {
			ans, err := h.Fetch(t.Context(), dipper.Request{URL: "https://harbour.example/" + path, Prompt: prompt})
			if err != nil {
				namesOf(t, err)
			} else {
				namesOf(t, ans)
			}
		}
	}
}

// The text of an error for a log names stage, URL and kind; the JSON form holds
// nothing of the wrapped cause.
func TestErrorTexts(t *testing.T) {
	inner := errors.New("dial tcp 10.0.0.7: refused")
	err := error(&dipper.Error{Stage: dipper.StageRetrieve, URL: ferry, Fault: fault.Wrap(inner, fault.Unreachable, fault.Connect, "no connection to %s", ferry)})
	if got := err.Error(); !strings.Contains(got, "retrieve "+ferry) || !strings.Contains(got, "unreachable/connect") || !strings.Contains(got, "10.0.0.7") {
		t.Errorf("log text %q", got)
	}
	data, _ := json.Marshal(err)
	if strings.Contains(string(data), "10.0.0.7") || !errors.Is(err, fault.Unreachable) || errors.Is(err, fault.Denied) || !errors.Is(err, inner) {
		t.Errorf("JSON %s", data)
	}
}

func TestExitCodes(t *testing.T) {
	want := map[dipper.Outcome]int{dipper.OK: 0, dipper.Partial: 0, dipper.Moved: 0, dipper.Saved: 0, dipper.Empty: 0,
		dipper.Shell: 5, dipper.Login: 5, dipper.Challenge: 5, dipper.NotFound: 5}
	for o, code := range want {
		if got := o.ExitCode(); got != code {
			t.Errorf("%s exits with %d, want %d", o, got, code)
		}
	}
}

func TestStageNamesAreTheRooms(t *testing.T) {
	if got := fmt.Sprint(dipper.Stages()); got != "[check permit preflight retrieve convert extract]" {
		t.Errorf("stages %s", got)
	}
}

func TestEchoesAreBounded(t *testing.T) {
	h := newHouse(t).page("https://harbour.example/", "Content-Type: text/html\n\n<h1 id=\"top\">Harbour</h1><p>The ferry leaves at noon.</p>").open()
	long := strings.Repeat("z", 1_000_000)
	const most = 20_000
	for name, req := range map[string]dipper.Request{
		"url":     {URL: "https://harbour.example/" + long},
		"mode":    {URL: "https://harbour.example/", Mode: dipper.Mode(long)},
		"links":   {URL: "https://harbour.example/", Links: long},
		"section": {URL: "https://harbour.example/", Section: long},
	} {
		_, err := h.Fetch(t.Context(), req)
		text, jsonErr := json.Marshal(dipper.FailureOf(err, req.URL))
		if err == nil || jsonErr != nil || len(text) > most {
			t.Errorf("%s: a failure of %d bytes (%v)", name, len(text), jsonErr)
		}
	}
	if ans := h.fetch(dipper.Request{URL: "https://harbour.example/", Find: long}); len(ans.Result) > most {
		t.Errorf("find: an answer of %d bytes", len(ans.Result))
	}
}
