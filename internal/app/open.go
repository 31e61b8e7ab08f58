// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/backend/sqlite"
	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
	"github.com/dipper-web/dipper/permit"
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
	Library cache.Shelf  // the page library, on disk or in memory
	Model   *ModelChoice // nil: there is no helper model
	Notes   []string     // what a person should know of how it opened: a store that was set aside, state kept in memory only

	doors         Doors
	db            *sqlite.DB    // nil: state is kept in memory only
	answers       permit.Memory // read from a library that cannot be opened; nil: there are none
	roots         roots
	proxy         retrieve.ProxyFunc // nil: none
	suppliers     *http.Transport
	model         extract.Model
	skipPreflight bool

	noting sync.Mutex // the library may have something to say at any time
	opened bool
}

// Open opens the backends that a configuration names and builds the Client, in
// the order in which one needs another. Nothing is asked of the network. What
// cannot be opened is an error, mostly fault.Invalid; what can be done without
// is a note.
func Open(ctx context.Context, l *Loaded, d Doors) (*App, error) {
	a := &App{Loaded: l, doors: d}
	if err := a.open(ctx); err != nil {
		a.Close()
		return nil, err
	}
	a.noting.Lock()
	defer a.noting.Unlock()
	a.opened = true
	return a, nil
}

// open takes the steps, each in the file of what it builds.
func (a *App) open(ctx context.Context) error {
	if err := a.Loaded.unbuilt(); err != nil {
		return err
	}
	if err := a.openStore(ctx); err != nil { // library.go
		return err
	}
	if err := a.openNetwork(); err != nil { // network.go
		return err
	}
	if err := a.openBook(); err != nil { // rules.go
		return err
	}
	lists, all, err := a.checkers() // rules.go
	if err != nil {
		return err
	}
	helper, err := a.helper() // helper.go
	if err != nil {
		return err
	}
	cfg := &a.Loaded.Config
	a.Client, err = dipper.New(dipper.Options{
		Limits: check.Limits{Declared: a.Guard.Declared}, Permit: a.Book, Get: a.HTTP, Robots: all, Standby: lists,
		Pages: a.Library, Replies: a.replies(), Memory: int64(cfg.Cache.Memory), Fresh: cfg.Cache.TTL, Scope: a.scope(),
		Helper: helper, ModelTimeout: cfg.Timeouts.Model, Prices: a.prices(),
		Restricted: cfg.Policy.Restricted, MaxQuote: cfg.Policy.MaxQuote, PrivatePages: cfg.Model.PrivatePages,
		Keep: a.keeper(), Seen: a.seen, Recorder: a.doors.Recorder, Logger: a.doors.Logger, Timeout: a.patience(),
	})
	return err
}

// unbuilt refuses what a configuration asks of a fetch and this version cannot
// do, so that nothing is spent or left out in silence.
func (l *Loaded) unbuilt() error {
	for key, asked := range map[string]bool{
		"budget.costUSD": l.Config.Budget.CostUSD > 0,
		"budget.tokens":  l.Config.Budget.Tokens > 0,
		"index.fetched":  l.Config.Index.Fetched,
	} {
		if asked {
			return fault.New(fault.Invalid, "", "%s (%s) is not built yet in this version: take it out", key, l.Origins[key])
		}
	}
	return nil
}

// patience is the time for a whole call: the user's, or the door's where that is less.
func (a *App) patience() time.Duration {
	total := a.Loaded.Config.Timeouts.Total
	if a.doors.MaxTotal > 0 {
		return min(total, a.doors.MaxTotal)
	}
	return total
}

// Close closes what Open opened; calls under way are waited for or fail. A second
// Close does nothing.
func (a *App) Close() error {
	if a.HTTP != nil {
		a.HTTP.Close()
	}
	if a.suppliers != nil {
		a.suppliers.CloseIdleConnections()
	}
	if a.db != nil {
		return a.db.Close()
	}
	return nil
}

// note takes down a sentence for a person: while Open runs for Notes, and later
// for the log and whoever records.
func (a *App) note(sentence string) {
	a.noting.Lock()
	opened := a.opened
	if !opened {
		a.Notes = append(a.Notes, sentence)
	}
	a.noting.Unlock()
	if !opened {
		return
	}
	if a.doors.Logger != nil {
		a.doors.Logger.Warn(sentence)
	}
	if a.doors.Recorder != nil {
		a.doors.Recorder.Record(dipper.Event{Kind: dipper.Noted, Note: sentence, Start: time.Now()})
	}
}

// Version is the version that this program calls itself, from its build.
func Version() string { return retrieve.Version() }

// Helper is the helper model, nil where there is none.
func (a *App) Helper() extract.Model { return a.model }
