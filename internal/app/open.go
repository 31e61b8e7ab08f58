// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/backend/anthropic"
	"github.com/dipper-web/dipper/backend/openai"
	"github.com/dipper-web/dipper/backend/sqlite"
	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
	"github.com/dipper-web/dipper/permit"
	"github.com/dipper-web/dipper/preflight"
	"github.com/dipper-web/dipper/retrieve"
)

// Doors is what the program around an App brings along.
type Doors struct {
	Recorder dipper.Recorder // nil: none
	Asker    permit.Asker    // nil: nobody can be asked
	Logger   *slog.Logger    // nil: silent
	MaxTotal time.Duration   // a bound that the door has for a whole call; 0: none
}

// App is everything that a configuration opens.
type App struct {
	Loaded  *Loaded
	Client  *dipper.Client
	Book    *permit.Book
	Trusted *permit.Trusted
	Guard   *guard.Guard
	HTTP    *retrieve.HTTP
	Library cache.Shelf // the page library, on disk or in memory
	Model   *ModelChoice
	Notes   []string // what a person should know: a store that was set aside, state kept in memory only

	db    *sqlite.DB
	model extract.Model
}

// Open opens the backends that a configuration names and builds the Client.
func Open(ctx context.Context, l *Loaded, d Doors) (*App, error) {
	a := &App{Loaded: l}
	if err := a.openStore(ctx); err != nil {
		return nil, err
	}
	if err := a.build(d); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close closes what Open opened.
func (a *App) Close() error {
	if a.HTTP != nil {
		a.HTTP.Close()
	}
	if a.db != nil {
		return a.db.Close()
	}
	return nil
}

// Version is the version that this program calls itself, from its build.
func Version() string { return retrieve.Version() }

// openStore opens the page library. State that cannot be kept on disk is kept
// in memory, with a note; a store that is named and cannot be opened is an error.
func (a *App) openStore(ctx context.Context) error {
	l := a.Loaded
	store := l.Config.Cache.Store
	switch {
	case store == "mem":
		a.Library = cache.NewMemory(int64(l.Config.Cache.Memory))
		return nil
	case store != "sqlite":
		return fault.New(fault.Invalid, "", "cache.store %q is not built yet: use sqlite or mem", store)
	case l.DataDir == "":
		a.Notes = append(a.Notes, "no home folder is known, so pages and permissions are kept in memory only (set DIPPER_HOME)")
		a.Library = cache.NewMemory(int64(l.Config.Cache.Memory))
		return nil
	}
	if err := l.MakeDataDir(); err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, filepath.Join(l.DataDir, "library.db"), sqlite.Options{
		DiskBytes: int64(l.Config.Cache.Disk),
		OnNote:    func(s string) { a.Notes = append(a.Notes, s) },
	})
	if err != nil {
		return err
	}
	a.db, a.Library = db, db.Pages()
	return nil
}

// build makes the rooms and the Client from the configuration.
func (a *App) build(d Doors) error {
	var err error
	if a.Guard, err = guard.New(a.guardOptions()); err != nil {
		return err
	}
	if a.HTTP, err = a.retriever(); err != nil {
		return err
	}
	if a.Book, err = a.book(d.Asker); err != nil {
		return err
	}
	lists, all, err := a.preflight()
	if err != nil {
		return err
	}
	cfg := &a.Loaded.Config
	opts := dipper.Options{
		Limits: check.Limits{Declared: a.Guard.Declared}, Permit: a.Book, Get: a.HTTP, Robots: all, Standby: lists,
		Pages: a.pages(), Replies: a.replies(), Memory: int64(cfg.Cache.Memory), Fresh: cfg.Cache.TTL, Scope: a.scope(),
		ModelTimeout: cfg.Timeouts.Model, Prices: a.prices(), Restricted: cfg.Policy.Restricted, MaxQuote: cfg.Policy.MaxQuote,
		PrivatePages: cfg.Model.PrivatePages, Seen: a.seen, Recorder: d.Recorder, Logger: d.Logger, Timeout: cfg.Timeouts.Total,
	}
	if d.MaxTotal > 0 {
		opts.Timeout = min(opts.Timeout, d.MaxTotal)
	}
	if a.Loaded.DataDir != "" {
		opts.Keep = folder{filepath.Join(a.Loaded.DataDir, "saved")}
	} else {
		opts.Keep = folder{filepath.Join(os.TempDir(), fmt.Sprintf("dipper-%d", os.Getuid()))}
	}
	if opts.Helper, err = a.helper(); err != nil {
		return err
	}
	a.Client, err = dipper.New(opts)
	return err
}

func (a *App) guardOptions() guard.Options {
	n := a.Loaded.Config.Network
	return guard.Options{Allow: n.Allow, Ports: n.Ports, Resolve: n.Resolve}
}

