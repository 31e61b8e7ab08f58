// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/dipper-web/dipper/fault"
)

// scripted is a model that does what a function says, and keeps what it was given.
type scripted struct {
	say  func(ctx context.Context, p Prompt) (Completion, error)
	seen []Prompt
}

func (s *scripted) Name() string { return "claude-haiku-4-5" }

func (s *scripted) Complete(ctx context.Context, p Prompt) (Completion, error) {
	s.seen = append(s.seen, p)
	return s.say(ctx, p)
}

var fenced = regexp.MustCompile(`(?s)\n<(page-[0-9a-f]{32})( [^<>\n]*)?>\n(.*)\n</(page-[0-9a-f]{32})>\n`)

func says(text string) *scripted {
	return &scripted{say: func(context.Context, Prompt) (Completion, error) {
		return Completion{Text: text, Stop: StopEnd, Usage: Usage{In: 29_439, Out: 710}}, nil
	}}
}

func echoes() *scripted {
	return &scripted{say: func(_ context.Context, p Prompt) (Completion, error) {
		return Completion{Text: fenced.FindStringSubmatch(p.Text)[3], Stop: StopEnd}, nil
	}}
}

func answer(t *testing.T, m Model, a Ask) Reply {
	t.Helper()
	r, err := (&Reader{Model: m}).Answer(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	exact(t, a.Doc, r.Citations)
	if r.ShownTokens != Tokens(r.Text) || r.ShownChars != utf8.RuneCountInString(r.Text) {
		t.Errorf("shown %d, %d do not measure the text", r.ShownTokens, r.ShownChars)
	}
	return r
}

// counts gives the warnings by code.
func counts(r Reply) map[string]int {
	out := map[string]int{}
	for _, w := range r.Warnings {
		out[w.Code] += max(w.Count, 1)
	}
	return out
}

var page = Doc{URL: "https://plans.example/list", Title: "Plans \"<b>\n", Markdown: "# Plans\n\nPlan names: Dory, Skiff. The Dory costs 12 dollars a month and carries four people across the bay.\n\n" +
	"The Skiff is larger: it carries nine people, but it may not leave the harbour after dusk without a pilot on board.\n\n" +
	"```sh\nplanctl order --name dory --months 12 --people 4 --harbour north --pilot none --insurance full --payment card --confirm --verbose --trace\n```\n\n| plan | price |\n| --- | --- |\n| Dory | 12 |\n| Skiff | 30 |\n"}

func TestPromptFence(t *testing.T) {
	m := echoes()
	for range 2 {
		answer(t, m, Ask{Doc: page, Prompt: "Which plans are there?", Trusted: true})
	}
	names := map[string]bool{}
	for _, p := range m.seen {
		f := fenced.FindStringSubmatch(p.Text)
		if f == nil || f[1] != f[4] || f[3] != page.Markdown {
			t.Fatalf("the page is not in its fence: %q", p.Text)
		}
		names[f[1]] = true
		if want := ` origin="https://plans.example/list" title="Plans ''b' "`; f[2] != want {
			t.Errorf("the opening tag says %q, want %q", f[2], want)
		}
		if p.System != "" || strings.Index(p.Text, "Which plans are there?") < strings.Index(p.Text, "</"+f[1]) {
			t.Error("a system prompt, or the task does not follow the page")
		}
		if !strings.Contains(p.Text, "Use only what stands between the tags") || p.MaxTokens != 2500 {
			t.Errorf("policy or %d tokens", p.MaxTokens)
		}
	}
	if len(names) != 2 {
		t.Error("a name was used twice")
	}
}

func TestPolicies(t *testing.T) {
	m := says("Dory and Skiff.")
	answer(t, m, Ask{Doc: page, Prompt: "names?"})
	answer(t, m, Ask{Doc: page, Prompt: "names?", Trusted: true})
	answer(t, m, Ask{Doc: page, Prompt: "names?", MaxQuote: 60})
	for i, want := range [][]string{{"at most 125 characters", "lyrics", "lawful", "your own words"}, {"samples of code"}, {"at most 60 characters"}} {
		for _, w := range want {
			if !strings.Contains(m.seen[i].Text, w) {
				t.Errorf("prompt %d does not say %q", i, w)
			}
		}
	}
	if strings.Contains(m.seen[1].Text, "lyrics") {
		t.Error("a trusted page has the rules of a restricted one")
	}
}

func TestAnswerCost(t *testing.T) {
	r := answer(t, says("Dory and Skiff."), Ask{Doc: page, Prompt: "names?"})
	if len(r.Calls) != 1 || fmt.Sprintf("%.4f", r.Calls[0].CostUSD) != "0.0330" || r.Calls[0].Purpose != "reader" || r.Path != PathHelper {
		t.Errorf("%+v", r)
	}
}

func TestAnswerEcho(t *testing.T) {
	r := answer(t, echoes(), Ask{Doc: page, Prompt: "all", Trusted: true})
	if r.Text != strings.TrimSpace(page.Markdown) || len(r.Warnings) != 0 || r.Partial {
		t.Errorf("an echo of a trusted page is changed: %+v", r)
	}
	r = answer(t, echoes(), Ask{Doc: page, Prompt: "all"})
	if counts(r)[WarnQuoteCut] == 0 || strings.Contains(r.Text, "without a pilot on board") {
		t.Errorf("an echo of a restricted page is not cut: %q", r.Text)
	}
	for _, whole := range []string{"--confirm --verbose --trace", "| Skiff | 30 |"} {
		if !strings.Contains(r.Text, whole) {
			t.Errorf("code or a table row was cut: %q is not in %q", whole, r.Text)
		}
	}
}

func TestAnswerFailures(t *testing.T) {
	tests := []struct {
		name string
		c    Completion
		err  error
		says string
	}{
		{"empty", Completion{Text: " \n", Stop: StopEnd}, nil, "empty"},
		{"refusal", Completion{Text: "I cannot help with that.", Stop: StopRefusal}, nil, "refused"},
		{"broken", Completion{}, errors.New("overloaded_error: try later"), "failed"},
		{"known fault", Completion{}, fault.New(fault.Model, "", "the service answered 529"), "529"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &scripted{say: func(context.Context, Prompt) (Completion, error) { return tt.c, tt.err }}
			r, err := (&Reader{Model: m}).Answer(context.Background(), Ask{Doc: page, Prompt: "x"})
			if !errors.Is(err, fault.Model) || r.Text != "" {
				t.Fatalf("got %+v, %v", r, err)
			}
			if f := fault.From(err); !strings.Contains(f.Detail, tt.says) {
				t.Errorf("%q does not say %q", f.Detail, tt.says)
			}
		})
	}
	if _, err := (&Reader{}).Answer(context.Background(), Ask{Doc: page}); !errors.Is(err, fault.Invalid) {
		t.Errorf("without a model: %v", err)
	}
	r := answer(t, nil, Ask{Doc: page, Prompt: "names", PassagesOnly: true})
	if r.Path != PathPassages {
		t.Errorf("passages only: %+v", r)
	}
}

