// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
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
	// doctorTime bounds each check.
	doctorTime = 15 * time.Second
)

// finding is the result of one check.
type finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"`

	err error
}

func (p *Program) doctor() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "What works here, and the one thing to change", Args: noArgs,
		Long: `Tries what Dipper needs: configuration, store, name lookup, TLS, proxy, model.
It reads https://` + doctorHost + `/ and asks the helper model, if there is one, for one word.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.withApp(cmd.Context(), p.runDoctor) },
	}
}

func (p *Program) runDoctor(ctx context.Context, a *app.App) error {
	checks := []func(context.Context, *app.App) finding{checkConfig, checkStore, checkLookup, checkPage, checkProxy, checkModel}
	var all []finding
	for _, check := range checks {
		ctx, cancel := context.WithTimeout(ctx, doctorTime)
		all = append(all, check(ctx, a))
		cancel()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var worst *finding
	for i := range all {
		if !all[i].OK && worst == nil {
			worst = &all[i]
		}
	}
	if worst != nil {
		p.exit = fault.Of(fault.From(worst.err).Kind).Exit
	}
	p.report(all, worst)
	return nil
}

func (p *Program) report(all []finding, worst *finding) {
	if p.flags.json {
		out := struct {
			OK     bool      `json:"ok"`
			Checks []finding `json:"checks"`
			Change string    `json:"change,omitempty"`
		}{worst == nil, all, ""}
		if worst != nil {
			out.Change = worst.Advice
		}
		p.writeJSON(out)
		return
	}
	for _, f := range all {
		mark := "ok  "
		if !f.OK {
			mark = "FAIL"
		}
		fmt.Fprintf(p.Stdout, "%s  %-13s %s\n", mark, f.Name, f.Detail)
	}
	if worst != nil {
		fmt.Fprintf(p.Stdout, "\nChange this first: %s\n", worst.Advice)
	}
}

// found makes a finding of an error, or of a sentence where there is none.
func found(name string, err error, detail string) finding {
	if err == nil {
		return finding{Name: name, OK: true, Detail: detail}
	}
	f := fault.From(err)
	return finding{Name: name, Detail: f.Detail, Advice: f.Say(), err: err}
}

func checkConfig(_ context.Context, a *app.App) finding {
	l, parts := a.Loaded, []string{}
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
	return found("store", err, fmt.Sprintf("%s: %d pages, %s", a.Place(), s.Count, size(s.Bytes)))
}

func checkLookup(ctx context.Context, a *app.App) finding {
	r, err := a.Guard.Route(ctx, doctorHost, 443)
	if err == nil && len(r.Addrs) == 0 {
		err = fault.New(fault.Unreachable, fault.DNS, "%s has no address", doctorHost)
	}
	f := found("name lookup", err, doctorHost+" resolves")
	if f.err != nil {
		f.Advice = "Check the network and the name server of this machine; behind a proxy that resolves names set network.proxyResolves: true."
	}
	return f
}

func checkPage(ctx context.Context, a *app.App) finding {
	ans, err := a.Client.Fetch(ctx, dipper.Request{URL: "https://" + doctorHost + "/", Refresh: true, NamedBy: permit.Person, Yes: true})
	if err != nil {
		return found("page over TLS", err, "")
	}
	return found("page over TLS", nil, fmt.Sprintf("%s: %d %s, %s, %d ms", ans.FinalURL, ans.Code, ans.CodeText, size(ans.Bytes), ans.DurationMs))
}

func checkProxy(_ context.Context, a *app.App) finding {
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
	m := a.Helper()
	if m == nil {
		return found("helper model", nil, "none: prompts get passages of the page; set ANTHROPIC_API_KEY, OPENAI_BASE_URL or model.provider for answers")
	}
	start := time.Now()
	c, err := m.Complete(ctx, extract.Prompt{Text: "Answer with the single word: ready", MaxTokens: 16})
	return found("helper model", err, fmt.Sprintf("%s (%s) answered in %d ms", c.Model, a.Model.Provider, time.Since(start).Milliseconds()))
}
