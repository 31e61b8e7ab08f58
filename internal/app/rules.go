// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
	"github.com/dipper-web/dipper/preflight"
	"github.com/dipper-web/dipper/retrieve"
)

// openBook gathers the rules of all places.
func (a *App) openBook() (err error) {
	cfg := &a.Loaded.Config
	if err := a.placesRead(); err != nil {
		return err
	}
	if a.Trusted, err = permit.NewTrusted(cfg.Trusted.Add, cfg.Trusted.Remove, cfg.Permissions.Preapproved); err != nil {
		return err
	}
	o := permit.Options{Default: cfg.Permissions.Default, Trusted: a.Trusted, Asker: a.doors.Asker, Provenance: cfg.Provenance}
	o.Memory = a.memory()
	lists := []ruleList{{"permissions.allow", &o.Allow}, {"permissions.ask", &o.Ask}, {"permissions.deny", &o.Deny}}
	for _, list := range lists {
		if err := list.add(a.Loaded, a.Loaded.Items(list.key)); err != nil {
			return err
		}
	}
	for _, path := range cfg.Permissions.Files {
		if err := a.readSettings(path, lists); err != nil {
			return err
		}
	}
	a.Book, err = permit.New(o)
	return err
}

// placesRead finds the place of the configuration that holds an entry for the
// trusted list which cannot be read.
func (a *App) placesRead() error {
	for _, item := range a.Loaded.Items("trusted.add") {
		if _, err := permit.NewTrusted([]string{item.Text}, nil, false); err != nil {
			return a.Loaded.Wrong("trusted.add", item, err)
		}
	}
	for _, item := range a.Loaded.Items("trusted.remove") {
		if _, err := permit.NewTrusted(nil, []string{item.Text}, false); err != nil {
			return a.Loaded.Wrong("trusted.remove", item, err)
		}
	}
	return nil
}

// ruleList is a list of rules on its way from a key of the configuration.
type ruleList struct {
	key string
	to  *[]permit.Sourced
}

func (r ruleList) add(l *Loaded, items []Item) error {
	for _, item := range items {
		rule, err := check.ParseRule(item.Text)
		if err != nil {
			return l.Wrong(r.key, item, err)
		}
		*r.to = append(*r.to, permit.Sourced{Rule: rule, From: item.From})
	}
	return nil
}

// readSettings adds the rules of a settings file of the reference tool, and minds
// its wish to leave out the remote check.
func (a *App) readSettings(path string, lists []ruleList) error {
	allow, ask, deny, skip, err := permit.LoadSettings(path)
	if err != nil {
		return err
	}
	a.skipPreflight = a.skipPreflight || skip
	for i, texts := range [][]string{allow, ask, deny} {
		var items []Item
		for _, text := range texts {
			items = append(items, Item{text, path})
		}
		if err := lists[i].add(a.Loaded, items); err != nil {
			return err
		}
	}
	return nil
}

// checkers makes what is asked before a host is read: the block lists, which need
// no network and hold for kept pages too, and everything.
func (a *App) checkers() (lists, all preflight.Checker, err error) {
	cfg := a.Loaded.Config.Preflight
	if lists, err = preflight.NewList(cfg.Block, readListFile); err != nil {
		return nil, nil, err
	}
	checkers := []preflight.Checker{lists}
	if cfg.URL != "" && !cfg.Skip && !a.skipPreflight {
		remote := preflight.NewRemote(cfg.URL, &http.Client{Transport: a.suppliers})
		checkers = append(checkers, preflight.Cached(remote))
	}
	if cfg.Robots != preflight.Ignore {
		fetch := func(ctx context.Context, t check.Target) (preflight.File, error) { return a.fetchRobots(ctx, t, lists) }
		robots := preflight.NewRobots(preflight.RobotsOptions{Mode: cfg.Robots, Agent: a.HTTP.UserAgent(), Fetch: fetch})
		checkers = append(checkers, guarded{robots})
	}
	return lists, preflight.All(checkers...), nil
}