func TestAnswerTimeout(t *testing.T) {
	hangs := &scripted{say: func(ctx context.Context, _ Prompt) (Completion, error) {
		<-ctx.Done()
		return Completion{}, fault.Wrap(ctx.Err(), fault.Model, "", "the connection broke")
	}}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r, err := (&Reader{Model: hangs}).Answer(t.Context(), Ask{Doc: page, Prompt: "Skiff people"})
		if err != nil || !r.Partial || counts(r)[WarnModelTimeout] != 1 || r.Path != PathPassages || !strings.Contains(r.Text, "nine people") {
			t.Errorf("got %+v, %v", r, err)
		}
		if took := time.Since(start); took != ModelTimeout {
			t.Errorf("after %v", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := (&Reader{Model: hangs}).Answer(ctx, Ask{Doc: page, Prompt: "x"}); !errors.Is(err, fault.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := (&Reader{Model: hangs}).Answer(ctx, Ask{Doc: page, Prompt: "x"}); !errors.Is(err, fault.Timeout) {
			t.Errorf("the caller's deadline: %v", err)
		}
	})
}

// longPage has n clauses and one special one at the end.
func longPage(n int) Doc {
	var b strings.Builder
	b.WriteString("# Terms\n\nThese terms rule the harbour.\n\n")
	for i := range n {
		fmt.Fprintf(&b, "## Clause %d\n\nWords of clause %d that fill the page with more and more text until it is very long indeed, as such terms tend to be, and then some more.\n\n", i, i)
	}
	b.WriteString("## Buoys\n\nReturn the buoy before noon.\n")
	d := Doc{Markdown: b.String()}
	d.Sections = parse(d, 1000).sections
	d.Sections[len(d.Sections)-1].ID = "buoy"
	return d
}

func TestAnswerLongPage(t *testing.T) {
	d := longPage(1500)
	total := thousands(utf8.RuneCountInString(d.Markdown))
	tests := []struct {
		name string
		ask  Ask
		see  string
	}{
		{"by prompt", Ask{Doc: d, Prompt: "When must a buoy be returned?"}, "Return the buoy before noon."},
		{"by section", Ask{Doc: d, Prompt: "Return the content of this page.", Section: "buoy"}, "Return the buoy before noon."},
		{"the beginning", Ask{Doc: d, Prompt: "Summarise this page."}, "Words of clause 500 "},
		{"always the opening", Ask{Doc: d, Prompt: "clause 1234"}, "These terms rule the harbour."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := echoes()
			tt.ask.Trusted, tt.ask.Budget = true, 100_000
			r := answer(t, m, tt.ask)
			given := fenced.FindStringSubmatch(m.seen[0].Text)[3]
			if n := utf8.RuneCountInString(given); n > MaxPageChars || n < MaxPageChars*9/10 {
				t.Errorf("the model was given %d characters", n)
			}
			if !strings.Contains(given, tt.see) {
				t.Errorf("the model does not see %q", tt.see)
			}
			if !strings.Contains(m.seen[0].Text, "The page was cut for you") || !strings.Contains(m.seen[0].Text, total) {
				t.Error("the model is not told that it sees a part")
			}
			if !r.Partial || counts(r)[WarnTruncated] != 1 || !strings.Contains(r.Text, "of "+total+" characters") {
				t.Errorf("the reply does not say so: partial %t, %v, …%s", r.Partial, r.Warnings, r.Text[max(0, len(r.Text)-100):])
			}
		})
	}
}

