// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"strings"
	"testing"
)

func atomsOf(md string) []string {
	p := parse(Doc{Markdown: md}, 1000)
	names := map[kind]string{heading: "heading", prose: "prose", item: "item", row: "row", code: "code"}
	var out []string
	for _, a := range p.atoms {
		s := names[a.kind] + " " + md[a.start:a.end]
		if a.lead >= 0 {
			l := p.atoms[a.lead]
			s += " <- " + md[l.start:l.end]
		}
		out = append(out, strings.ReplaceAll(s, "\n", "⏎"))
	}
	return out
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, md string
		want     []string
	}{
		{"sentences keep abbreviations", "The tool, e.g. Make, reads Fig. 3 before Dr. Smith does. It then writes all of its files to the disk.",
			[]string{"prose The tool, e.g. Make, reads Fig. 3 before Dr. Smith does.", "prose It then writes all of its files to the disk."}},
		{"a line end is no sentence end", "A paragraph of plain text that\nis wrapped at some column goes on\nhere, and it is only one sentence.",
			[]string{"prose A paragraph of plain text that⏎is wrapped at some column goes on⏎here, and it is only one sentence."}},
		{"chinese sentences", "这是第一句，它说明了默认的设置和它们的用途以及所有的限制。这是第二句，它说明了怎样修改这些设置并且重新启动服务。",
			[]string{"prose 这是第一句，它说明了默认的设置和它们的用途以及所有的限制。", "prose 这是第二句，它说明了怎样修改这些设置并且重新启动服务。"}},
		{"code stays whole", "Run this:\n\n```sh\na\n\nb\n```\n\nDone.",
			[]string{"prose Run this:", "code ```sh⏎a⏎⏎b⏎``` <- Run this:", "prose Done."}},
		{"a heading inside code is none", "# A\n\n~~~\n# not a heading\n~~~\n", []string{"heading # A", "code ~~~⏎# not a heading⏎~~~"}},
		{"rows know their header", "| k | v |\n| --- | --- |\n| a | 1 |\n| b | 2 |",
			[]string{"row | k | v |⏎| --- | --- |", "row | a | 1 | <- | k | v |⏎| --- | --- |", "row | b | 2 | <- | k | v |⏎| --- | --- |"}},
		{"meanings know their term", "alpha\n: The first letter.\n\n  It has more to it.\n\nbeta\n: The second.",
			[]string{"prose alpha", "prose : The first letter. <- alpha", "prose It has more to it. <- alpha", "prose beta", "prose : The second. <- beta"}},
		{"items know their introduction", "The options:\n\n- one\n  - inner\n- two",
			[]string{"prose The options:", "item - one <- The options:", "item - inner <- - one", "item - two <- The options:"}},
		{"a link target is no sentence end", "Look at [the list of all the known issues](https://example.org/list?a=1) before you report a new one.",
			[]string{"prose Look at [the list of all the known issues](https://example.org/list?a=1) before you report a new one."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := atomsOf(tt.md)
			for i, g := range got {
				got[i] = strings.Replace(g, "prose   ", "prose ", 1)
				got[i] = strings.Replace(got[i], "item   ", "item ", 1)
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestParseSections(t *testing.T) {
	md := "intro\n\n# Top\n\na\n\n## One\n\nb\n\n### Deep\n\nc\n\n## Two\n\nd\n"
	p := parse(Doc{Markdown: md}, 1000)
	want := map[string]string{"Top": md[strings.Index(md, "# Top"):], "One": "## One\n\nb\n\n### Deep\n\nc\n\n", "Deep": "### Deep\n\nc\n\n", "Two": "## Two\n\nd\n"}
	if len(p.sections) != len(want) {
		t.Fatalf("%d sections", len(p.sections))
	}
	for _, s := range p.sections {
		if got := md[s.Start:s.End]; got != want[s.Title] {
			t.Errorf("%s: %q", s.Title, got)
		}
	}
	if got := strings.Join(p.sections[2].Path, "/"); got != "Top/One/Deep" {
		t.Errorf("path %s", got)
	}
}

func TestParseBounds(t *testing.T) {
	for name, md := range map[string]string{
		"one line":      strings.Repeat(`{"id":1,"name":"sensor"},`, 40_000),
		"no blanks":     strings.Repeat("x", 300_000),
		"wide":          strings.Repeat("字", 100_000),
		"large code":    "```\n" + strings.Repeat("key = value\n", 20_000) + "```",
		"code, no line": "```\n" + strings.Repeat("y", 200_000) + "\n```",
		"open code":     "```\n" + strings.Repeat("z\n", 1000),
		"backticks":     strings.Repeat("`", 10_000) + " a. b",
	} {
		t.Run(name, func(t *testing.T) {
			last := 0
			for _, a := range parse(Doc{Markdown: md}, 1000).atoms {
				if a.start < last || a.end <= a.start || a.end > len(md) {
					t.Fatalf("atom %d to %d after %d", a.start, a.end, last)
				}
				if n := a.end - a.start; n > 3*maxAtom {
					t.Fatalf("an atom of %d bytes", n)
				}
				last = a.end
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# A\n\n- b\n  - c\n\n| d | e |\n|---|---|\n| f | g |\n\n```\nh\n```\n\nterm\n: meaning. More 文字。再来。\n> quote")
	f.Fuzz(func(t *testing.T, md string) {
		last := 0
		for _, a := range parse(Doc{Markdown: md}, 50).atoms {
			if a.start < last || a.end < a.start || a.end > len(md) {
				t.Fatalf("atom %d to %d after %d of %q", a.start, a.end, last, md)
			}
			last = a.end
		}
	})
}
