// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const frame = `<!doctype html><html><head><meta charset="utf-8"><title>Harbour notes</title></head><body><main><h1>Harbour notes</h1>
<p>The ferry leaves the pier at nine in the morning and comes back at noon.</p>
%s
<p>Ask the harbour office for the timetable of the winter months.</p></main></body></html>`

// onPage converts an HTML fragment inside an ordinary page.
func onPage(t *testing.T, fragment string) Document {
	t.Helper()
	doc, err := Markdown(Input{Body: []byte(strings.Replace(frame, "%s", fragment, 1)), Type: "text/html", URL: "https://example.org/", Status: 200})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(doc.Markdown, "ferry leaves the pier") {
		t.Fatalf("the page's own text is gone: %q", doc.Markdown)
	}
	return doc
}

func warned(doc Document, code string) bool {
	return slices.ContainsFunc(doc.Removed, func(r Removed) bool { return r.Code == code })
}

func TestInvisibleRowsOnAPage(t *testing.T) {
	for _, row := range rows(t, "invisible.tsv", 4) {
		want := row[2]
		t.Run(row[0]+" "+row[1], func(t *testing.T) {
			for i, sequence := range points(t, row[1]) {
				doc := onPage(t, fmt.Sprintf("<p>AA%d-%sBB%d.</p>", i, bytesOf(sequence), i))
				m := regexp.MustCompile(fmt.Sprintf(`(?s)AA%d\\?-(.*?)BB%d`, i, i)).FindStringSubmatch(doc.Markdown)
				if m == nil {
					t.Fatalf("%X: the text around it is gone: %q", sequence, doc.Markdown)
				}
				mid := strings.TrimSpace(m[1])
				switch want {
				case "STRIP", "MARK":
					if mid != "" && mid != "\uFFFD" {
						t.Errorf("%X left %q", sequence, mid)
					}
					if want == "MARK" && !warned(doc, CodePrivateUse) {
						t.Errorf("%X: warnings %v", sequence, doc.Removed)
					}
				case "FOLD":
					if m[1] != " " {
						t.Errorf("%X became %q", sequence, m[1])
					}
				case "REPLACE":
					if mid == "" || strings.Trim(mid, "\uFFFD") != "" {
						t.Errorf("%X became %q", sequence, mid)
					}
				case "KEEP-IN-CONTEXT":
					if len(sequence) > 1 && mid != bytesOf(sequence) || len(sequence) == 1 && mid != "" {
						t.Errorf("%X became %q", sequence, mid)
					}
				}
			}
		})
	}
}

func TestMarkRowsOnAPage(t *testing.T) {
	live := regexp.MustCompile("(^|[^\\\\`])<(script|style|svg|iframe|img|meta|link)\\b")
	runs := regexp.MustCompile(`(?i)(^|[^\\])\]\(\s*<?(javascript|data|file|vbscript):`)
	for _, row := range rows(t, "marks.tsv", 4) {
		want, text := row[2], unescapeCell(row[1])
		t.Run(row[0], func(t *testing.T) {
			source := text
			if !strings.Contains(text, "&") && !strings.HasPrefix(text, "<details") {
				source = strings.ReplaceAll(text, "<", "&lt;")
			}
			doc := onPage(t, "<p>"+source+"</p>")
			shown := strings.TrimSpace(entities.Replace(text))
			switch want {
			case "NEUTRALISE":
				if strings.Contains(doc.Markdown, shown) || !warned(doc, CodeMarks) {
					t.Errorf("%q, warnings %v", doc.Markdown, doc.Removed)
				}
			case "STRIP-OR-SHOW":
				if live.MatchString(doc.Markdown) || runs.MatchString(doc.Markdown) || strings.ContainsAny(doc.Markdown, "\x1b\x07\r\u009b") ||
					regexp.MustCompile(`(^|[^\\])!\[[^\]]*\]\(`).MatchString(doc.Markdown) {
					t.Errorf("%q", doc.Markdown)
				}
			case "KEEP-READABLE":
				for _, word := range regexp.MustCompile(`[\pL\pN_]+`).FindAllString(shown, -1) {
					if word != "details" && word != "summary" && !strings.Contains(doc.Markdown, word) {
						t.Errorf("%q is gone from %q", word, doc.Markdown)
					}
				}
			}
		})
	}
}

func TestCharsetRowsAsDocuments(t *testing.T) {
	plain := func(s string) string {
		s = strings.NewReplacer("*", "", `\`, "", "\u00A0", " ").Replace(s)
		return strings.Join(strings.Fields(s), " ")
	}
	for _, row := range rows(t, "charset.tsv", 6) {
		t.Run(row[0], func(t *testing.T) {
			body, _ := hex.DecodeString(row[2])
			doc, err := Markdown(Input{Body: body, Type: row[1], URL: "https://example.org/p", Status: 200})
			if row[3] == "replacement" {
				if err == nil {
					t.Errorf("a retired encoding was read: %q", doc.Markdown)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := row[4]
			if doc.Kind == KindHTML {
				want = regexp.MustCompile(`<[^<>]*>`).ReplaceAllString(want, "")
			}
			if doc.Charset != row[3] || !strings.Contains(plain(doc.Markdown), plain(want)) {
				t.Errorf("%s %q, want %s with %q", doc.Charset, doc.Markdown, row[3], want)
			}
		})
	}
}
