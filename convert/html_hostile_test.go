// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// hostilePages are pages made to be dear: deep, wide, unclosed, or full of
// signs that a careless escape would compare with each other.
func hostilePages() map[string]string {
	rep := strings.Repeat
	return map[string]string{
		"deep div":         rep("<div>", 100_000),
		"deep bold":        rep("<b><i>", 50_000),
		"deep list":        rep("<ul><li>x", 10_000),
		"deep quote":       rep("<blockquote>x", 10_000),
		"deep table":       rep("<table><tr><td>", 10_000),
		"deep layout":      rep("<table><tr><td>a<td>b<td><h2>x</h2>", 3_000),
		"deep nav":         rep("<nav><a href=/x>a</a>", 10_000) + "<main>",
		"deep code":        rep("<div class=highlight><pre>x</pre>", 10_000),
		"deep svg":         rep("<svg><g>", 20_000) + "<p>",
		"deep select":      rep("<select>", 20_000) + "<p>",
		"deep definitions": rep("<dl><dt>x<dd>y", 5_000),
		"deep hidden":      rep("<div style=display:none>", 600) + rep("<b>x</b>", 30_000) + rep("</div>", 600) + "<p>",
		"many attributes":  "<p " + rep("a b=c ", 50_000) + ">",
		"siblings":         rep("<p>a", 30_000),
		"spans":            rep("<span>a</span> ", 20_000),
		"unclosed bold":    rep("<p><b>t<i>", 20_000),
		"unclosed link":    rep("<a href=/x>text<div>", 10_000),
		"misnested":        rep("<b><div>", 128) + rep("</b>", 100_000),
		"wrong ends":       "<b>" + rep("<div>", 200) + rep("</b></i></p></li>", 30_000),
		"entities":         "<p>" + rep("&amp;", 200_000),
		"brackets":         "<p>" + rep("[", 100_000),
		"links as text":    "<p>" + rep("[a](", 30_000),
		"underscores":      "<p>" + rep("_", 100_000),
		"backticks":        "<p>" + rep("`", 100_000),
		"code backticks":   "<code>" + rep("`a", 50_000) + "</code>",
		"stars":            "<p>" + rep("*a **b ", 30_000),
		"less than":        "<p>" + rep("< ", 100_000),
		"formulas":         "<p>" + rep(`\(`, 100_000),
		"overlaps":         "<p>" + rep("<b>a<a href=/x>b</b>c</a>", 20_000),
		"alternating":      "<p>" + rep("<b>a <i>b</i></b> <i>c <b>d</b></i> ", 20_000),
		"lines in pre":     "<pre>" + rep("\n", 500_000) + "x</pre>",
		"huge spans":       "<table>" + rep("<tr><td colspan=100000 rowspan=100000>x</td></tr>", 500) + "</table>",
		"wide table":       "<table>" + rep("<tr>"+rep("<td>c</td>", 300)+"</tr>", 100) + "</table>",
		"very wide table":  "<table><tr>" + rep("<td>c", 5_000) + "</table>",
		"same headings":    rep("<h2>Same</h2>", 20_000),
		"anchors":          rep("<p id=a>x<a name=b></a>", 10_000),
		"footnotes":        rep("<p><sup><a href=#n1>1</a></sup></p><ol><li id=n1>note</li></ol>", 5_000),
		"styles":           rep(`<p style="color:#fff;background:#fff">x</p>`, 5_000) + "<p>",
		"rules":            "<style>" + rep(".a,.b>c{display:none}", 50_000) + "</style>" + rep(`<p class="a b c">x</p>`, 10_000) + "<p>",
		"nested at-rules":  "<style>" + rep("@media screen{", 50_000) + "</style><p>",
		"unclosed rules":   "<style>" + rep(".a{b{", 50_000) + "</style><p>",
		"comment":          "<!--" + rep("-", 1_000_000) + "--><p>",
		"nulls":            rep("a\x00b", 50_000),
		"data address":     "<img alt=x src='data:image/png;base64," + rep("QUJD", 500_000) + "'>",
		"folds":            rep("<details><summary>abc<p>", 10_000),
		"frames":           rep(`<iframe srcdoc="<p>words</p>"></iframe>`, 5_000),
		"mathml":           rep("<math><mfrac>", 10_000) + rep("<mi>x</mi>", 100) + "<p>",
		"linked data":      `<script type="application/ld+json">` + rep("[", 50_000) + "</script><p>",
	}
}

