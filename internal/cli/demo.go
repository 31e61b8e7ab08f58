// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/app"
	"github.com/dipper-web/dipper/permit"
)

//go:embed guide/*.html
var guide embed.FS

const (
	// demoBudget is the length of each answer in tokens: short enough to be read at once.
	demoBudget = 220
	// goEnvTime bounds asking the go command where its documents are.
	goEnvTime = 5 * time.Second
)

// demoQuestion is a question to a page of the demo.
type demoQuestion struct{ page, prompt string }

// demoSite is a set of pages with questions that they answer.
type demoSite struct {
	name      string
	files     fs.FS
	questions []demoQuestion
}

// goQuestions are put to the documents that come with Go.
var goQuestions = []demoQuestion{
	{"go_spec.html", "What happens when a program sends to a closed channel?"},
	{"go_spec.html", "Is the iteration order over maps specified?"},
	{"go_mem.html", "Is the completion of init functions synchronized before main.main starts?"},
	{"asm.html", "Which four pseudo-registers does the assembler have?"},
}

// guideQuestions are put to Dipper's own guide.
var guideQuestions = []demoQuestion{
	{"guide/guide.html", "How do I let Dipper read a server on my own network?"},
	{"guide/guide.html", "What does the outcome moved mean?"},
	{"guide/guide.html", "How long is a page kept?"},
}

func (p *Program) demo() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "The whole flow on this machine alone: no key, no network", Args: noArgs,
		Long: `Serves the documents that come with Go on a loopback port, fetches them through
the whole corridor with real questions, and prints each answer with what it cost.
Nothing leaves this machine, and nothing of your configuration or state is used.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.runDemo(cmd.Context()) },
	}
}

// demoAnswer is one question of the demo in the JSON form.
type demoAnswer struct {
	Question     string         `json:"question"`
	TokensHTML   int            `json:"tokensHtml"`
	TokensResult int            `json:"tokensResult"`
	SavedPercent float64        `json:"savedPercent"`
	Answer       *dipper.Answer `json:"answer"`
}

func (p *Program) runDemo(ctx context.Context) error {
	site := p.demoSite(ctx)
	origin, stop, err := serveDemo(site.files)
	if err != nil {
		return err
	}
	defer stop()
	l, err := app.Load(app.Source{Flags: map[string][]string{
		"network.allow": {"127.0.0.0/8"}, "network.proxy": {"off"}, "cache.store": {"mem"}, "model.provider": {"none"}, "preflight.robots": {"ignore"},
	}})
	if err != nil {
		return err
	}
	show := p.progress()
	defer show.close()
	a, err := app.Open(ctx, l, app.Doors{Recorder: show})
	if err != nil {
		return err
	}
	defer a.Close()
	if !p.flags.json {
		fmt.Fprintf(p.Stdout, "Pages: %s, served at %s\n", site.name, origin)
	}
	var all []demoAnswer
	for _, q := range site.questions {
		got, err := p.askDemo(ctx, a, show, origin, q)
		if err != nil {
			return err
		}
		all = append(all, got)
		if !p.flags.json {
			p.printDemo(got)
		}
	}
	if p.flags.json {
		p.writeJSON(struct {
			Site    string       `json:"site"`
			Answers []demoAnswer `json:"answers"`
		}{site.name, all})
		return nil
	}
	fmt.Fprintf(p.Stdout, "\nNow with a page of your own:  dipper fetch URL \"question\"\n")
	return nil
}

func (p *Program) askDemo(ctx context.Context, a *app.App, show *progress, origin string, q demoQuestion) (demoAnswer, error) {
	req := dipper.Request{URL: origin + "/" + q.page, Prompt: q.prompt, Mode: dipper.ModeExtract, Budget: demoBudget, NamedBy: permit.Person}
	show.begin(req.URL)
	ans, err := a.Client.Fetch(ctx, req)
	if err != nil {
		return demoAnswer{}, err
	}
	if ans.Outcome != dipper.OK {
		return demoAnswer{}, fault.New(fault.Internal, "", "the demo page %s ended as %s", req.URL, ans.Outcome)
	}
	show.done(ans)
	html := int(ans.Bytes) / 4 // the estimate for Latin text: a token for four characters
	out := demoAnswer{Question: q.prompt, TokensHTML: html, TokensResult: extract.Tokens(ans.Result), Answer: ans}
	out.SavedPercent = 100 * (1 - float64(out.TokensResult)/float64(html))
	return out, nil
}

func (p *Program) printDemo(d demoAnswer) {
	a := d.Answer
	fmt.Fprintf(p.Stdout, "\n── %s\n\n%s\n\n", d.Question, strings.TrimSpace(p.safe(a.Result, p.Terminals.Out)))
	where := ""
	if len(a.Citations) > 0 && a.Citations[0].Section != "" {
		where = "#" + a.Citations[0].Section
	}
	fmt.Fprintf(p.Stdout, "Source: %s%s\n", a.FinalURL, where)
	fmt.Fprintf(p.Stdout, "Funnel: %s of HTML (%d tokens) → %s of Markdown (%d tokens) → %d tokens for the main model: %.1f %% saved, %d ms\n",
		size(a.Bytes), d.TokensHTML, size(int64(a.Page.Chars)), a.Page.Tokens, d.TokensResult, d.SavedPercent, a.DurationMs)
}

// demoSite finds the documents of Go; where there are none it says so and takes
// Dipper's own guide.
func (p *Program) demoSite(ctx context.Context) demoSite {
	for _, root := range p.goRoots(ctx) {
		files := os.DirFS(filepath.Join(root, "doc"))
		if whole(files, goQuestions) {
			return demoSite{"the documents that come with Go", files, goQuestions}
		}
	}
	p.note("the HTML documents of Go are not on this machine, so the demo reads Dipper's own guide")
	return demoSite{"Dipper's own guide", guide, guideQuestions}
}

// goRoots lists where Go may be installed: the toolchain that built this
// program, and the one in the PATH.
func (p *Program) goRoots(ctx context.Context) []string {
	roots := []string{runtime.GOROOT()} //nolint:staticcheck // the documents of the toolchain that built this program are just what is looked for
	ctx, cancel := context.WithTimeout(ctx, goEnvTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Env = append(append([]string{}, p.Env...), "GOTOOLCHAIN=local", "GOFLAGS=")
	if out, err := cmd.Output(); err == nil {
		roots = append(roots, strings.TrimSpace(string(out)))
	}
	var known []string
	for _, r := range roots {
		if r != "" {
			known = append(known, r)
		}
	}
	return known
}

// whole reports whether all pages that the questions ask are there.
func whole(files fs.FS, questions []demoQuestion) bool {
	for _, q := range questions {
		if info, err := fs.Stat(files, q.page); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// serveDemo serves files on a free loopback port until stop is called.
func serveDemo(files fs.FS) (origin string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fault.Wrap(err, fault.Internal, "", "the demo could not open a loopback port: %v", err)
	}
	s := &http.Server{Handler: http.FileServerFS(files), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(l) // ends when stop closes the listener
	}()
	return "http://" + l.Addr().String(), func() { s.Close(); <-done }, nil
}