// retriever makes the room that uses the wire.
func (a *App) retriever() (*retrieve.HTTP, error) {
	cfg, std := &a.Loaded.Config, a.Loaded.Standard
	proxy, err := retrieve.NewProxy(cfg.Network.Proxy, std.HTTPProxy, std.HTTPSProxy, std.NoProxy)
	if err != nil {
		return nil, err
	}
	roots, err := loadRoots(cfg.Network.CACert)
	if err != nil {
		return nil, err
	}
	o := retrieve.Options{
		Guard: a.Guard, Upgrade: cfg.Network.Upgrade, Roots: roots, Proxy: proxy, ProxyResolves: cfg.Network.ProxyResolves,
		Parallel: cfg.Network.PerHost.Parallel, Every: cfg.Network.PerHost.Every, UserAgent: cfg.Network.UserAgent,
		Timeouts: retrieve.Timeouts{Connect: cfg.Timeouts.Connect, Headers: cfg.Timeouts.Headers, Idle: cfg.Timeouts.Idle, Total: cfg.Timeouts.Total},
	}
	if a.db != nil {
		o.Pauses = a.db.Pauses()
	}
	return retrieve.New(o)
}

// book gathers the rules of all places.
func (a *App) book(asker permit.Asker) (*permit.Book, error) {
	cfg := &a.Loaded.Config
	trusted, err := permit.NewTrusted(cfg.Trusted.Add, cfg.Trusted.Remove, cfg.Permissions.Preapproved)
	if err != nil {
		return nil, err
	}
	a.Trusted = trusted
	o := permit.Options{Default: cfg.Permissions.Default, Trusted: trusted, Asker: asker, Provenance: cfg.Provenance}
	if a.db != nil {
		o.Memory = a.db.Consents()
	}
	lists := []struct {
		key string
		to  *[]permit.Sourced
	}{{"permissions.allow", &o.Allow}, {"permissions.ask", &o.Ask}, {"permissions.deny", &o.Deny}}
	for _, list := range lists {
		for _, item := range a.Loaded.Items(list.key) {
			if err := addRule(list.to, item.Text, item.From); err != nil {
				return nil, a.Loaded.Wrong(list.key, item, err)
			}
		}
	}
	for _, path := range cfg.Permissions.Files {
		allow, ask, deny, skip, err := permit.LoadSettings(path)
		if err != nil {
			return nil, err
		}
		for i, texts := range [][]string{allow, ask, deny} {
			for _, text := range texts {
				if err := addRule(lists[i].to, text, path); err != nil {
					return nil, a.Loaded.Wrong(lists[i].key, Item{text, path}, err)
				}
			}
		}
		cfg.Preflight.Skip = cfg.Preflight.Skip || skip
	}
	return permit.New(o)
}

func addRule(to *[]permit.Sourced, text, from string) error {
	rule, err := check.ParseRule(text)
	if err != nil {
		return err
	}
	*to = append(*to, permit.Sourced{Rule: rule, From: from})
	return nil
}

// preflight makes the checkers: the lists, which need no network, and all of them.
func (a *App) preflight() (lists, all preflight.Checker, err error) {
	cfg := &a.Loaded.Config
	lists, err = preflight.NewList(cfg.Preflight.Block, readListFile)
	if err != nil {
		return nil, nil, err
	}
	checkers := []preflight.Checker{lists}
	if cfg.Preflight.URL != "" && !cfg.Preflight.Skip {
		client := &http.Client{Timeout: preflightTimeout}
		checkers = append(checkers, preflight.Cached(preflight.NewRemote(cfg.Preflight.URL, client)))
	}
	if cfg.Preflight.Robots != "ignore" {
		checkers = append(checkers, preflight.NewRobots(preflight.RobotsOptions{
			Mode: cfg.Preflight.Robots, Agent: a.HTTP.UserAgent(), Fetch: a.fetchRobots,
		}))
	}
	return lists, preflight.All(checkers...), nil
}

// preflightTimeout bounds one question to the remote service.
const preflightTimeout = 10 * time.Second

// fetchRobots brings a robots.txt through the same guard as a page.
func (a *App) fetchRobots(ctx context.Context, t check.Target) (preflight.File, error) {
	p, err := a.HTTP.Get(ctx, retrieve.Request{Target: t, Accept: "text/plain, */*;q=0.5", MaxBody: preflight.MaxRobots})
	if err != nil {
		return preflight.File{}, err
	}
	f := preflight.File{Status: p.Status, Body: p.Body, Cut: p.Cut != "" && p.Cut != "size", Hops: len(p.Hops), RetryAfter: p.RetryAfter}
	if p.Moved != nil {
		f.Moved = p.Moved.To
	}
	return f, nil
}

