// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/backend/anthropic"
	"github.com/dipper-web/dipper/backend/openai"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
)

// helper makes the helper model, nil where there is none. Its service is not
// asked anything yet.
func (a *App) helper() (*dipper.Helper, error) {
	choice, err := a.Loaded.ResolveModel()
	if err != nil {
		return nil, err
	}
	if choice == nil {
		if m := a.Loaded.Config.Model; m.Provider == "" && m.Name != "" {
			a.note("model.name is " + m.Name + ", but no key and no address says who serves it, so there is no helper model (set model.provider)")
		}
		return nil, nil
	}
	m, err := a.openModel(*choice)
	if err != nil {
		return nil, err
	}
	a.Model, a.model = choice, m
	return &dipper.Helper{Model: m, Inferred: choice.Inferred, Local: m.Local() || a.inAllowedRange(choice.BaseURL)}, nil
}

// localModel is a model that knows whether it runs nearby.
type localModel interface {
	extract.Model
	Local() bool
}

func (a *App) openModel(c ModelChoice) (localModel, error) {
	client := &http.Client{Transport: a.suppliers} // every call has a deadline of its own
	switch c.Provider {
	case "anthropic":
		if c.Key == "" && serves(c.BaseURL, anthropic.DefaultBase) {
			return keyless{cmp.Or(c.Name, anthropic.DefaultHelper), c.Provider, "ANTHROPIC_API_KEY"}, nil
		}
		return anthropic.New(anthropic.Options{BaseURL: c.BaseURL, Key: c.Key, Model: c.Name, HTTP: client})
	case "openai":
		if c.Key == "" && serves(c.BaseURL, openai.DefaultBase) {
			return keyless{cmp.Or(c.Name, c.Provider), c.Provider, "OPENAI_API_KEY"}, nil
		}
		return openai.New(openai.Options{BaseURL: c.BaseURL, Key: c.Key, Model: c.Name, HTTP: client})
	}
	return nil, fault.New(fault.Invalid, "", "model.provider %q is unknown: use anthropic, openai or none", c.Provider)
}

// serves reports whether an address, empty for none, is that of the public service.
func serves(address, public string) bool {
	if address == "" {
		return true
	}
	is, err := url.Parse(address)
	want, err2 := url.Parse(public)
	return err == nil && err2 == nil && is.Hostname() == want.Hostname()
}

// inAllowedRange reports whether an address is a literal one in a private range
// that the user lets pages come from.
func (a *App) inAllowedRange(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && a.Guard.Private(ip)
}

// keyless stands for a public service that was chosen and whose key is missing.
// Only who wants an answer from it hears so: everything else works without.
type keyless struct{ name, provider, variable string }

func (k keyless) Name() string { return k.name }
func (k keyless) Local() bool  { return false }

func (k keyless) Complete(context.Context, extract.Prompt) (extract.Completion, error) {
	f := fault.New(fault.Invalid, "", "the model provider is %s, and there is no key for it: set %s", k.provider, k.variable)
	f.Advice = "Use mode extract, which needs no model; the user can set " + k.variable + ", name a server of their own with model.baseURL, or set model.provider: none."
	return extract.Completion{}, f
}

// prices are the built-in ones with the user's over them.
func (a *App) prices() extract.Prices {
	p := extract.BuiltinPrices()
	for name, v := range a.Loaded.Config.Prices {
		p[name] = extract.Price{In: v.In, Out: v.Out, Cached: v.Cached}
	}
	return p
}
