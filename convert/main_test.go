// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"strings"
	"testing"
)

// sentences gives n sentences that are all different.
func sentences(topic string, n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, "Sentence %d about %s says one more thing that a reader came for. ", k, topic)
	}
	return b.String()
}

func menu(n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, `<li><a href="/section/%d">MENU section %d</a></li>`, k, k)
	}
	return "<ul>" + b.String() + "</ul>"
}

func TestMainContent(t *testing.T) {
	body := "<h1>TITLE</h1><p>" + sentences("KEEP", 12) + "</p><p>" + sentences("herons", 5) + "</p>"
	cases := []struct {
		name, page string
		keep, drop []string
	}{
		{"main between head and foot", "<header>" + menu(20) + "</header><main>" + body + "</main><footer>FOOT " + menu(5) + "</footer>",
			[]string{"TITLE", "KEEP"}, []string{"MENU", "FOOT"}},
		{"role main", "<div>" + menu(20) + "</div><div role=main>" + body + "</div>", []string{"KEEP"}, []string{"MENU"}},
		{"short main beside a large menu", "<nav>" + menu(300) + "</nav><main><p>KEEP me.</p></main>", []string{"KEEP"}, []string{"MENU"}},
		{"article without main", "<div class=top>" + menu(9) + "</div><article>" + body + "</article><div>" + menu(9) + "</div>", []string{"TITLE", "KEEP"}, []string{"MENU"}},
		{"page of the nineties", "<div id=left>" + menu(20) + "</div><div id=text>" + body + "</div><div>FOOT 1998</div>", []string{"TITLE", "KEEP"}, []string{"MENU", "FOOT"}},
		{"title before the article", "<header><h1>TITLE</h1>" + menu(6) + "</header><article><p>" + sentences("KEEP", 12) + "</p></article>", []string{"# TITLE", "KEEP"}, []string{"MENU"}},
		{"name of the site is no title", "<header><h1><a href=/>SITE</a></h1></header><main><h2>Tides</h2><p>" + sentences("KEEP", 9) + "</p></main>", []string{"KEEP"}, []string{"SITE"}},
		{"name of the book over its chapter", `<title>Knots - The Book</title><div id="menu-bar"><h1 class="menu-title">BOOK</h1></div><main><h2>Knots</h2><p>` + sentences("KEEP", 9) + "</p></main>", []string{"KEEP"}, []string{"BOOK"}},
		{"entries side by side", "<nav>" + menu(9) + "</nav>" + strings.Repeat("<article><h2>Entry</h2><p>"+sentences("KEEP", 3)+"</p></article>", 4) + "<article><p>KEEPLAST " + sentences("x", 3) + "</p></article>",
			[]string{"KEEP", "KEEPLAST"}, []string{"MENU"}},
		{"menu and contents in main", "<main><nav>" + menu(9) + "</nav>" + body + "<aside class=related>" + menu(5) + "</aside><aside class=note><p>KEEPNOTE</p></aside></main>",
			[]string{"KEEP", "KEEPNOTE"}, []string{"MENU"}},
		{"consent banner", `<div class="cookie-consent"><p>BANNER we use cookies</p><button>OK</button></div>` + body, []string{"KEEP"}, []string{"BANNER"}},
		{"share links and breadcrumb", `<ol class="breadcrumb"><li><a href=/>CRUMB</a></li></ol><main>` + body + `<div class="share-links"><a href=/s>SHARE</a></div></main>`, []string{"KEEP"}, []string{"SHARE", "CRUMB"}},
		{"text beside the largest part", "<p>KEEPFIRST</p><div>" + body + "</div>KEEPBARE<table><tr><td>KEEPTABLE<td>1</table>", []string{"KEEPFIRST", "KEEPBARE", "KEEPTABLE"}, nil},
		{"text beside a named main", "<nav>" + menu(9) + "</nav><main>" + body + "</main></body></html>KEEPBARE<details><summary>Opening hours</summary>KEEPFOLD</details>", []string{"KEEPBARE", "KEEPFOLD"}, []string{"MENU"}},
		{"unlucky names", `<div class="sidebar-layout menu"><p class="footer">` + sentences("KEEP", 3) + `</p><h2 class="nav-header">KEEPHEAD</h2><p class="MsoHeader">KEEPHEADER</p></div>`, []string{"KEEPHEAD", "KEEPHEADER"}, nil},
		{"list of links in main", "<main><h1>Index</h1><ul class=posts><li><a href=/1>KEEPONE</a> <time>1 May</time></ul></main>", []string{"KEEPONE", "1 May"}, nil},
		{"nothing but a menu", "<nav>" + menu(3) + "</nav>", []string{"MENU"}, nil},
		{"menu with a mark beside each link", `<div><div class="t-navbar">` + strings.Repeat(`<a href="/x">MENU of all functions</a> (C++11)<br>`, 80) + "</div>" + body + "</div>", []string{"KEEP"}, []string{"MENU"}},
		{"menu of pictures", body + `<div class="spirit-nav"><a href="/p"><img src=p.png alt="DROPPREV"></a> <a href="/n"><img src=n.png alt="DROPNEXT"></a></div>`, []string{"KEEP"}, []string{"DROP"}},
		{"head of a site in a table", `<table><tr><td><img src=l.png alt="LOGO"></td><td><a href=/>HOME</a></td><td><a href=/l>LIBS</a></td><td><a href=/f>FAQ</a></td></tr></table><hr>` + body, []string{"KEEP"}, []string{"HOME", "LIBS", "LOGO", "---"}},
		{"table of links in the text", body + "<table><tr><td><a href=/a>KEEPA</a><td><a href=/b>KEEPB</a><td><a href=/c>KEEPC</a></table>", []string{"KEEPA", "KEEPC"}, nil},
		{"links of a book", `<ul class="docnav"><li><a href=/p>DROPPREV</a><li>Book<li><a href=/n>DROPNEXT</a></ul>` + body, []string{"KEEP"}, []string{"DROP"}},
		{"bare text before a side column", "TEMPLATE_MARK <div id=a><div id=b>" + menu(60) + "</div><div id=c>" + body + "</div></div>", []string{"KEEP", "TEMPLATE"}, []string{"MENU"}},
		{"footnotes in an aside", body + `<aside class="footnote-list brackets"><aside class="footnote brackets">KEEPNOTE</aside></aside>`, []string{"KEEPNOTE"}, nil},
		{"links to the documentation in a listing", "<main>" + body + `<pre><a class="viewcode-back" href="/d">[DOCS]</a>KEEPCODE</pre></main>`, []string{"KEEPCODE"}, []string{"DOCS"}},
		{"links alone", `<a href="/a">KEEPA</a> <a href="/b">KEEPB</a>`, []string{"KEEPA", "KEEPB"}, nil},
		{"bare text", "KEEPBARE<br>second line", []string{"KEEPBARE", "second line"}, nil},
		{"article with a head and a foot", "<article><header><p>KEEPLEAD</p></header>" + body + "<footer><p>KEEPFOOT by a reader</p></footer></article>", []string{"KEEPLEAD", "KEEPFOOT"}, nil},
		{"empty main, text elsewhere", "<main></main><div>" + body + "</div>", []string{"KEEP"}, nil},
		{"main that holds a spinner", "<main>Loading</main><div>" + body + "</div>", []string{"KEEP"}, []string{"Loading"}},
		{"nav with running text", "<nav><p>" + sentences("KEEP", 20) + "</p></nav>", []string{"KEEP"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc, err := Markdown(htmlInput("<!doctype html><title>T</title><body>" + c.page))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range c.keep {
				if !strings.Contains(doc.Markdown, s) {
					t.Errorf("%s is missing", s)
				}
			}
			for _, s := range c.drop {
				if strings.Contains(doc.Markdown, s) {
					t.Errorf("%s is still there", s)
				}
			}
			if t.Failed() {
				t.Log(doc.Markdown)
			}
			if left := warning(doc, CodeBoilerplate); (left.Count > 0) != (len(c.drop) > 0) {
				t.Errorf("warning %+v, parts to leave out: %d", left, len(c.drop))
			}
			full := htmlInput("<body>" + c.page)
			full.Options.Full = true
			whole, err := Markdown(full)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range append(c.keep, c.drop...) {
				if !strings.Contains(strings.ReplaceAll(whole.Markdown, "# ", ""), strings.TrimPrefix(s, "# ")) {
					t.Errorf("full: %s is missing", s)
				}
			}
			if whole.Removed != nil && warning(whole, CodeBoilerplate).Count > 0 {
				t.Errorf("full: something was left out")
			}
		})
	}
}