// TestHostilePages holds every such page to a time and to its last words.
func TestHostilePages(t *testing.T) {
	const limit = time.Minute // far above what any of them takes, far below what a quadratic walk would
	for name, page := range hostilePages() {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			md := markdownOf(t, page+" LAST words")
			if took := time.Since(began); took > limit {
				t.Errorf("took %v", took)
			}
			if tail := md[max(0, len(md)-2000):]; !strings.Contains(tail, "LAST") {
				t.Errorf("the last words are gone; the text ends %q", tail[max(0, len(tail)-80):])
			}
			if strings.Contains(md, "QUJDQUJD") || !utf8.ValidString(md) {
				t.Error("data or bad bytes came through")
			}
		})
	}
}

// TestDeepPageMemory holds the deepest page to the memory of its text.
func TestDeepPageMemory(t *testing.T) {
	page := strings.Repeat("<div>", 100_000) + "bottom"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	markdownOf(t, page)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("allocated %d MiB for a page of %d KiB", got>>20, len(page)>>10)
	}
}

// FuzzMarkdown checks what holds for every page: no panic, valid UTF-8, a text
// within its bound, sections and anchors inside it, and the same text again.
func FuzzMarkdown(f *testing.F) {
	pages, _ := filepath.Glob("testdata/*.in.html")
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(page), true, 0)
	}
	for _, page := range hostilePages() {
		f.Add(page[:min(len(page), 300)], false, 2000)
	}
	f.Fuzz(func(t *testing.T, page string, full bool, limit int) {
		in := htmlInput(page)
		in.Options.Full, in.Options.MaxText = full, max(0, limit%100_000)
		in.Options.Links = []string{"", LinksEnd, LinksNone}[len(page)%3]
		doc, err := Markdown(in)
		if err != nil {
			return
		}
		if !utf8.ValidString(doc.Markdown) {
			t.Fatalf("not UTF-8: %q", doc.Markdown)
		}
		if in.Options.MaxText > 0 && len(doc.Markdown) > in.Options.MaxText {
			t.Fatalf("%d bytes, the limit is %d", len(doc.Markdown), in.Options.MaxText)
		}
		for _, s := range doc.Outline {
			if s.Start < 0 || s.Start > s.End || s.End > len(doc.Markdown) || s.ID == "" || len(s.Path) == 0 {
				t.Fatalf("section %+v in a text of %d bytes", s, len(doc.Markdown))
			}
		}
		for id, at := range doc.Anchors {
			if at < 0 || at > len(doc.Markdown) {
				t.Fatalf("anchor %q at %d in a text of %d bytes", id, at, len(doc.Markdown))
			}
		}
		if again, _ := Markdown(in); again.Markdown != doc.Markdown {
			t.Fatal("the same page gave another text")
		}
		if clean, _ := Clean(doc.Markdown); clean != doc.Markdown {
			t.Fatalf("the text is not clean: %q becomes %q", doc.Markdown, clean)
		}
	})
}

// manual is a page of documentation of about 300 KB.
func manual() string {
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=en><head><title>Manual</title><style>.x{color:red}</style></head><body><nav>" + menu(100) + "</nav><main><h1>Manual</h1>")
	for k := range 300 {
		fmt.Fprintf(&b, `<section id="s%d"><h2>Section %d<a class="headerlink" href="#s%d">¶</a></h2><p>%s with <code>call(%d)</code> and <a href="/x/%d">a link</a>.</p>
			<ul><li>one <em>soft</em></li><li>two <b>loud</b></li></ul><pre><code class="language-go">x := %d // &lt;here&gt;
y := x</code></pre><table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td>%d</td></tr></table></section>`, k, k, k, sentences("tides", 6), k, k, k, k)
	}
	return b.String() + "</main><footer>" + menu(20) + "</footer></body></html>"
}

func BenchmarkMarkdown(b *testing.B) {
	page := manual()
	in := htmlInput(page)
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Markdown(in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParse is the yardstick of BenchmarkMarkdown: only the tree.
func BenchmarkParse(b *testing.B) {
	page := manual()
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := html.Parse(strings.NewReader(page)); err != nil {
			b.Fatal(err)
		}
	}
}