// helper makes the helper model, nil where there is none.
func (a *App) helper() (*dipper.Helper, error) {
	choice, err := a.Loaded.ResolveModel()
	if err != nil || choice == nil {
		return nil, err
	}
	a.Model = choice
	client := &http.Client{} // every call has a deadline of its own
	var m interface {
		extract.Model
		Local() bool
	}
	switch choice.Provider {
	case "anthropic":
		m, err = anthropic.New(anthropic.Options{BaseURL: choice.BaseURL, Key: choice.Key, Model: choice.Name, HTTP: client})
	case "openai":
		m, err = openai.New(openai.Options{BaseURL: choice.BaseURL, Key: choice.Key, Model: choice.Name, HTTP: client})
	default:
		err = fault.New(fault.Invalid, "", "model.provider %q is unknown: use anthropic, openai or none", choice.Provider)
	}
	if err != nil {
		return nil, err
	}
	a.model = m
	return &dipper.Helper{Model: m, Inferred: choice.Inferred, Local: m.Local()}, nil
}

func (a *App) pages() cache.Store { return a.Library }

func (a *App) replies() cache.Store {
	if a.db == nil {
		return nil
	}
	return a.db.Replies()
}

// seen opens the ledger of a session: on disk where the session has a name that
// several commands share.
func (a *App) seen(session string) permit.Seen {
	if a.db == nil || session == "" {
		return permit.NewLedger()
	}
	return a.db.Seen(session)
}

func (a *App) prices() extract.Prices {
	p := extract.BuiltinPrices()
	for name, v := range a.Loaded.Config.Prices {
		p[name] = extract.Price{In: v.In, Out: v.Out, Cached: v.Cached}
	}
	return p
}

// scope is a digest of what besides the URL decides what is fetched, so that a
// page fetched through one proxy or a declared name is no other's.
func (a *App) scope() string {
	n := a.Loaded.Config.Network
	h := sha256.New()
	keys := make([]string, 0, len(n.Resolve))
	for k := range n.Resolve {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprintf(h, "resolve %s=%s\n", k, n.Resolve[k])
	}
	std := a.Loaded.Standard
	fmt.Fprintf(h, "cacert %q\nproxy %q %q %q %q\nagent %q\n", n.CACert, n.Proxy, std.HTTPProxy, std.HTTPSProxy, std.NoProxy, a.HTTP.UserAgent())
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// readListFile reads a block list, bounded. The configuration has made the names
// of list files absolute; anything else is a host pattern, and a file of that
// name in the working folder must not take its place.
func readListFile(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, fs.ErrNotExist
	}
	return readBounded(path, maxListFile)
}

// maxListFile bounds a block list: the largest public lists have some 20 MB.
const maxListFile = 64 << 20

// RememberRule stores a rule beside those of the configuration.
func (a *App) RememberRule(ctx context.Context, kind permit.Decision, text string) error {
	if _, err := check.ParseRule(text); err != nil {
		return err
	}
	if a.db == nil {
		return fault.New(fault.Invalid, "", "rules cannot be stored while state is kept in memory only; write the rule into the configuration")
	}
	return a.db.Consents().Remember(ctx, permit.Remembered{Kind: kind, Rule: text, At: time.Now()})
}

// ForgetRule removes a stored rule and reports whether it was there.
func (a *App) ForgetRule(ctx context.Context, text string) (bool, error) {
	if a.db == nil {
		return false, nil
	}
	return a.db.Consents().Forget(ctx, text)
}

// ForgetPage removes the kept pages of one URL and counts them.
func (a *App) ForgetPage(ctx context.Context, url string) (int, error) {
	t, err := check.Limits{Declared: a.Guard.Declared}.Parse(url)
	if err != nil {
		return 0, err
	}
	n, err := a.Library.Remove(ctx, t.String())
	if err != nil || t.Secure().String() == t.String() {
		return n, err
	}
	m, err := a.Library.Remove(ctx, t.Secure().String())
	return n + m, err
}

// Place says where pages are kept.
func (a *App) Place() string {
	if a.db == nil {
		return "memory"
	}
	return filepath.Join(a.Loaded.DataDir, "library.db")
}

// TryStore writes one entry to the page library and removes it again.
func (a *App) TryStore(ctx context.Context) error {
	const probe = "dipper:probe"
	now := time.Now()
	if err := a.Library.Put(ctx, cache.Entry{Key: probe, ID: "probe", URL: probe, Data: []byte("probe"), StoredAt: now, CheckedAt: now}); err != nil {
		return fault.Wrap(err, fault.Internal, "", "%s cannot be written: %v", a.Place(), err)
	}
	_, err := a.Library.Remove(ctx, probe)
	return err
}

// Helper is the helper model, nil where there is none.
func (a *App) Helper() extract.Model { return a.model }
