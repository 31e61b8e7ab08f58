// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import "testing"

func TestMetadata(t *testing.T) {
	article := `<article><header><time datetime="2026-03-01T09:00:00Z">1 March</time></header><p>text of it</p></article>`
	cases := []struct {
		name, page string
		want       Document // the fields of metadata only
	}{
		{"nothing", `<p>text</p>`, Document{}},
		{"title alone", `<title> Tides
			and times</title><p>x</p>`, Document{Title: "Tides and times"}},
		{"heading within the title", `<title>Tides | Harbour</title><h1>Tides</h1>`, Document{Title: "Tides"}},
		{"heading of another text", `<title>Tides</title><h1>Welcome</h1>`, Document{Title: "Tides"}},
		{"heading with a sign of its place", `<title>Tides - Harbour</title><h1>Tides<a class="headerlink" href="#tides">¶</a></h1>`, Document{Title: "Tides"}},
		{"heading with a sign before it", `<h1><a href="#c">#</a> C#</h1>`, Document{Title: "C#"}},
		{"og title", `<meta property="og:title" content="Shared"><p>x</p>`, Document{Title: "Shared"}},
		{"names", `<meta name=author content="A. Heron"><meta property="og:site_name" content="Harbour"><link rel=canonical href="/c"><p>x</p>`,
			Document{Byline: "A. Heron", Site: "Harbour", Canonical: "https://pier.test/c"}},
		{"author is an address", `<meta name=author content="https://x.test/me"><p>x</p>`, Document{}},
		{"json-ld", `<script type="application/ld+json">[{"@type":"BlogPosting","datePublished":"2026-02-03","author":[{"name":"A"},{"name":"B"}],"publisher":{"name":"Pier Post"}}]</script><p>x</p>`,
			Document{Byline: "A, B", Site: "Pier Post", Published: "2026-02-03"}},
		{"broken json-ld", `<script type="application/ld+json">{"datePublished": </script><p>x</p>`, Document{}},
		{"language declared", `<html lang="pt-BR"><p>x</p>`, Document{Language: "pt-BR"}},
		{"language is nonsense", `<html lang="{{lang}}"><p>x</p>`, Document{}},
		{"japanese by its script", `<p>潮の満ち引きは月と太陽の引力によって起こる現象であり、港では大切です。</p>`, Document{Language: "ja"}},
		{"korean by its script", `<p>항구의 밀물과 썰물은 달의 인력 때문에 생기는 현상입니다 그리고</p>`, Document{Language: "ko"}},
		{"latin script gives none", `<p>the tides come and go with the moon every day</p>`, Document{}},
		{"meta date", `<meta property="article:published_time" content="2026-03-01T08:00:00+01:00"><p>x</p>`, Document{Published: "2026-03-01"}},
		{"time without a zone is a day", `<meta name=date content="2026-03-01 08:00:00"><p>x</p>`, Document{Published: "2026-03-01"}},
		{"time in the head of an article", article, Document{Published: "2026-03-01"}},
		{"time in a foot is not the page's", `<p>x</p><footer><time datetime="2020-01-01">2020</time></footer>`, Document{}},
		{"the page's own day, early", `<meta property="article:published_time" content="2026-03-01T00:30:00.5+09:00"><p>x</p>`, Document{Published: "2026-03-01"}},
		{"the page's own day, late", `<script type="application/ld+json">{"@type":"Article","datePublished":"2026-02-28T23:30:00-08:00"}</script><p>x</p>`, Document{Published: "2026-02-28"}},
		{"date of mail", `<meta name=date content="Sun, 1 Mar 2026 23:30:00 -0500"><p>x</p>`, Document{Published: "2026-03-01"}},
		{"one day at two hours", `<article><time datetime="2026-03-01T09:00:00Z">9</time> <time datetime="2026-03-01T18:00:00Z">18</time><p>x</p></article>`, Document{Published: "2026-03-01"}},
		{"date in running text", `<p>On 1 March 2026 the pier opened.</p>`, Document{}},
		{"ambiguous numbers", `<meta name=date content="03/04/2026"><p>x</p>`, Document{}},
		{"modified is not published", `<meta property="article:modified_time" content="2026-03-01"><p>x</p>`, Document{}},
		{"placeholder", `<meta name=date content="1970-01-01T00:00:00Z"><p>x</p>`, Document{}},
		{"two dates, one in the head", `<article><header><time datetime="2026-03-01">a</time></header><p>see <time datetime="2025-01-01">b</time></p></article>`, Document{Published: "2026-03-01"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc, err := Markdown(htmlInput(c.page))
			if err != nil {
				t.Fatal(err)
			}
			got := Document{Title: doc.Title, Byline: doc.Byline, Site: doc.Site, Canonical: doc.Canonical, Language: doc.Language, Published: doc.Published}
			if got.Title != c.want.Title || got.Byline != c.want.Byline || got.Site != c.want.Site ||
				got.Canonical != c.want.Canonical || got.Language != c.want.Language || got.Published != c.want.Published {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestManyDatesAreUncertain(t *testing.T) {
	doc, err := Markdown(htmlInput(`<main><ul><li><a href=/1>One</a> <time datetime="2026-04-21">21 Apr</time><li><a href=/2>Two</a> <time datetime="2026-04-06">6 Apr</time></ul></main>`))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Published != "" || warning(doc, CodeDate).Count != 1 {
		t.Errorf("published %q, warnings %+v", doc.Published, doc.Removed)
	}
}
