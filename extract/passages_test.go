// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// manual is a page that is too long for the budgets of these tests.
func manual() Doc {
	var b strings.Builder
	b.WriteString("# Harbour manual\n\nThis manual describes the harbour daemon, its settings and its tools.\n\n## Settings\n\nThe daemon reads these settings:\n\n")
	b.WriteString("mooring.limit\n: How many boats may moor at one time. Default: `64`. Larger numbers need a longer pier.\n\n")
	b.WriteString("mooring.grace\n: Seconds before an unanswered call is dropped. Default: `30`.\n\n")
	for i := range 60 {
		fmt.Fprintf(&b, "beacon.channel%d\n: Assigns a frequency to beacon %d. The frequency is given in kilohertz, and beacons that share one are merged.\n\n", i, i)
	}
	b.WriteString("## Signals\n\nThe table lists every flag signal.\n\n| Signal | Meaning | Code |\n| --- | --- | --- |\n")
	for i := range 50 {
		fmt.Fprintf(&b, "| flag-%d | message number %d for vessels | %d |\n", i, i, 7000+i)
	}
	b.WriteString("| quarantine | the vessel carries disease | 9911 |\n\n## Starting the daemon\n\nThe daemon is started by hand after a crash:\n\n")
	b.WriteString("```sh\nharbourd --recover \\\n\n  --journal /var/lib/harbour/journal\nharbourctl status\n```\n\nIt then replays the journal.\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "## Chapter %d\n\nFiller about ropes, knots and paint number %d. Sailors like to talk about weather. Tides come and go.\n\n", i, i)
	}
	b.WriteString("## Licences\n\nA skipper cannot renew a licence by post. The licence office is open on Tuesdays.\n")
	d := Doc{URL: "https://harbour.example/manual", Title: "Harbour manual", Markdown: b.String()}
	d.Sections = parse(d, 1000).sections
	for i := range d.Sections {
		d.Sections[i].ID = strings.ReplaceAll(strings.ToLower(d.Sections[i].Title), " ", "-")
	}
	return d
}

// exact fails where a citation is not the text at its offsets.
func exact(t *testing.T, d Doc, cs []Citation) {
	t.Helper()
	for _, c := range cs {
		if c.Start < 0 || c.End > len(d.Markdown) || c.Start >= c.End || d.Markdown[c.Start:c.End] != c.Quote {
			t.Errorf("citation %+v is not the text at its offsets", c)
		}
	}
}

func TestPassages(t *testing.T) {
	d := manual()
	tests := []struct {
		name, prompt string
		want         []string
		not          []string
	}{
		{"a setting with its term", "What is the default number of boats that can moor?", []string{"## Settings", "mooring.limit\n: How many boats", "`64`"}, nil},
		{"an identifier", "mooring.grace", []string{"mooring.grace\n: Seconds"}, nil},
		{"other words for the same", "How do I launch it after it went down?", []string{"started by hand"}, nil},
		{"a row with its header", "What does the quarantine flag mean?", []string{"| Signal | Meaning | Code |\n| --- | --- | --- |", "| quarantine | the vessel carries disease | 9911 |"}, nil},
		{"whole code", "recover the journal with harbourd", []string{"```sh\nharbourd --recover \\\n\n  --journal /var/lib/harbour/journal\nharbourctl status\n```"}, nil},
		{"a no", "Can I renew my licence by mail?", []string{"A skipper cannot renew a licence by post."}, nil},
		{"chinese question, english page", "默认最多允许多少艘船停泊?", []string{"mooring.limit"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Passages(Ask{Doc: d, Prompt: tt.prompt, Budget: 300})
			for _, w := range tt.want {
				if !strings.Contains(r.Text, w) {
					t.Errorf("%q is not in\n%s", w, r.Text)
				}
			}
			if r.Path != PathPassages || r.Partial || r.ShownTokens != Tokens(r.Text) || r.ShownTokens > 300 {
				t.Errorf("reply %s, partial %t, %d tokens", r.Path, r.Partial, r.ShownTokens)
			}
			if len(r.Citations) == 0 {
				t.Error("no citation")
			}
			exact(t, d, r.Citations)
		})
	}
}

func TestPassagesOrderAndGaps(t *testing.T) {
	d := manual()
	r := Passages(Ask{Doc: d, Prompt: "licence office, mooring limit, channel20, quarantine signal", Budget: 400})
	order := []string{"mooring.limit", "quarantine", "licence"}
	last := -1
	for _, w := range order {
		at := strings.Index(r.Text, w)
		if at < last {
			t.Fatalf("%s is out of order in\n%s", w, r.Text)
		}
		last = at
	}
	if !strings.Contains(r.Text, gap) {
		t.Errorf("no mark between parts that are not neighbours:\n%s", r.Text)
	}
	if n := strings.Count(r.Text, "## Settings"); n != 1 {
		t.Errorf("the section stands %d times", n)
	}
	for _, c := range r.Citations {
		if c.Section == "" {
			t.Errorf("citation without section: %+v", c)
		}
	}
}

