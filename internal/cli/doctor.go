// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/app"
	"github.com/dipper-web/dipper/permit"
)

const (
	// doctorHost is the page that doctor reads: it exists for being read as an example (RFC 2606).
	doctorHost = "example.com"
	// doctorTime bounds all checks together: who waits longer thinks that the
	// program hangs, and every check that takes longer has failed.
	doctorTime = 15 * time.Second
)

// finding is the result of one check.
type finding struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, failed or skipped
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"`

	err error
}

func (p *Program) doctor() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "What works here, and the one thing to change", Args: noArgs, GroupID: groupRead,
		Long: `Tries what Dipper needs: configuration, store, name lookup, a page over TLS, proxy
and helper model. It reads https://` + doctorHost + `/ and asks the helper model, if there is
one, for one word. The exit code is that of the first check that failed.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.runDoctor(cmd.Context()) },
	}
}

// runDoctor also tells of a configuration or a store that stops every other command.
func (p *Program) runDoctor(ctx context.Context) error {
	l, err := p.load()
	if err != nil {
		f := found("configuration", err, "")
		f.Advice = "Correct the configuration as said above, or name another file with --config."
		p.report([]finding{f})
		return nil
	}
	a, err := app.Open(ctx, l, app.Doors{})
	if err != nil {
		p.report([]finding{checkConfig(l), found("setup", err, "")})
		return nil
	}
	defer a.Close()
	own, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	var model finding
	var asking sync.WaitGroup
	asking.Go(func() { model = checkModel(own, a) })
	all := []finding{checkConfig(l), checkStore(own, a), checkProxy(a)}
	lookup := checkLookup(own, a)
	all = append(all, lookup, checkPage(own, a, lookup))
	asking.Wait()
	all = append(all, model,
		skipped("search engines", "not built yet in this version"), skipped("browser", "not built yet in this version"))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, n := range a.Notes {
		p.note("%s", n)
	}
	p.report(all)
	return nil
}

// report prints the findings; the first that failed gives the exit code and the advice.
func (p *Program) report(all []finding) {
	var worst *finding
	for i := range all {
		if all[i].State == "failed" && worst == nil {
			worst = &all[i]
			p.exit = fault.Of(fault.From(worst.err).Kind).Exit
		}
	}
	change := ""
	if worst != nil {
		change = worst.Advice
	}
	if p.flags.json {
		p.writeJSON(struct {
			OK     bool      `json:"ok"`
			Checks []finding `json:"checks"`
			Change string    `json:"change,omitempty"`
		}{worst == nil, all, change})
		return
	}
	marks := map[string]string{"ok": "ok", "failed": "FAILED", "skipped": "-"}
	for _, f := range all {
		p.print("%-6s  %-14s  %s\n", marks[f.State], f.Name, plain(f.Detail))
	}
	if worst != nil {
		p.print("\nChange this first: %s\n", plain(change))
	}
}

// found makes a finding of an error, or of a sentence where there is none.
func found(name string, err error, detail string) finding {
	if err == nil {
		return finding{Name: name, State: "ok", Detail: detail}
	}
	f := fault.From(err)
	return finding{Name: name, State: "failed", Detail: dipper.FailureOf(err, "").Error.Message, Advice: f.Say(), err: err}
}

func skipped(name, why string) finding { return finding{Name: name, State: "skipped", Detail: why} }

func checkConfig(l *app.Loaded) finding {
	parts := []string{}
	if l.UserPath != "" {
		parts = append(parts, l.UserPath)
	}
	if l.ProjectPath != "" {
		state := " (not trusted: it may only narrow)"
		if l.ProjectTrusted {
			state = " (trusted)"
		}
		parts = append(parts, l.ProjectPath+state)
	}
	if len(parts) == 0 {
		parts = append(parts, "no file, defaults only")
	}
	if n := l.Config.Network.Allow; len(n) > 0 {
		parts = append(parts, fmt.Sprintf("private ranges that may be reached: %v", n))
	}
	return found("configuration", nil, strings.Join(parts, "; "))
}

func checkStore(ctx context.Context, a *app.App) finding {
	s, err := a.Library.Stats(ctx)
	if err == nil {
		err = a.TryStore(ctx)
	}
	f := found("store", err, fmt.Sprintf("%s: %s, %s", a.Place(), count(s.Count, "page"), size(s.Bytes)))
	if f.err != nil {
		f.Advice = "Make " + a.Place() + " writable, or set DIPPER_HOME to a folder that is; cache.store: mem keeps nothing."
	}
	return f
}

func checkLookup(ctx context.Context, a *app.App) finding {
	const name = "name lookup"
	if a.Loaded.Config.Network.ProxyResolves {
		return skipped(name, "left to the proxy (network.proxyResolves)")
	}
	r, err := a.Guard.Route(ctx, doctorHost, 443)
	if err == nil && len(r.Addrs) == 0 {
		err = fault.New(fault.Unreachable, fault.DNS, "%s has no address", doctorHost)
	}
	f := found(name, err, doctorHost+" resolves")
	if f.err != nil {
		f.Advice = "Check the network and the name server of this machine; behind a proxy that resolves names set network.proxyResolves: true."
	}
	return f
}

func checkPage(ctx context.Context, a *app.App, lookup finding) finding {
	const name = "page over TLS"
	if lookup.State == "failed" {
		return skipped(name, "needs name lookup")
	}
	ans, err := a.Client.Fetch(ctx, dipper.Request{URL: "https://" + doctorHost + "/", Refresh: true, NamedBy: permit.Person, Yes: true})
	if err != nil {
		return found(name, err, "")
	}
	return found(name, nil, fmt.Sprintf("%s: %d %s, %s, %d ms", ans.FinalURL, ans.Code, ans.CodeText, size(ans.Bytes), ans.DurationMs))
}

func checkProxy(a *app.App) finding {
	l := a.Loaded
	switch {
	case l.Config.Network.Proxy == "off":
		return found("proxy", nil, "off")
	case l.Config.Network.Proxy != "":
		return found("proxy", nil, "set by "+l.Origins["network.proxy"])
	case l.Standard.HTTPSProxy != "" || l.Standard.HTTPProxy != "":
		return found("proxy", nil, "from the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY)")
	}
	return found("proxy", nil, "none")
}

func checkModel(ctx context.Context, a *app.App) finding {
	const name = "helper model"
	m := a.Helper()
	if m == nil {
		return skipped(name, "none, so a prompt gets passages of the page; set ANTHROPIC_API_KEY, OPENAI_BASE_URL or model.provider for answers")
	}
	start := time.Now()
	c, err := m.Complete(ctx, extract.Prompt{Text: "Answer with the single word: ready", MaxTokens: 16})
	model := c.Model
	if model == "" {
		model = m.Name()
	}
	f := found(name, err, fmt.Sprintf("%s (%s) answered in %d ms", model, a.Model.Provider, time.Since(start).Milliseconds()))
	if f.err != nil {
		f.Advice = "Check the key and the address of the model (dipper config shows where they come from); model.provider: none does without."
	}
	return f
}

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
