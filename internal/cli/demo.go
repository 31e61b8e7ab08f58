// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/app"
	"github.com/dipper-web/dipper/permit"
)

func (p *Program) demo() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "The whole flow on this machine alone: no key, no network", Args: noArgs, GroupID: groupRead,
		Long: `Serves the documents that come with Go on a loopback port, fetches them through
the whole corridor with real questions, and prints each answer with the section it
stands in and what it cost. Nothing leaves this machine, and nothing of your
configuration or state is used. Where Go's documents are missing it reads Dipper's
own guide.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.runDemo(cmd.Context()) },
	}
}

// demoAnswer is one question of the demo in the JSON form.
type demoAnswer struct {
	Question     string         `json:"question"`
	Source       string         `json:"source"`  // URL with the section that answers
	Section      string         `json:"section"` // its title, with those above it
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
	show := p.progress()
	defer show.close()
	a, err := openDemo(ctx, show)
	if err != nil {
		return err
	}
	defer a.Close()
	if !p.flags.json {
		p.print("Pages: %s, served at %s\n", site.name, origin)
	}
	var all []demoAnswer
	for _, q := range site.questions {
		if !p.flags.json {
			p.print("\n── %s\n\n", q.prompt)
		}
		got, err := askDemo(ctx, a, show, origin, q)
		if err != nil {
			return err
		}
		if all = append(all, got); !p.flags.json {
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
	p.print("\nNow with a page of your own:  dipper fetch URL \"question\"\n")
	return nil
}

// openDemo opens everything with settings of its own: loopback may be reached,
// nothing is kept, and no model is asked.
func openDemo(ctx context.Context, show *progress) (*app.App, error) {
	l, err := app.Load(app.Source{Flags: map[string][]string{
		"network.allow": {"127.0.0.0/8"}, "network.proxy": {"off"}, "cache.store": {"mem"}, "model.provider": {"none"}, "preflight.robots": {"ignore"},
	}})
	if err != nil {
		return nil, err
	}
	return app.Open(ctx, l, app.Doors{Recorder: show})
}

func askDemo(ctx context.Context, a *app.App, show *progress, origin string, q demoQuestion) (demoAnswer, error) {
	req := dipper.Request{URL: origin + "/" + q.page, Prompt: q.prompt, Mode: dipper.ModeExtract, Budget: q.budget, NamedBy: permit.Person}
	show.begin(req.URL)
	ans, err := a.Client.Fetch(ctx, req)
	show.hold(true)
	defer show.hold(false)
	if err != nil {
		return demoAnswer{}, err
	}
	if ans.Outcome != dipper.OK {
		return demoAnswer{}, fault.New(fault.Internal, "", "the demo page %s ended as %s", req.URL, ans.Outcome)
	}
	show.done(ans)
	html := int(ans.Bytes) / 4 // the estimate for Latin text: a token for four characters
	out := demoAnswer{Question: q.prompt, Source: ans.FinalURL, TokensHTML: html, TokensResult: extract.Tokens(ans.Result), Answer: ans}
	out.SavedPercent = 100 * (1 - float64(out.TokensResult)/float64(html))
	if id := answeringSection(q.prompt, ans.Citations); id != "" {
		out.Source += "#" + id
		out.Section = sectionTitle(id, ans.Outline)
	}
	return out, nil
}

// answeringSection is the section of the passage that holds most words of the
// question; of equals the first.
func answeringSection(prompt string, passages []dipper.Citation) string {
	best, most := "", -1
	for _, c := range passages {
		text, n := strings.ToLower(c.Quote), 0
		for _, word := range strings.Fields(strings.ToLower(strings.Trim(prompt, "?"))) {
			if len(word) > 3 && strings.Contains(text, word) {
				n += len(word)
			}
		}
		if n > most {
			best, most = c.Section, n
		}
	}
	return best
}

// sectionTitle names a section with those above it.
func sectionTitle(id string, outline []dipper.SectionInfo) string {
	var path []dipper.SectionInfo
	for _, s := range outline {
		for len(path) > 0 && path[len(path)-1].Level >= s.Level {
			path = path[:len(path)-1]
		}
		if path = append(path, s); s.ID == id {
			break
		}
	}
	titles := make([]string, len(path))
	for i, s := range path {
		titles[i] = s.Title
	}
	return strings.Join(titles, " > ")
}

func (p *Program) printDemo(d demoAnswer) {
	a := d.Answer
	p.print("%s\n\n", strings.TrimSpace(harmless(a.Result)))
	p.print("Source: %s\n", d.Source)
	p.print("Funnel: %s of HTML (%d tokens) → %s of Markdown (%d tokens) → %d tokens for the main model: %.1f %% saved, %d ms\n",
		size(a.Bytes), d.TokensHTML, size(int64(a.Page.Chars)), a.Page.Tokens, d.TokensResult, d.SavedPercent, a.DurationMs)
}

// serveDemo serves files on a free loopback port until stop is called.
func serveDemo(files fs.FS) (origin string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e := fault.Wrap(err, fault.Internal, "", "the demo could not open a port on 127.0.0.1: %s", reason(err))
		e.Advice = "Allow this program to listen on loopback, then call dipper demo again."
		return "", nil, e
	}
	s := &http.Server{Handler: http.FileServerFS(files), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(l) // ends when stop closes the listener
	}()
	return fmt.Sprintf("http://%s", l.Addr()), func() { s.Close(); <-done }, nil
}
