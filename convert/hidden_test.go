// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"os"
	"strings"
	"testing"
)

// TestHiddenRows holds every row of hidden.tsv: what a page does not show must
// be gone, what it shows must stay, and the text around it in any case.
func TestHiddenRows(t *testing.T) {
	rows, err := os.ReadFile("testdata/hidden.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(rows)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) < 5 {
			continue
		}
		id, html, keep := f[0], f[2], f[3] == "KEEP"
		t.Run(id, func(t *testing.T) {
			canary := "CANARY" + id
			page := "<!doctype html><title>Pier</title><main><h1>Pier</h1><p>The pier is open at night.</p>\n" +
				strings.ReplaceAll(html, "{T}", canary) + "\n<p>Bring a lamp of your own.</p></main>"
			doc, err := Markdown(htmlInput(page))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(doc.Markdown, "open at night") {
				t.Errorf("the text of the page is gone:\n%s", doc.Markdown)
			}
			if got := strings.Contains(doc.Markdown, canary); got != keep {
				t.Errorf("%s (%s): in the Markdown %v, want %v\n%s", html, f[4], got, keep, doc.Markdown)
			}
		})
	}
}

func TestHiddenTextIsCounted(t *testing.T) {
	doc, err := Markdown(htmlInput(`<p>seen</p><p hidden>one</p><div style="display:none"><p>two</p><p hidden>inside</p></div>
		<p style="opacity:0">three</p><p hidden></p><script>var x = "no text"</script>`))
	if err != nil {
		t.Fatal(err)
	}
	r := warning(doc, CodeHidden)
	if r.Count != 3 {
		t.Errorf("count is %d, want 3 (%s)", r.Count, r.Message)
	}
	for _, part := range []string{"hidden attribute 1", "display or visibility 1", "invisible ink 1"} {
		if !strings.Contains(r.Message, part) {
			t.Errorf("%q does not name %q", r.Message, part)
		}
	}
}

// warning gives the warning with a code, or a zero one.
func warning(doc Document, code string) Removed {
	for _, r := range doc.Removed {
		if r.Code == code {
			return r
		}
	}
	return Removed{}
}

func TestReachableTextStays(t *testing.T) {
	long := strings.Repeat("The herons wait for small fish at the edge of the water. ", 20)
	cases := []struct{ name, page string }{
		{"body waits for its script", `<body style="opacity:0;visibility:hidden"><p>STAY</p>`},
		{"page under a consent dialog", `<div aria-hidden="true"><p>STAY ` + long + `</p></div><div role="dialog"><p>Cookies?</p></div>`},
		{"whole page waits", `<div style="display:none"><p>STAY ` + long + `</p></div>`},
		{"tab panel", `<div role="tabpanel" style="display:none">STAY</div>`},
		{"until found", `<div hidden="until-found">STAY</div>`},
		{"closed fold with a name", `<details><summary>How to moor</summary>STAY</details>`},
		{"fold without summary", `<details>STAY</details>`},
		{"class that another rule shows", `<style>.tab{display:none}.tab.on{display:block}</style><div class="tab">STAY</div>`},
		{"rule for small screens", `<style>@media (max-width:600px){.wide{display:none}}</style><p class="wide">STAY</p>`},
		{"rule with a state", `<style>.a:hover{display:none}</style><p class="a">STAY</p>`},
		{"rule below another element", `<style>.a .b{display:none}</style><p class="b">STAY</p>`},
		{"white ink where paper is unknown", `<link rel="stylesheet" href="x.css"><div class="hero"><p style="color:#fff">STAY</p></div>`},
		{"light badge on a styled card", `<style>.card{background:#fff}.badge{color:#fff}</style><div class="card"><b class="badge">STAY</b></div>`},
		{"gradient text", `<p style="background:linear-gradient(red,blue);-webkit-text-fill-color:transparent">STAY</p>`},
		{"slid out of place by its own size", `<p style="transform:translateX(-100%)">STAY</p>`},
		{"small box that shows its overflow", `<p style="height:1px">STAY</p>`},
		{"old colours", `<body bgcolor="#000000"><font color="#ffffff">STAY</font>`},
		{"image as wide as a line", `<img src="a.png" alt="STAY" width="100">`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if md := markdownOf(t, c.page); !strings.Contains(md, "STAY") {
				t.Errorf("%s\nlost its text: %q", c.page, md)
			}
		})
	}
}

func TestInvisibleTextGoes(t *testing.T) {
	cases := []struct{ name, page string }{
		{"font shorthand", `<p style="font:0/0 serif">GONE</p>`},
		{"font in em of a tiny parent", `<div style="font-size:1px"><p style="font-size:1em">GONE</p></div>`},
		{"important wins", `<p style="display:none!important;display:block">GONE</p>`},
		{"comment in a value", `<p style="display:/**/none">GONE</p>`},
		{"paper of an ancestor", `<div style="background:#222"><p><span style="color:#222222">GONE</span></p></div>`},
		{"hsl white on plain page", `<p style="color:hsl(0,0%,100%)">GONE</p>`},
		{"hex with alpha", `<p style="color:#12345600">GONE</p>`},
		{"left of the screen", `<p style="position:absolute;left:-10000px">GONE</p>`},
		{"scaled to nothing", `<p style="transform:scale(0)">GONE</p>`},
		{"polygon", `<p style="clip-path:polygon(0 0, 0 0, 0 0)">GONE</p>`},
		{"tag and class rule", `<style>p.x{display:none}</style><p class="x">GONE</p>`},
		{"attribute value rule", `<style>[data-k="v"]{display:none}</style><p data-k="v">GONE</p>`},
		{"rule in a layer", `<style>@layer a{.y{visibility:hidden}}</style><p class="y">GONE</p>`},
		{"rule of both colours", `<style>.z{color:#fff;background:#fff}</style><p class="z">GONE</p>`},
		{"deep inside", `<div hidden><div><p>a<b>GONE</b></p></div></div>`},
		{"attribute behind many others", `<p ` + strings.Repeat("a b=c ", 200) + `hidden>GONE</p>`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			md := markdownOf(t, "<p>seen</p>"+c.page)
			if strings.Contains(md, "GONE") || !strings.Contains(md, "seen") {
				t.Errorf("%s\ngave %q", c.page, md)
			}
		})
	}
}
