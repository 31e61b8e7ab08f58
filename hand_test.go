// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/internal/webtest"
	"github.com/dipper-web/dipper/permit"
)

const manual = "https://manual.example/page.md"

// markdownPage serves text as Markdown of a trusted site.
func markdownPage(t *testing.T, text string) *house {
	t.Helper()
	h := newHouse(t).helper(webtest.Says("The helper answers."))
	h.web.Handle(manual, webtest.Page{Header: map[string][]string{"Content-Type": {"text/markdown; charset=utf-8"}}, Body: text})
	var err error
	h.rules.Trusted, err = permit.NewTrusted([]string{"manual.example"}, nil, false)
	h.must(err)
	return h.open()
}

// words is a text of exactly so many characters, in ASCII: a token for four.
func words(chars int) string { return strings.Repeat("tide and wind\n", chars/14+1)[:chars] }

func TestFastPathEndsAtItsNumbers(t *testing.T) {
	wide := strings.Repeat("潮", 20_000) // a token for one
	rows := map[string]struct {
		text   string
		budget int
		path   string
	}{
		"20,000 tokens":                               {words(80_000), 0, "native"},
		"one token more":                              {words(80_004), 0, "helper"},
		"20,000 tokens of wide characters":            {wide, 0, "native"},
		"one wide character more":                     {wide + "潮", 0, "helper"},
		"99,999 characters within a budget":           {words(99_999), 30_000, "native"},
		"100,000 characters":                          {words(100_000), 30_000, "helper"},
		"99,999 characters of several bytes":          {strings.Repeat("é", 99_999), 30_000, "native"},
		"as many tokens as the budget":                {words(400), 100, "native"},
		"more than the budget":                        {words(404), 100, "helper"},
		"a large budget reaches beyond the default":   {words(90_000), 25_000, "native"},
		"the default budget of an answer is no bound": {words(4*dipper.AnswerBudget + 400), 0, "native"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			h := markdownPage(t, row.text)
			ans := h.fetch(dipper.Request{URL: manual, Prompt: "When is high water?", Budget: row.budget})
			if ans.Path != row.path {
				t.Fatalf("path %s, want %s (%d characters, %d tokens)", ans.Path, row.path, utf8.RuneCountInString(row.text), extract.Tokens(row.text))
			}
			if calls := len(h.model.Prompts()); calls != map[string]int{"native": 0, "helper": 1}[row.path] {
				t.Errorf("%d calls of the model", calls)
			}
			if row.path == "native" && ans.Result != row.text {
				t.Errorf("the document was changed on the way")
			}
		})
	}
}

func TestFastPathNotForASection(t *testing.T) {
	h := markdownPage(t, "# Locks\n\nAll locks.\n\n## Old\n\nTurn it twice.\n\n## New\n\nPush it.\n")
	h.fails(dipper.Request{URL: manual, Prompt: "How?", Section: "older"}, "invalid")
	if ans := h.fetch(dipper.Request{URL: manual, Prompt: "How?", Section: "old"}); ans.Path != "helper" {
		t.Errorf("path %s", ans.Path)
	}
}

// The model is given at most 100,000 characters, between tags of a random name on
// lines of their own, and the answer says that it saw a part.
func TestModelSeesAtMostAHundredThousandCharacters(t *testing.T) {
	h := newHouse(t).helper(webtest.Says("Six of them."))
	page := strings.Repeat("The harbour has a quay.\n\n", 12_000)
	h.web.Handle(ferry, webtest.Page{Header: map[string][]string{"Content-Type": {"text/plain"}}, Body: page})
	h.open()
	ans := h.fetch(dipper.Request{URL: ferry, Prompt: "How many quays are there?"})
	if ans.Outcome != dipper.Partial || ans.Path != "helper" {
		t.Errorf("%s by %s", ans.Outcome, ans.Path)
	}
	text := h.model.Prompts()[0].Text
	fence := text[strings.Index(text, "\n<page-")+1:]
	name := fence[1:strings.IndexAny(fence, " >")]
	body := fence[strings.Index(fence, "\n")+1 : strings.Index(fence, "\n</"+name+">\n")]
	if n := utf8.RuneCountInString(body); n > 100_100 || n < 90_000 {
		t.Errorf("the model saw %d characters", n)
	}
	h.fetch(dipper.Request{URL: ferry, Prompt: "How many quays are there now?"})
	if again := h.model.Prompts()[0].Text; strings.Contains(again, name) {
		t.Errorf("the tag %s was used twice", name)
	}
}

