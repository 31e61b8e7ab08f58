// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/*.out.md from what the code gives")

// htmlInput is a page as the tests read it.
func htmlInput(body string) Input {
	return Input{Body: []byte(body), Type: "text/html; charset=utf-8", URL: "https://pier.test/docs/page", Status: 200,
		Header: http.Header{}, Options: Options{Images: true}}
}

// markdownOf converts a page that must convert.
func markdownOf(t *testing.T, body string) string {
	t.Helper()
	doc, err := Markdown(htmlInput(body))
	if err != nil {
		t.Fatalf("Markdown: %v", err)
	}
	return doc.Markdown
}

func TestPairs(t *testing.T) {
	pages, err := filepath.Glob("testdata/*.in.html")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages in testdata: %v", err)
	}
	for _, path := range pages {
		name := strings.TrimSuffix(filepath.Base(path), ".in.html")
		t.Run(name, func(t *testing.T) {
			page, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := markdownOf(t, string(page))
			out := filepath.Join("testdata", name+".out.md")
			if *update {
				if err := os.WriteFile(out, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", out, diff)
			}
		})
	}
}