func TestPassagesBudgets(t *testing.T) {
	d := manual()
	for _, prompt := range []string{"", "what is this page about?", "beacon frequency kilohertz", "knots", "journal --recover", "zebra", "默认", "の"} {
		for _, budget := range []int{1, 5, 20, 50, 100, 333, 1000, 2000} {
			r := Passages(Ask{Doc: d, Prompt: prompt, Budget: budget})
			if r.ShownTokens > budget {
				t.Errorf("%q at %d: %d tokens", prompt, budget, r.ShownTokens)
			}
			if budget >= 100 && prompt != "默认" && r.ShownTokens < budget/4 {
				t.Errorf("%q at %d: only %d tokens", prompt, budget, r.ShownTokens)
			}
			exact(t, d, r.Citations)
		}
	}
	if r := Passages(Ask{Doc: d, Prompt: "beacon frequency"}); r.ShownTokens > PassageBudget || r.ShownTokens < PassageBudget/2 {
		t.Errorf("no budget: %d tokens", r.ShownTokens)
	}
}

func TestPassagesOfNothing(t *testing.T) {
	d := manual()
	for _, prompt := range []string{"", "Summarise this page.", "请总结这个页面的内容", "xylophone quux", "???"} {
		r := Passages(Ask{Doc: d, Prompt: prompt, Budget: 600})
		if !strings.HasPrefix(r.Text, "# Harbour manual") || !strings.Contains(r.Text, "Sections of this page") || !strings.Contains(r.Text, "- Settings (settings)") {
			t.Errorf("%q: not the beginning with the outline:\n%s", prompt, r.Text)
		}
	}
	if r := Passages(Ask{}); r.Text != "" || len(r.Citations) != 0 {
		t.Errorf("of an empty document: %+v", r)
	}
}

func TestPassagesWhole(t *testing.T) {
	d := Doc{Markdown: "# A\n\nshort [x](/y)\n"}
	if r := Passages(Ask{Doc: d, Prompt: "anything"}); r.Text != d.Markdown {
		t.Errorf("a document that fits came back as %q", r.Text)
	}
}

func TestPassagesSection(t *testing.T) {
	d := manual()
	r := Passages(Ask{Doc: d, Prompt: "paint number", Section: "chapter-17", Budget: 200})
	if !strings.Contains(r.Text, "paint number 17") {
		t.Errorf("the section asked for is missing:\n%s", r.Text)
	}
	r = Passages(Ask{Doc: d, Prompt: "When is the licence office open?", Section: "chapter-17", Budget: 200})
	if !strings.Contains(r.Text, "open on Tuesdays") {
		t.Errorf("an answer outside the section asked for is missing:\n%s", r.Text)
	}
	r = Passages(Ask{Doc: d, Section: "chapter-17", Budget: 200})
	if !strings.HasPrefix(r.Text, "## Chapter 17") {
		t.Errorf("no prompt: %s", r.Text)
	}
}

func TestPassagesQuoteCap(t *testing.T) {
	long := strings.Repeat("The tide at the northern pier turns at dusk and nobody there knows why it does ", 4)
	d := Doc{Markdown: long + ".\n\n" + strings.Repeat("Other text about ropes. ", 500)}
	restricted := Passages(Ask{Doc: d, Prompt: "northern pier tide", Budget: 200})
	trusted := Passages(Ask{Doc: d, Prompt: "northern pier tide", Budget: 200, Trusted: true})
	for _, c := range restricted.Citations {
		if len([]rune(c.Quote)) > MaxQuote {
			t.Errorf("a citation of %d characters from a restricted page", len([]rune(c.Quote)))
		}
	}
	if len(trusted.Citations) == 0 || len(trusted.Citations[0].Quote) <= MaxQuote {
		t.Errorf("a trusted page's citation is cut: %+v", trusted.Citations)
	}
}

func TestPassagesTooSmallBudget(t *testing.T) {
	d := Doc{Markdown: strings.Repeat("Nothing here. ", 200) + "\n\nThe northern pier " + strings.Repeat("is long and ", 30) + "old."}
	r := Passages(Ask{Doc: d, Prompt: "northern pier", Budget: 10})
	if !strings.HasPrefix(r.Text, "The northern pier") || r.ShownTokens > 10 {
		t.Errorf("got %q", r.Text)
	}
	exact(t, d, r.Citations)
}

func TestPassagesLeanLinks(t *testing.T) {
	d := Doc{URL: "https://a.example/x", Markdown: "See the [pier rules](https://a.example/rules/with/a/long/path) and the [port](https://b.example/p), the ![map](https://a.example/m.png) of it, [here](/there).\n\n" +
		strings.Repeat("Filler words about nothing. ", 200)}
	r := Passages(Ask{Doc: d, Prompt: "pier rules", Budget: 100})
	if want := "See the pier rules and the [port](https://b.example/p), the map of it, here."; !strings.Contains(r.Text, want) {
		t.Errorf("%q is not in %q", want, r.Text)
	}
	exact(t, d, r.Citations)
}

