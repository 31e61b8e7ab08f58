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

// TestImagesAreTheirText holds what stands for an image where addresses are
// not shown: its alternative text, as text.
func TestImagesAreTheirText(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"alone", `<p><img src=a.png alt="a boat"></p>`, "a boat"},
		{"in a link", `<p>see <a href="/x"><img src="b.png" alt="a mast"></a></p>`, "see [a mast](https://pier.test/x)"},
		{"link of image and words", `<a href="/x"><img src="b.png" alt="a mast">of oak</a>`, "[a mast of oak](https://pier.test/x)"},
		{"no text", `<p>a <img src="c.png"> b <img src="https://far.test/?d=1" alt=""> c`, "a b c"},
		{"link of an image without text", `<p>a <a href="/x"><img src="c.png"></a>`, "a"},
		{"without an address", `<p>x <img alt="a sail"> y`, "x a sail y"},
		{"between words", `<p>Pier<img src=a.png alt="map">North <img src=a.png alt="one"><img src=b.png alt="two">.`, "Pier map North one two."},
		{"a sign between words", `<p>great<img src=a.png alt="👍">news`, "great👍news"},
		{"would be a heading", `<p><img src=a.png alt="# Loud"> x`, `\# Loud x`},
		{"would be an item", `<p><img src=a.png alt="1. First">`, `1\. First`},
		{"would be a link", `<p><img src=a.png alt="[go](https://far.test)">`, `\[go\](https://far.test)`},
		{"would be an image", `<p><img src=a.png alt="![x](y)">`, `!\[x\](y)`},
		{"would be emphasis", `<p><img src=a.png alt="*a* <b>">`, `\*a\* \<b>`},
		{"strong", `<p><b><img src=a.png alt="warning"></b> x`, "**warning** x"},
		{"strong, after a word", `<p>a<b><img src=a.png alt="(!)"></b>b`, "a<strong>(!)</strong>b"},
		{"in code", `<p><code>go <img src=a.png alt="run"></code>`, "`go` run"},
		{"heading", `<h2><img src=a.png alt="Tide"> tables</h2><p>x`, "## Tide tables\n\nx"},
		{"cell", `<table><tr><th>a<th>b<tr><td><img src=a.png alt="yes|no"><td>2</table>`, "| a | b |\n| --- | --- |\n| yes\\|no | 2 |"},
		{"figure", `<figure><img src=a.png alt="A boat"><figcaption>At sea</figcaption></figure>`, "A boat\n\nAt sea"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := htmlInput(c.page)
			in.Options.Images = false
			doc, err := Markdown(in)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSuffix(doc.Markdown, "\n"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
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
// without a letter, words at the bottom of a deep well, nothing but a picture.
func TestNotEmpty(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"well", strings.Repeat("<div>", 20_000) + "bottom" + strings.Repeat("</div>", 20_000), "bottom"},
		{"signs", "<p>" + strings.Repeat("&amp;", 2_000_000), "&&&&"},
		{"replacement characters", "<p>\ufffd\ufffd", "\ufffd\ufffd"},
		{"wrong bytes", "\xfe\xfd", "\ufffd"},
		{"a film", `<video src="/a.webm"></video>`, "[video](https://pier.test/a.webm)"},
		{"a picture", `<img src="/a.png" alt="">`, "![](https://pier.test/a.png)"},
		{"a frame", `<iframe src="https://pier.test/b" title="Tides"></iframe>`, "[Tides](https://pier.test/b)"},
		{"a number", "<p>7", "7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := Markdown(htmlInput(c.page))
			if err != nil {
				t.Fatal(err)
			}
			if doc.Hollow != "" || doc.Why != "" || !strings.HasPrefix(doc.Markdown, c.want) {
				t.Errorf("hollow %q (%s), %d bytes: %.60q, want it to begin %q", doc.Hollow, doc.Why, len(doc.Markdown), doc.Markdown, c.want)
			}
		})
	}
	for _, page := range []string{"", "<p> &nbsp;\n</p>", "<title>Tides</title>", `<p style="display:none">x</p>`, `<img src="https://far.test/t.gif">`} {
		if doc, err := Markdown(htmlInput(page)); err != nil || doc.Hollow != Empty || strings.TrimSpace(doc.Markdown) != "" {
			t.Errorf("%q: hollow %q, %q, %v", page, doc.Hollow, doc.Markdown, err)
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