// A quotation from a restricted page has at most 125 characters; from a trusted
// one it may be longer.
func TestQuotationCap(t *testing.T) {
	sentence := "The ferry leaves the old quay at six in the morning and comes back at seven, " +
		"then at eight, at nine and at ten, and so on until the last boat at night."
	page := "# Times\n\n" + sentence + "\n" + strings.Repeat("\nNothing else is said about it.\n", 400)
	for _, host := range []string{"https://harbour.example/t.md", manual} {
		h := newHouse(t).helper(webtest.Says("It says: \"" + sentence + "\""))
		h.web.Handle(host, webtest.Page{Header: map[string][]string{"Content-Type": {"text/markdown"}}, Body: page})
		var err error
		h.rules.Trusted, err = permit.NewTrusted([]string{"manual.example open"}, nil, false)
		h.must(err)
		h.open()
		ans := h.fetch(dipper.Request{URL: host, Prompt: "When does it leave?"})
		whole := strings.Contains(ans.Result, sentence)
		if whole != (host == manual) {
			t.Errorf("%s (trusted %q): %q", host, ans.Trusted, ans.Result)
		}
		for _, c := range ans.Citations {
			if n := utf8.RuneCountInString(c.Quote); host != manual && n > 125 {
				t.Errorf("a citation of %d characters", n)
			}
		}
		if !whole {
			webtest.Check(t, ans, []webtest.Line{{Key: "warnings.code", Op: "~", Value: "quote-cut"}})
		}
	}
}

// Citations count characters of the page's Markdown, whatever their bytes.
func TestCitationsCountCharacters(t *testing.T) {
	h := newHouse(t)
	page := strings.Repeat("Äußerst üble Böen über der Förde, sagt Zoë, 潮が満ちる。\n\n", 60) +
		"The crossing costs three crowns on weekdays.\n\n" + strings.Repeat("Nichts weiter, außer Möwen.\n\n", 60)
	h.web.Handle(ferry, webtest.Page{Header: map[string][]string{"Content-Type": {"text/plain; charset=utf-8"}}, Body: page})
	h.open()
	ans := h.fetch(dipper.Request{URL: ferry, Prompt: "What does the crossing cost in crowns?", Budget: 60})
	if len(ans.Citations) == 0 {
		t.Fatalf("no citation: %q", ans.Result)
	}
	runes := []rune(page)
	for _, c := range ans.Citations {
		if got := string(runes[c.Start:c.End]); got != c.Quote {
			t.Errorf("characters %d to %d are %q, the quote is %q", c.Start, c.End, got, c.Quote)
		}
	}
	if shown := ans.Shown; shown.Tokens > 60 || shown.Chars != utf8.RuneCountInString(ans.Result) {
		t.Errorf("shown %+v", shown)
	}
}

// Passages stay within 1,000 tokens where no budget is named.
func TestExtractBudget(t *testing.T) {
	h := newHouse(t)
	h.web.Handle(ferry, webtest.Page{Header: map[string][]string{"Content-Type": {"text/plain"}},
		Body: strings.Repeat("The ferry leaves at noon, in fog and in rain, from the old quay.\n\n", 800)})
	h.open()
	ans := h.fetch(dipper.Request{URL: ferry, Prompt: "When does the ferry leave?"})
	if n := extract.Tokens(ans.Result); n > dipper.ExtractBudget || n < dipper.ExtractBudget/2 || n != ans.Shown.Tokens {
		t.Errorf("%d tokens; shown %+v", n, ans.Shown)
	}
	if ans.Outcome != dipper.OK {
		t.Errorf("choosing passages is not cutting: %s", ans.Outcome)
	}
}

func TestNewNeedsPermitAndGet(t *testing.T) {
	if _, err := dipper.New(dipper.Options{}); err == nil {
		t.Error("a client without permission was made")
	} else {
		wantFault(t, err, "invalid")
	}
}
