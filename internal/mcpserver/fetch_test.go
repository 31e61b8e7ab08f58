// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dipper-web/dipper/extract"
)

// result is a tool result as a host sees it.
type result struct {
	text    string
	doc     map[string]any
	raw     []byte
	isError bool
}

// fetch calls web_fetch and holds what is true of every result.
func fetch(t *testing.T, s *mcp.ClientSession, args map[string]any) result {
	t.Helper()
	got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "web_fetch", Arguments: args})
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	r := read(t, got)
	if _, ok := r.doc["error"]; ok != r.isError {
		t.Errorf("%v: isError is %v, and error is there: %v", args, r.isError, ok)
	}
	if text, ok := r.doc["result"]; ok && text != r.text {
		t.Errorf("%v: the text is not the result", args)
	}
	if args["verbose"] == nil {
		for _, name := range []string{"stages", "usage", "page"} {
			if _, ok := r.doc[name]; ok {
				t.Errorf("%v: %s is there without verbose", args, name)
			}
		}
	}
	if args["budget"] == nil {
		if n := extract.Tokens(r.text) + extract.Tokens(string(r.raw)); n >= 20_000 {
			t.Errorf("%v: text and structured content have %d tokens", args, n)
		}
	}
	if n := utf8.RuneCountInString(r.text); n > maxResult {
		t.Errorf("%v: the text has %d characters", args, n)
	}
	return r
}

func read(t *testing.T, got *mcp.CallToolResult) result {
	t.Helper()
	if len(got.Content) != 1 {
		t.Fatalf("%d content blocks, want one", len(got.Content))
	}
	text, ok := got.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("the content is %T", got.Content[0])
	}
	raw, err := json.Marshal(got.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	r := result{text: text.Text, raw: raw, isError: got.IsError}
	if err := json.Unmarshal(raw, &r.doc); err != nil {
		t.Fatal(err)
	}
	if err := outputSchema(t).Validate(r.doc); err != nil {
		t.Errorf("the structured content is not as the schema says: %v\n%s", err, raw)
	}
	return r
}

func outputSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(fetchOutput, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryRevision(t *testing.T) {
	origin := web(t)
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			s := connect(t, options(t), revision)
			if got := s.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("the server speaks %s", got)
			}
			tools, err := s.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 1 {
				t.Fatalf("tools: %v, %v", tools, err)
			}
			tool := tools.Tools[0]
			if tool.Name != "web_fetch" || tool.Title == "" || !tool.Annotations.ReadOnlyHint || !*tool.Annotations.OpenWorldHint || tool.OutputSchema == nil {
				t.Errorf("the tool is %+v", tool)
			}
			if r := fetch(t, s, map[string]any{"url": origin + "/page", "prompt": "When is the tide highest?"}); r.isError || !strings.Contains(r.text, "moon and sun") {
				t.Errorf("the result is %q", r.text)
			}
		})
	}
}

func TestResults(t *testing.T) {
	origin := web(t)
	s := connect(t, options(t), "2025-06-18")
	for _, c := range []struct {
		name    string
		args    map[string]any
		outcome string // or the kind of the failure
		text    string // part of the text
	}{
		{"a page", map[string]any{"url": origin + "/page"}, "ok", "# Tides"},
		{"with a question", map[string]any{"url": origin + "/page", "prompt": "tide"}, "ok", "moon and sun"},
		{"empty lists and nothings count as not given", map[string]any{"url": origin + "/page", "urls": []string{}, "mode": nil, "budget": nil}, "ok", "# Tides"},
		{"moved", map[string]any{"url": origin + "/moved"}, "moved", "https://elsewhere.example/"},
		{"saved", map[string]any{"url": origin + "/picture"}, "saved", "image/png"},
		{"not there", map[string]any{"url": origin + "/none"}, "notfound", "404"},
		{"not found in the page", map[string]any{"url": origin + "/page", "find": "zeppelin"}, "empty", "does not occur"},
		{"an error of the site", map[string]any{"url": origin + "/broken"}, "refused", "short and stout"},
		{"nobody there", map[string]any{"url": "http://127.0.0.1:1/"}, "unreachable", "127.0.0.1"},
		{"private", map[string]any{"url": "http://10.0.0.1/"}, "unsafe", "10.0.0.1"},
		{"no URL", map[string]any{"url": "tides"}, "invalid", `"tides"`},
		{"no argument", map[string]any{}, "invalid", "needs a url"},
		{"an unknown one", map[string]any{"url": origin, "colour": "red"}, "invalid", `no argument "colour"`},
		{"another type", map[string]any{"url": origin, "budget": "many"}, "invalid", "budget of web_fetch is a whole number"},
		{"half a token", map[string]any{"url": origin, "budget": 0.5}, "invalid", "a whole number"},
		{"both", map[string]any{"url": origin, "urls": []string{origin}}, "invalid", "not both"},
		{"too many", map[string]any{"urls": strings.Fields(strings.Repeat(origin+" ", 11))}, "invalid", "at most 10"},
		{"an unknown mode", map[string]any{"url": origin, "mode": "loud"}, "invalid", `"loud"`},
		{"an answer without a model", map[string]any{"url": origin, "mode": "answer", "prompt": "tide"}, "invalid", "helper model"},
		{"a foreign cursor", map[string]any{"url": origin + "/page", "cursor": "x"}, "invalid", "cursor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fetch(t, s, c.args)
			got, _ := r.doc["outcome"].(string)
			if e, ok := r.doc["error"].(map[string]any); ok {
				got, _ = e["kind"].(string)
				if message, advice := e["message"].(string), e["advice"].(string); !strings.HasPrefix(r.text, message+"\n"+advice) {
					t.Errorf("the text of a failure is %q", r.text)
				}
			}
			if got != c.outcome || !strings.Contains(r.text, c.text) {
				t.Errorf("outcome %s, want %s; text %q, want %q in it", got, c.outcome, r.text, c.text)
			}
		})
	}
	r := fetch(t, s, map[string]any{"url": origin + "/page", "verbose": true})
	if r.doc["stages"] == nil || r.doc["usage"] == nil || r.doc["page"] == nil {
		t.Errorf("verbose gives %v", r.doc)
	}
}

