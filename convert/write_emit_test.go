// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"strings"
	"testing"
)

// TestEmphasis has the places where signs of emphasis would not open, not
// close, or close the wrong thing; there the element itself is written.
func TestEmphasis(t *testing.T) {
	cases := []struct{ html, want string }{
		{`a<b> bold </b>c`, `a **bold** c`},
		{`<b>a</b><b>b</b>`, `**ab**`},
		{`<b>a</b> <b>b</b>`, `**a** **b**`},
		{`<i>a <b>b</b></i>`, `*a **b***`},
		{`x<b><i>y</i></b>z`, `x***y***z`},
		{`<b>"a"</b>b`, `<strong>"a"</strong>b`},
		{`a<b>"b"</b>`, `a<strong>"b"</strong>`},
		{`(<b>"a"</b>)`, `(**"a"**)`},
		{`<b>a</b><i>b</i>`, `**a**<em>b</em>`},
		{`<b>a <i>b</i>c</b>`, `**a *b*c**`},
		{`<b>a<i>b</i></b>`, `**a<em>b</em>**`},
		{`x_y<del><b>1.</b> z</del>`, `x_y<del>**1.** z</del>`},
		{`<b>~ a</b> b`, `**\~ a** b`},
		{`<del>~ a</del>`, `~~\~ a~~`},
		{`<b>a *</b> b`, `**a \*** b`},
		{`<b>x <a href="/u">)</a></b>y`, `<strong>x [)](https://pier.test/u)</strong>y`},
		{`<a href="/u">a <b>b</b></a>`, `[a **b**](https://pier.test/u)`},
		{`<b>a <a href="/u">b</a> c</b>`, `**a [b](https://pier.test/u) c**`},
		{`<b><code>x</code></b>`, "**`x`**"},
		{`<code>a <b>b</b></code>`, "`a b`"},
		{`<b> </b>a<i></i>`, `a`},
		{`a <b>b<br>c</b>`, "a **b  \nc**"},
		{`H<sub>2</sub>O<sup><b>x</b></sup>`, `H<sub>2</sub>O<sup>**x**</sup>`},
	}
	for _, c := range cases {
		if got := strings.TrimSuffix(markdownOf(t, "<p>"+c.html+"</p>"), "\n"); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.html, got, c.want)
		}
	}
}

func TestCodeSpans(t *testing.T) {
	cases := []struct{ html, want string }{
		{"<code>a</code>", "`a`"},
		{"<code>a `b` c</code>", "``a `b` c``"},
		{"<code>`x</code>", "`` `x ``"},
		{"<code>``</code>", "` `` `"},
		{"<code>` ``</code>", "``` ` `` ```"},
		{"<code>a\n  b</code>", "`a b`"},
		{"<kbd>Esc</kbd>", "`Esc`"},
		{`<code>*a* [b](c) &lt;d&gt;</code>`, "`*a* [b](c) <d>`"},
	}
	for _, c := range cases {
		if got := strings.TrimSuffix(markdownOf(t, "<p>"+c.html+"</p>"), "\n"); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.html, got, c.want)
		}
	}
}

func TestCodeLanguage(t *testing.T) {
	cases := []struct{ html, want string }{
		{`<pre><code class="language-js">x</code></pre>`, "js"},
		{`<pre><code class="lang-c++ hljs">x</code></pre>`, "c++"},
		{`<pre class="brush: python; gutter: true">x</pre>`, "python"},
		{`<div class="highlight-python3 notranslate"><div class="highlight"><pre>x</pre></div></div>`, "python3"},
		{`<div class="highlight-default"><div class="highlight"><pre>x</pre></div></div>`, ""},
		{`<div class="highlight-source-rust"><pre>x</pre></div>`, "rust"},
		{`<figure class="highlight c"><pre>x</pre></figure>`, "c"},
		{`<pre data-lang="toml">x</pre>`, "toml"},
		{`<pre class="src src-elisp sh">x</pre>`, "sh"},
		{`<pre class="rust rust-example-rendered">x</pre>`, "rust"},
		{`<pre class="screen">x</pre>`, ""},
		{`<pre class="language-&quot;&gt;&lt;script&gt;">x</pre>`, ""},
		{`<section class="language-go"><pre>x</pre><p>and</p><pre>y</pre></section>`, ""},
	}
	for _, c := range cases {
		md := markdownOf(t, c.html)
		if got, _, _ := strings.Cut(strings.TrimLeft(md, "`"), "\n"); got != c.want {
			t.Errorf("%s\n got %q, want %q", c.html, got, c.want)
		}
	}
}

func ExampleMarkdown() {
	doc, err := Markdown(Input{
		URL:  "https://harbour.example/tides",
		Type: "text/html; charset=utf-8",
		Body: []byte(`<html lang="en"><title>Tides</title><nav><a href="/">Home</a></nav><main><h1>Tides</h1>
			<p>High water at <b>nine</b>, see the <a href="table">table</a>.</p><p hidden>not for readers</p></main></html>`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(doc.Markdown)
	for _, r := range doc.Removed {
		fmt.Println(r.Code, r.Count)
	}
	// Output:
	// # Tides
	//
	// High water at **nine**, see the [table](https://harbour.example/table).
	// hidden-text-removed 1
	// boilerplate-left-out 1
}