// fetchRobots brings a robots.txt the way of a page: through the guard, and on
// to no host that is denied or blocked.
func (a *App) fetchRobots(ctx context.Context, t check.Target, lists preflight.Checker) (preflight.File, error) {
	gate := &robotsGate{book: a.Book, lists: lists}
	if err := gate.Pass(ctx, t); err != nil {
		return preflight.File{}, err
	}
	p, err := a.HTTP.Get(ctx, retrieve.Request{Target: t, Gate: gate, Accept: "text/plain, */*;q=0.5", MaxBody: preflight.MaxRobots})
	if errors.Is(err, fault.Unsafe) && a.unsafePlace(ctx, t) || gate.passed == 1 && outOfReach(err) {
		err = &placeError{t.HostPort(), err}
	}
	if err != nil {
		return preflight.File{}, err
	}
	f := preflight.File{Status: p.Status, Body: p.Body, Cut: p.Cut != "" && p.Cut != "size", Hops: len(p.Hops), RetryAfter: p.RetryAfter}
	if p.Moved != nil {
		f.Moved = p.Moved.To
	}
	return f, nil
}

// guarded is the checker of robots.txt, which is the first to meet the guard and the
// host: what is wrong with a page's own place is said of the page, which would fail
// the same way. That a host gives no robots.txt, or is silent, is another matter.
type guarded struct{ robots preflight.Checker }

func (g guarded) Check(ctx context.Context, ask preflight.Ask) (preflight.Clearance, error) {
	c, err := g.robots.Check(ctx, ask)
	var no *placeError
	if errors.As(err, &no) && no.place == ask.Target.HostPort() {
		return c, no.err
	}
	return c, err
}

// unsafePlace reports whether it is the target's own host that the guard refuses,
// or that has no address to be judged, and not where its answer leads.
func (a *App) unsafePlace(ctx context.Context, t check.Target) bool {
	_, err := a.Guard.Route(ctx, t.Host(), t.Port())
	return errors.Is(err, fault.Unsafe) || err != nil && fault.From(err).Cause == fault.DNS
}

// outOfReach reports whether a failure lies in the place and not in its robots.txt:
// no such name, nobody who listens, no trustworthy TLS, a proxy that fails.
func outOfReach(err error) bool {
	if !errors.Is(err, fault.Unreachable) {
		return false
	}
	switch fault.From(err).Cause {
	case fault.DNS, fault.Connect, fault.TLS, fault.Proxy:
		return true
	}
	return false
}

// placeError is what is wrong with a place.
type placeError struct {
	place string // host:port
	err   error
}

func (e *placeError) Error() string { return e.err.Error() }
func (e *placeError) Unwrap() error { return e.err }

// robotsGate lets a robots.txt lead anywhere but to what a rule denies or a list
// blocks. The page's own permission was judged before; nobody is asked again.
type robotsGate struct {
	book   *permit.Book
	lists  preflight.Checker
	passed int // how many places were let through: with two there was a redirect
}

func (g *robotsGate) Pass(ctx context.Context, hop check.Target) error {
	g.passed++
	v, err := g.book.Explain(ctx, hop, permit.Agent)
	if err != nil {
		return err
	}
	if v.Decision == permit.Deny && v.Rule != "" {
		return fault.New(fault.Denied, fault.ByRule, "the rule %s (%s) forbids %s", v.Rule, v.From, hop)
	}
	_, err = g.lists.Check(ctx, preflight.Ask{Target: hop})
	return err
}

// maxListFile bounds a block list: the largest public lists have some 20 MB.
const maxListFile = 32 << 20

// readListFile reads a block list, bounded. The configuration has made the names
// of list files absolute; anything else is a host pattern, and a file of that
// name in the working folder must not take its place.
func readListFile(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, fs.ErrNotExist
	}
	return readBounded(path, maxListFile)
}
