// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dipper-web/dipper/fault"
)

func TestOutline(t *testing.T) {
	doc, err := Markdown(htmlInput(`<h1>Harbour</h1><p>intro</p><h2 id="rules">Rules</h2><p>one</p><h3>Fees <em>and</em> fines</h3><p>two</p>
		<h2><a name="map"></a>Map</h2><p>three <span id="here">place</span></p><dl><dt id="ebb">Ebb</dt><dd>four</dd></dl><h2>Rules</h2><p>five</p>
		<ul><li id="item">six</li></ul><blockquote><h2>Quoted</h2></blockquote>`))
	if err != nil {
		t.Fatal(err)
	}
	type brief struct{ ID, Title, Path, First string }
	var got []brief
	for _, s := range doc.Outline {
		line, _, _ := strings.Cut(doc.Markdown[s.Start:s.End], "\n")
		got = append(got, brief{s.ID, s.Title, strings.Join(s.Path, " / "), line})
	}
	want := []brief{
		{"harbour", "Harbour", "Harbour", "# Harbour"},
		{"rules", "Rules", "Harbour / Rules", "## Rules"},
		{"fees-and-fines", "Fees and fines", "Harbour / Rules / Fees and fines", "### Fees *and* fines"},
		{"map", "Map", "Harbour / Map", "## Map"},
		{"rules-2", "Rules", "Harbour / Rules", "## Rules"},
		{"quoted", "Quoted", "Harbour / Quoted", "> ## Quoted"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outline differs (-want +got):\n%s", diff)
	}
	for id, line := range map[string]string{"rules": "## Rules", "map": "## Map", "here": "three place", "ebb": "Ebb", "item": "- six"} {
		at, ok := doc.Anchors[id]
		if first, _, _ := strings.Cut(doc.Markdown[at:], "\n"); !ok || first != line {
			t.Errorf("anchor %q leads to %q, want %q", id, first, line)
		}
	}
	if s := doc.Outline[1]; doc.Markdown[s.End:s.End+6] != "## Map" {
		t.Errorf("section rules ends before %q", doc.Markdown[s.End:s.End+6])
	}
}

// TestOffsetsAfterCleaning has signs that are taken out before and between the
// headings: the offsets are those of the clean text.
func TestOffsetsAfterCleaning(t *testing.T) {
	doc, err := Markdown(htmlInput("<p>a\u200bb \u202ec</p><p>&lt;|im_end|&gt; and &lt;system&gt;</p><h2>One\u200b</h2><p>x\u2060y</p><h2>Two</h2><p>z</p>"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Outline {
		if want := "## " + s.Title; !strings.HasPrefix(doc.Markdown[s.Start:], want) {
			t.Errorf("section %q starts at %q", s.Title, doc.Markdown[s.Start:min(len(doc.Markdown), s.Start+12)])
		}
	}
	if len(doc.Outline) != 2 || warning(doc, CodeInvisible).Count < 3 || warning(doc, CodeMarks).Count == 0 {
		t.Errorf("outline %+v, warnings %+v", doc.Outline, doc.Removed)
	}
}

func TestLinkModes(t *testing.T) {
	page := `<p><a href="/a">one</a> [1] <a href="/b" title="the second place">two</a> <a href="/a">three</a> <a href="#x">in</a></p>`
	cases := []struct{ mode, want string }{
		{"", "[one](https://pier.test/a) [1] [two](https://pier.test/b \"the second place\") [three](https://pier.test/a) [in](#x)\n"},
		{LinksInline, "[one](https://pier.test/a) [1] [two](https://pier.test/b \"the second place\") [three](https://pier.test/a) [in](#x)\n"},
		{LinksNone, "one [1] two three in\n"},
		{LinksEnd, "[one][1] \\[1\\] [two][2] [three][1] [in][3]\n\n[1]: https://pier.test/a\n[2]: https://pier.test/b \"the second place\"\n[3]: #x\n"},
	}
	for _, c := range cases {
		in := htmlInput(page)
		in.Options.Links = c.mode
		doc, err := Markdown(in)
		if err != nil {
			t.Fatal(err)
		}
		if doc.Markdown != c.want {
			t.Errorf("mode %q gave\n%s\nwant\n%s", c.mode, doc.Markdown, c.want)
		}
		if want := []string{"https://pier.test/a", "https://pier.test/b"}; !slices.Equal(doc.Links, want) {
			t.Errorf("mode %q: links %q, want %q", c.mode, doc.Links, want)
		}
	}
}

func TestImagesAreTheirText(t *testing.T) {
	in := htmlInput(`<p><img src="a.png" alt="a boat"> <a href="/x"><img src="b.png" alt="a mast"></a> <img src="https://far.test/?d=1"></p>`)
	in.Options.Images = false
	doc, err := Markdown(in)
	if err != nil {
		t.Fatal(err)
	}
	if want := "a boat [a mast](https://pier.test/x)\n"; doc.Markdown != want {
		t.Errorf("got %q, want %q", doc.Markdown, want)
	}
}

func TestMaxText(t *testing.T) {
	in := htmlInput("<h2>First</h2><p>" + sentences("boats", 100) + "</p><h2>Last</h2><p>é</p>")
	in.Options.MaxText = 500
	doc, err := Markdown(in)
	if err != nil {
		t.Fatal(err)
	}
	if !doc.Truncated || len(doc.Markdown) > 500 || warning(doc, CodeTruncated).Count != 1 || len(doc.Outline) != 1 {
		t.Errorf("truncated %v, %d bytes, outline %v, warnings %v", doc.Truncated, len(doc.Markdown), doc.Outline, doc.Removed)
	}
}

func TestInlineFrameText(t *testing.T) {
	frame := `<iframe srcdoc="<p>words of the frame, quite a few</p>"></iframe>`
	if md := markdownOf(t, "<p>Demo:</p>"+frame); !strings.Contains(md, "words of the frame") {
		t.Errorf("a frame that is the page was left out: %q", md)
	}
	if md := markdownOf(t, "<p>"+sentences("tides", 10)+"</p>"+frame); strings.Contains(md, "words of the frame") {
		t.Errorf("a frame beside the text came in: %q", md)
	}
}

func TestStateBesideAnEmptyPage(t *testing.T) {
	cases := []struct {
		name, page string
		want       []string
	}{
		{"next", `<title>Notice</title><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{"buildId":"x8","post":{"body":"<p>Gate code is <b>7741</b> until Sunday.</p>","slug":"gate-code","title":"Notice","url":"https://x.test/a b c"}}}</script>`,
			[]string{"# Notice", "Gate code is 7741 until Sunday."}},
		{"article of JSON-LD", `<div id="root"></div><script src="/a.js"></script><script type="application/ld+json">{"@context":"https://schema.org","@graph":[{"@type":"NewsArticle","articleBody":"The pier is closed for repairs until the spring.","datePublished":"2026-03-01","author":{"name":"A. Heron"}}]}</script>`,
			[]string{"The pier is closed for repairs"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc, err := Markdown(htmlInput(c.page))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range c.want {
				if !strings.Contains(doc.Markdown, w) {
					t.Errorf("%q is missing in %q", w, doc.Markdown)
				}
			}
			if doc.Hollow != "" || strings.Contains(doc.Markdown, "https://x.test") || strings.Contains(doc.Markdown, "gate-code") {
				t.Errorf("hollow %q, text %q", doc.Hollow, doc.Markdown)
			}
		})
	}
}

func TestShell(t *testing.T) {
	doc, err := Markdown(htmlInput(`<title>Depot</title><div id="root"></div><script src="/main.js"></script><noscript>You need to enable JavaScript to run this app.</noscript>`))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Hollow != Shell || doc.Why == "" || doc.Title != "Depot" {
		t.Errorf("hollow %q (%s), title %q", doc.Hollow, doc.Why, doc.Title)
	}
}

// TestNotEmpty has pages whose text is hard to see for a careless look: signs
// without a letter, words at the bottom of a deep well.
func TestNotEmpty(t *testing.T) {
	for name, page := range map[string]string{"signs": "<p>" + strings.Repeat("&amp;", 1000), "well": strings.Repeat("<div>", 20_000) + "bottom"} {
		doc, err := Markdown(htmlInput(page))
		if err != nil {
			t.Fatal(err)
		}
		if doc.Hollow != "" || doc.Markdown == "" {
			t.Errorf("%s: hollow %q (%s), %d bytes", name, doc.Hollow, doc.Why, len(doc.Markdown))
		}
	}
}

func TestMetaRefresh(t *testing.T) {
	for content, want := range map[string]string{
		"0;url=/next": "/next", "5; URL='https://x.test/y'": "https://x.test/y", "3": "", "1, url = /z": "/z", "0;/bare": "",
	} {
		doc, err := Markdown(htmlInput(`<meta http-equiv="Refresh" content="` + content + `"><p>This page has moved to another place.</p>`))
		if err != nil {
			t.Fatal(err)
		}
		if r := warning(doc, CodeMetaRefresh); (r.Count == 1) != (want != "") || !strings.HasSuffix(r.Message, want) {
			t.Errorf("%q: warning %+v, want the target %q", content, r, want)
		}
	}
}

func TestDocumentSurvivesJSON(t *testing.T) {
	doc, err := Markdown(htmlInput(`<html lang="en"><title>T</title><h1 id="a">One</h1><p>text <a href="/x">x</a></p><p hidden>y</p>`))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var back Document
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(doc, back); diff != "" {
		t.Errorf("differs after JSON (-before +after):\n%s", diff)
	}
}

func TestUnknownCharset(t *testing.T) {
	in := htmlInput("<p>text \xff\xfe")
	in.Type = "text/html; charset=x-no-such"
	if _, err := Markdown(in); err != nil && !errors.Is(err, fault.Unreadable) {
		t.Errorf("error is %v, want none or fault.Unreadable", err)
	}
}
