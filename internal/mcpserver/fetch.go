// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/extract"
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

// fetcher answers calls of web_fetch.
type fetcher struct {
	client  *dipper.Client
	session string
}

func (f fetcher) handle(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := readArgs(call.Params.Arguments)
	if err != nil {
		p := failed(err, args.URL)
		return tool(p.text, p.doc, true)
	}
	if len(args.URLs) == 0 {
		p := f.one(ctx, args, args.URL)
		return tool(p.text, p.doc, p.failed)
	}
	return f.several(ctx, args)
}

// page is the result for one URL in both forms.
type page struct {
	text   string
	doc    any
	failed bool
}

// failed makes a page of an error. A failure is a result too: the model can act on it.
func failed(err error, url string) page {
	fail := dipper.FailureOf(err, url)
	return page{failureText(fail), fail, true}
}

// one reads one page. A slip of ours in it is a failure of this page alone.
func (f fetcher) one(ctx context.Context, a fetchArgs, url string) (out page) {
	defer func() {
		if slip := recover(); slip != nil {
			out = failed(fault.Wrap(fmt.Errorf("panic: %v", slip), fault.Internal, "", "something went wrong inside Dipper while reading %s", url), url)
		}
	}()
	ans, err := f.fetch(ctx, a, url)
	if err != nil {
		return failed(err, url)
	}
	ans.Result = capped(ans.Result)
	if !a.Verbose {
		ans.Stages, ans.Usage, ans.Page = nil, nil, nil
	}
	return page{ans.Result, ans, false}
}

// fetch reads a page. The Markdown of a trusted site may come back whole instead
// of a reader's answer; where that is too much for a call that named no budget,
// the reader is asked after all.
func (f fetcher) fetch(ctx context.Context, a fetchArgs, url string) (*dipper.Answer, error) {
	req := f.request(a, url)
	ans, err := f.client.Fetch(ctx, req)
	if err != nil || a.Budget > 0 || ans.Path != "native" || extract.Tokens(ans.Result) <= maxUnasked/2 {
		return ans, err
	}
	req.Budget = dipper.ExtractBudget
	if ans.Mode == dipper.ModeAnswer {
		req.Budget = dipper.AnswerBudget
	}
	return f.client.Fetch(ctx, req)
}

// request puts the arguments into a request of a model.
func (f fetcher) request(a fetchArgs, url string) dipper.Request {
	req := dipper.Request{URL: url, Prompt: a.Prompt, Mode: dipper.Mode(a.Mode), Budget: min(a.Budget, maxBudget), Section: a.Section,
		Cursor: a.Cursor, Find: a.Find, Refresh: a.Refresh, ForModel: true, NamedBy: permit.Agent, Session: f.session}
	reads := a.Prompt != "" && a.Mode != "markdown" && a.Mode != "raw" && a.Cursor == "" && a.Find == ""
	if a.Budget == 0 && !reads {
		req.Budget = pageBudget
	}
	return req
}

// several reads pages side by side; each has its own outcome, and its share of
// what one result may hold.
func (f fetcher) several(ctx context.Context, a fetchArgs) (*mcp.CallToolResult, error) {
	switch share := max((maxUnasked/len(a.URLs)-pageOverhead)/2, minShare); {
	case a.Budget > 0:
		a.Budget = min(a.Budget, maxBudget/len(a.URLs))
	case a.Prompt != "":
		a.Budget = min(share, dipper.ExtractBudget)
	default:
		a.Budget = min(share, pageBudget)
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
		fmt.Fprintf(&text, "# %s\n\n%s\n\n", a.URLs[i], p.text)
		docs[i] = p.doc
	}
	return tool(capped(strings.TrimSpace(text.String())), map[string]any{"pages": docs}, false)
}

// capped holds the hard cap of a tool result.
func capped(s string) string {
	const note = "\n\n[cut here: the result is longer than a tool result may be]"
	if utf8.RuneCountInString(s) <= maxResult {
		return s
	}
	return string([]rune(s)[:maxResult-len(note)]) + note
}

// failureText is what a model reads of a failure.
func failureText(f dipper.Failure) string {
	s := f.Error.Message + "\n" + f.Error.Advice
	if f.Error.Excerpt != "" {
		s += "\n\n" + f.Error.Excerpt
	}
	return s
}