func TestSeveralPages(t *testing.T) {
	origin := web(t)
	s := connect(t, options(t), "2025-06-18")
	r := fetch(t, s, map[string]any{"urls": []string{origin + "/page", origin + "/broken", origin + "/next"}, "prompt": "tide"})
	pages, _ := r.doc["pages"].([]any)
	if len(pages) != 3 || r.isError {
		t.Fatalf("pages: %v", r.doc)
	}
	for i, want := range []string{"moon and sun", "418", "neap tide"} {
		page := pages[i].(map[string]any)
		if raw, _ := json.Marshal(page); !strings.Contains(string(raw), want) || !strings.Contains(r.text, want) {
			t.Errorf("page %d: %s", i, raw)
		}
		if (page["error"] != nil) != (i == 1) {
			t.Errorf("page %d has error %v", i, page["error"])
		}
	}
	fetch(t, s, map[string]any{"urls": strings.Fields(strings.Repeat(origin+"/long ", 10))})
}

func TestSizes(t *testing.T) {
	origin := web(t)
	s := connect(t, options(t, "DIPPER_TRUSTED_ADD=127.0.0.1"), "2025-06-18")
	for _, args := range []map[string]any{
		{"url": origin + "/long"}, {"url": origin + "/long", "mode": "raw"}, {"url": origin + "/long", "find": "harbour"},
		{"url": origin + "/long", "prompt": "harbour master"}, {"url": origin + "/long.md"}, {"url": origin + "/long.md", "prompt": "tides"},
		{"url": origin + "/long", "budget": 1_000_000}, {"url": origin + "/long", "mode": "raw", "budget": 1_000_000},
	} {
		fetch(t, s, args)
	}
	// What was cut is read on to the very end.
	args, parts := map[string]any{"url": origin + "/long"}, ""
	for {
		r := fetch(t, s, args)
		parts += r.text
		next, _ := r.doc["shown"].(map[string]any)["next"].(string)
		if next == "" {
			break
		}
		args = map[string]any{"url": origin + "/long", "cursor": next}
	}
	if !strings.Contains(parts, "Section 0 of") || !strings.Contains(parts, "Section 399 of") || strings.Count(parts, "into the book") != 400 {
		t.Errorf("the parts have %d characters", len(parts))
	}
}

func TestCallsSideBySide(t *testing.T) {
	origin := web(t)
	s := connect(t, options(t), "2025-06-18")
	ctx, cancel := context.WithCancel(t.Context())
	slow := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "web_fetch", Arguments: map[string]any{"url": origin + "/hang"}})
		slow <- err
	}()
	fetch(t, s, map[string]any{"url": origin + "/broken"})
	fetch(t, s, map[string]any{"url": origin + "/page"})
	select {
	case err := <-slow:
		t.Fatalf("the slow call ended first: %v", err)
	default:
	}
	cancel()
	if err := <-slow; err == nil {
		t.Error("the canceled call succeeded")
	}
	fetch(t, s, map[string]any{"url": origin + "/next"})
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "web_dream"}); err == nil {
		t.Error("a tool that does not exist answered")
	}
}

func TestOneProcessIsOneSession(t *testing.T) {
	origin := web(t)
	s := connect(t, options(t, "DIPPER_PROVENANCE=warn"), "2025-06-18")
	warned := func(path string) bool {
		return strings.Contains(string(fetch(t, s, map[string]any{"url": origin + path}).raw), `"provenance"`)
	}
	if !warned("/page") {
		t.Error("a URL that nobody named has no warning")
	}
	if warned("/next") {
		t.Error("a link that was shown has a warning")
	}
}

func TestASlipIsAFailureOfOnePage(t *testing.T) {
	began := time.Now()
	p := fetcher{}.one(t.Context(), fetchArgs{URL: "https://a.example/"}, "https://a.example/") // there is no client
	if !p.failed || !strings.Contains(p.text, "https://a.example/") || time.Since(began) > time.Second {
		t.Errorf("the result is %+v", p)
	}
}
