// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
)

// The values of Options.Upgrade. The empty string is UpgradeAuto.
const (
	UpgradeAuto   = "auto"   // public hosts go to https, private ones stay as written
	UpgradeAlways = "always" // private ones too
	UpgradeNever  = "never"  // as written
)

func validUpgrade(s string) bool {
	switch s {
	case "", UpgradeAuto, UpgradeAlways, UpgradeNever:
		return true
	}
	return false
}

// settle judges where a target leads, and decides between http and https. The https
// form is judged for itself, and there is no way back from it: a page that https
// does not give is not asked in clear text.
func (h *HTTP) settle(ctx context.Context, t check.Target) (place, error) {
	if h.upgrade != UpgradeAlways && h.guard.Declared(t.Host(), t.Port()) {
		// The user said where this name leads; nobody else is asked about it first.
		if p, err := h.judge(ctx, t); err != nil || p.route.Private {
			return p, err
		}
	}
	secure := t.Secure()
	if h.upgrade != UpgradeNever && secure.Scheme() != t.Scheme() {
		p, err := h.judge(ctx, secure)
		p.upgraded = true
		switch {
		case h.upgrade == UpgradeAlways || err == nil && !p.route.Private:
			return p, err
		case err != nil && !h.guard.Declared(t.Host(), t.Port()):
			return p, err
		}
	}
	return h.judge(ctx, t)
}

// judge looks a target up and has every answer judged, afresh for each request. With
// a proxy, a name that does not resolve here cannot be judged, and is refused unless
// the user leaves such names to the proxy.
func (h *HTTP) judge(ctx context.Context, t check.Target) (place, error) {
	p := place{target: t}
	if h.proxy != nil {
		u, err := h.proxy(t.URL())
		if err != nil {
			return p, fault.Wrap(err, fault.Unreachable, fault.Proxy, "the proxy for %s cannot be told from the settings", origin(t))
		}
		p.proxy = u
	}
	dial, cancel := context.WithTimeoutCause(ctx, h.times.Connect, errConnect)
	defer cancel()
	route, err := h.guard.Route(dial, t.Host(), t.Port())
	p.route = route
	switch {
	case err == nil:
		return p, nil
	case context.Cause(ctx) != nil:
		return p, h.failed(ctx, p, context.Cause(ctx))
	case p.proxy != nil && unresolved(err):
		return h.unjudged(p, err)
	case context.Cause(dial) != nil:
		return p, fault.Wrap(err, fault.Timeout, fault.Connect, "looking up %s took longer than %v", t.Host(), h.times.Connect)
	}
	return p, err
}

// unjudged decides about a name that only the proxy may know.
func (h *HTTP) unjudged(p place, err error) (place, error) {
	if h.proxyResolves {
		p.route = guard.Route{Host: p.target.Host(), Port: p.target.Port()}
		return p, nil
	}
	e := fault.Wrap(err, fault.Unsafe, fault.BadName, "%s does not resolve here, so where the proxy would go cannot be judged", p.target.Host())
	e.Advice = "Check the host name; a user whose names are known to the proxy alone can set network.proxyResolves: true."
	return p, e
}

// unresolved reports whether a name had no answer, as opposed to a bad one. It holds
// for the failure of unjudged too, which wraps the lookup's.
func unresolved(err error) bool {
	return errors.Is(err, fault.Unreachable) || errors.Is(err, fault.Timeout)
}