func TestAnswerHugeLine(t *testing.T) {
	d := Doc{Markdown: "[" + strings.Repeat(`{"id":0,"name":"sensor","unit":"kPa"},`, 70_000) + "]", Kind: "json"}
	start := time.Now()
	r := answer(t, echoes(), Ask{Doc: d, Prompt: "Return the content of this page.", Trusted: true, Budget: 100_000})
	if !r.Partial || !strings.HasPrefix(r.Text, `[{"id":0`) || r.ShownChars > 101_000 {
		t.Errorf("partial %t, %d characters, %q", r.Partial, r.ShownChars, r.Text[:40])
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("%v", took)
	}
}

func TestAnswerBudget(t *testing.T) {
	m := says(strings.Repeat("The Dory carries four people. ", 200))
	r := answer(t, m, Ask{Doc: page, Prompt: "x", Budget: 100, Trusted: true})
	if r.ShownTokens > 100 || r.ShownTokens < 80 || !r.Partial || counts(r)[WarnTruncated] != 1 || m.seen[0].MaxTokens != 125 {
		t.Errorf("%d tokens, partial %t, %v, at most %d", r.ShownTokens, r.Partial, r.Warnings, m.seen[0].MaxTokens)
	}
	m = &scripted{say: func(context.Context, Prompt) (Completion, error) {
		return Completion{Text: "The Dory carries", Stop: StopLength}, nil
	}}
	if r = answer(t, m, Ask{Doc: page, Prompt: "x"}); !r.Partial || !strings.Contains(r.Text, "cut at its budget") {
		t.Errorf("stopped by length: %+v", r)
	}
	if answer(t, m, Ask{Doc: page, Prompt: "x", Budget: 10_000_000}); m.seen[1].MaxTokens != maxAnswerTokens {
		t.Errorf("at most %d tokens", m.seen[1].MaxTokens)
	}
}

func TestAnswerRepeatsTags(t *testing.T) {
	m := &scripted{say: func(_ context.Context, p Prompt) (Completion, error) {
		return Completion{Text: strings.TrimSpace(fenced.FindString(p.Text))}, nil
	}}
	if r := answer(t, m, Ask{Doc: page, Prompt: "x", Trusted: true}); r.Text != strings.TrimSpace(page.Markdown) {
		t.Errorf("got %q", r.Text)
	}
}

func TestFenceNameIsNotInThePage(t *testing.T) {
	a, b := fenceName(""), fenceName("")
	if a == b || len(a) != len("page-")+32 {
		t.Errorf("%s, %s", a, b)
	}
}

func ExampleReader_Answer() {
	model := says(`There are two: Dory and Skiff. The Skiff "carries nine people".`)
	r, err := (&Reader{Model: model}).Answer(context.Background(), Ask{Doc: page, Prompt: "Which plans are there?"})
	fmt.Println(r.Text, err)
	fmt.Println(r.Citations[0].Quote)
	// Output:
	// There are two: Dory and Skiff. The Skiff "carries nine people". <nil>
	// carries nine people
}
