// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
)

//go:embed web_fetch.md
var fetchDescription string

//go:embed web_fetch.input.json
var fetchInput []byte

//go:embed web_fetch.output.json
var fetchOutput []byte

func fetchTool() *mcp.Tool {
	open := true
	return &mcp.Tool{
		Name: "web_fetch", Title: "Read a web page", Description: strings.TrimSpace(fetchDescription),
		Annotations: &mcp.ToolAnnotations{Title: "Read a web page", ReadOnlyHint: true, OpenWorldHint: &open},
		InputSchema: json.RawMessage(fetchInput), OutputSchema: json.RawMessage(fetchOutput),
	}
}

// fetchArgs are the arguments of web_fetch.
type fetchArgs struct {
	URL     string   `json:"url"`
	URLs    []string `json:"urls"`
	Prompt  string   `json:"prompt"`
	Mode    string   `json:"mode"`
	Budget  int      `json:"budget"`
	Section string   `json:"section"`
	Cursor  string   `json:"cursor"`
	Find    string   `json:"find"`
	Refresh bool     `json:"refresh"`
	Verbose bool     `json:"verbose"`
}

// fetcher answers calls of web_fetch.
type fetcher struct {
	client  *dipper.Client
	session string
}

func (f fetcher) handle(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := readArgs(call.Params.Arguments)
	if err != nil {
		return failed(err, args.URL)
	}
	if len(args.URLs) == 0 {
		one := f.one(ctx, args, args.URL)
		return tool(one.text, one.doc, one.failed)
	}
	return f.several(ctx, args)
}

// readArgs reads and checks the arguments. An argument that does not exist is
// refused: a misspelt one would otherwise be lost in silence.
func readArgs(raw json.RawMessage) (fetchArgs, error) {
	var a fetchArgs
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, fault.New(fault.Invalid, "", "the arguments of web_fetch are not understood: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	a.Prompt = strings.TrimSpace(a.Prompt)
	switch {
	case a.URL == "" && len(a.URLs) == 0:
		return a, fault.New(fault.Invalid, "", "web_fetch needs a url")
	case a.URL != "" && len(a.URLs) > 0:
		return a, fault.New(fault.Invalid, "", "give url or urls, not both")
	case len(a.URLs) > maxURLs:
		return a, fault.New(fault.Invalid, "", "web_fetch reads at most %d urls a call; got %d", maxURLs, len(a.URLs))
	case len(a.URLs) > 0 && (a.Section != "" || a.Cursor != ""):
		return a, fault.New(fault.Invalid, "", "section and cursor belong to one page; give url instead of urls")
	case a.Budget < 0:
		return a, fault.New(fault.Invalid, "", "budget is a number of tokens, at least 1; got %d", a.Budget)
	}
	return a, nil
}

// page is the result for one URL in both forms.
type page struct {
	text   string
	doc    any
	failed bool
}

// one reads one page. A failure is a result too: the model can act on it.
func (f fetcher) one(ctx context.Context, a fetchArgs, url string) page {
	ans, err := f.client.Fetch(ctx, f.request(a, url))
	if err != nil {
		fail := dipper.FailureOf(err, url)
		return page{failureText(fail), fail, true}
	}
	ans.Result = capped(ans.Result)
	if !a.Verbose {
		ans.Stages, ans.Usage, ans.Page = nil, nil, nil
	}
	return page{ans.Result, ans, false}
}

// request puts the arguments into a request of a model.
func (f fetcher) request(a fetchArgs, url string) dipper.Request {
	req := dipper.Request{URL: url, Prompt: a.Prompt, Mode: dipper.Mode(a.Mode), Budget: a.Budget, Section: a.Section, Cursor: a.Cursor,
		Find: a.Find, Refresh: a.Refresh, ForModel: true, NamedBy: permit.Agent, Session: f.session}
	reads := a.Prompt != "" && a.Mode != "markdown" && a.Mode != "raw" && a.Cursor == "" && a.Find == ""
	if a.Budget == 0 && !reads {
		req.Budget = pageBudget
	}
	return req
}

// several reads pages side by side; each has its own outcome.
func (f fetcher) several(ctx context.Context, a fetchArgs) (*mcp.CallToolResult, error) {
	if a.Budget == 0 {
		a.Budget = max(maxBudget/len(a.URLs), 200)
		if a.Prompt != "" {
			a.Budget = min(a.Budget, dipper.ExtractBudget)
		}
	}
	pages := make([]page, len(a.URLs))
	var wg sync.WaitGroup
	for i, url := range a.URLs {
		wg.Go(func() { pages[i] = f.one(ctx, a, url) })
	}
	wg.Wait()
	var text strings.Builder
	docs := make([]any, len(pages))
	for i, p := range pages {
		text.WriteString("# " + a.URLs[i] + "\n\n" + p.text + "\n\n")
		docs[i] = p.doc
	}
	out := map[string]any{"pages": docs, "result": capped(strings.TrimSpace(text.String()))}
	return tool(out["result"].(string), out, false)
}

// capped holds the hard cap of a tool result.
func capped(s string) string {
	const note = "\n\n[cut here: the result is longer than a tool result may be]"
	if n := 0; len(s) > maxResult {
		for i := range s {
			if n++; n > maxResult-len(note) {
				return s[:i] + note
			}
		}
	}
	return s
}

// failed is the result of a call that failed before any page was asked for.
func failed(err error, url string) (*mcp.CallToolResult, error) {
	fail := dipper.FailureOf(err, url)
	return tool(failureText(fail), fail, true)
}

// failureText is what a model reads of a failure.
func failureText(f dipper.Failure) string {
	s := f.Error.Message + "\n" + f.Error.Advice
	if f.Error.Excerpt != "" {
		s += "\n\n" + f.Error.Excerpt
	}
	return s
}