func TestPassagesLargeCode(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Parameters\n\n```\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "  param%d=    [HW]\n      Sets register %d of the board.\n\n", i, i)
	}
	b.WriteString("```\n")
	r := Passages(Ask{Doc: Doc{Markdown: b.String()}, Prompt: "param2345", Budget: 300})
	if !strings.Contains(r.Text, "param2345=") || !strings.Contains(r.Text, "Sets register 2345") {
		t.Errorf("not found inside a code block larger than the budget:\n%s", r.Text)
	}
}

func TestPassagesSpeed(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 2_800_000; i++ {
		fmt.Fprintf(&b, "## method%d(path[, options])\n\n- `path` string of the thing number %d\n- `options` Object\n  - `mode%d` integer. Default: `0o666`\n\nOpens a file by the name of %d. See [there](#x%d) for more; it cannot be undone.\n\n```js\nconst x%d = open('%d');\n```\n\n", i, i, i, i, i, i, i)
	}
	start := time.Now()
	r := Passages(Ask{Doc: Doc{Markdown: b.String()}, Prompt: "what is the default of mode777, and can it be changed?", Budget: 1000})
	if took := time.Since(start); took > time.Minute {
		t.Errorf("%v for 2.8 million characters", took)
	}
	if !strings.Contains(r.Text, "mode777") {
		t.Error("not found")
	}
}

func FuzzPassages(f *testing.F) {
	f.Add("# A\n\nb c d\n\n| e | f |\n|---|---|\n| g | h |\n\n- [i](j)\n\n```\nk\n```\n", "c g 文", 10, "a")
	f.Fuzz(func(t *testing.T, md, prompt string, budget int, section string) {
		if budget < 1 || budget > 10_000 {
			return
		}
		d := Doc{Markdown: md}
		r := Passages(Ask{Doc: d, Prompt: prompt, Budget: budget, Section: section})
		if r.ShownTokens > budget {
			t.Errorf("%d tokens of %d: %q", r.ShownTokens, budget, r.Text)
		}
		exact(t, d, r.Citations)
	})
}

func ExamplePassages() {
	page := "# Kettle\n\n## Care\n\nRinse it weekly.\n\n## Limits\n\nThe kettle holds 1.7 litres. Never fill it above the mark.\n\n" +
		strings.Repeat("## Story\n\nMade with love by people who like tea.\n\n", 20)
	r := Passages(Ask{Doc: Doc{Markdown: page}, Prompt: "How many litres does it hold?", Budget: 24})
	fmt.Println(r.Text)
	// Output:
	// ## Limits
	//
	// The kettle holds 1.7 litres. Never fill it above the mark.
}

func TestPiecesOfCodeStandInFences(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Manual\n\nThe samples follow.\n\n```go\n")
	for i := range 60 {
		fmt.Fprintf(&b, "func sample%d() {\n\tprepare(%d)\n\tcheckWeather(%d)\n\tleaveHarbour(%d)\n}\n\n", i, i, i, i)
	}
	b.WriteString("func anchorBuoy() {\n\tdrop(heavyAnchor)\n\twait()\n}\n```\n\nEnd of the manual.\n")
	for budget := 40; budget < 400; budget += 7 {
		r := Passages(Ask{Doc: Doc{Markdown: b.String()}, Prompt: "how is the anchorBuoy dropped?", Budget: budget})
		if n := strings.Count(r.Text, "```"); n%2 != 0 {
			t.Errorf("budget %d: %d fences, one is not closed:\n%s", budget, n, r.Text)
		}
		if strings.Contains(r.Text, "```\n```") || strings.Contains(r.Text, "```go\n}\n") {
			t.Errorf("budget %d: a fence that holds nothing:\n%s", budget, r.Text)
		}
		if strings.Contains(r.Text, "drop(heavyAnchor)") && !strings.Contains(r.Text, "```go\n") {
			t.Errorf("budget %d: code outside a fence:\n%s", budget, r.Text)
		}
		if got := Tokens(r.Text); got > budget {
			t.Errorf("budget %d: %d tokens", budget, got)
		}
	}
}

// What could make the split fail or never end: blanks without end, signs that the
// rules of UAX 29 look past, one line of everything.
func TestHostileText(t *testing.T) {
	for name, text := range map[string]string{
		"blanks":     "sentence." + strings.Repeat(" ", 6000) + "x and the harbour",
		"quotations": "The iteration order is here." + strings.Repeat(`"`, 200_000),
		"brackets":   "The iteration order is here." + strings.Repeat(`)`, 200_000),
		"dots":       "The iteration order" + strings.Repeat(`. `, 200_000),
	} {
		r := Passages(Ask{Doc: Doc{Markdown: "# A\n\n" + text + "\n"}, Prompt: "which iteration order in the harbour?", Budget: 300})
		if r.Text == "" || Tokens(r.Text) > 300 {
			t.Errorf("%s: %d tokens", name, Tokens(r.Text))
		}
	}
}
