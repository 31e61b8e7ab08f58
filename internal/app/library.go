// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"path/filepath"
	"time"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/backend/sqlite"
	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
)

// openStore opens the library of pages, replies and permissions. Where that cannot
// be, state is kept in memory, with a note, unless there are answers of a person
// that cannot be read: any may be a no, so they hold or stop everything.
func (a *App) openStore(ctx context.Context) error {
	l := a.Loaded
	a.Library = cache.NewMemory(int64(l.Config.Cache.Memory))
	switch store := l.Config.Cache.Store; {
	case store == "mem":
		return nil
	case store != "sqlite": // the address may hold a password
		return fault.New(fault.Invalid, "", "cache.store (%s) names a redis server, which is not built yet in this version: use sqlite or mem", l.Origins["cache.store"])
	case l.DataDir == "":
		a.note("no home folder is known, so pages and permissions are kept in memory only (set DIPPER_HOME)")
		return nil
	}
	err := a.openLibrary(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	why := fault.From(err).Detail
	if sqlite.Blank(a.libraryPath()) {
		a.note(why + ", so pages and permissions are kept in memory only (DIPPER_HOME names another folder)")
		return nil
	}
	answers, unread := sqlite.Answers(ctx, a.libraryPath())
	if unread != nil {
		return err
	}
	a.answers = permit.NewMemory()
	for _, r := range answers {
		if err := a.answers.Remember(ctx, r); err != nil {
			return err
		}
	}
	a.note(why + ", so pages are kept in memory only; what was answered before counts, and no new answer outlives this run")
	return nil
}

func (a *App) openLibrary(ctx context.Context) error {
	if err := a.Loaded.MakeDataDir(); err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, a.libraryPath(), sqlite.Options{DiskBytes: int64(a.Loaded.Config.Cache.Disk), OnNote: a.note})
	if err != nil {
		return err
	}
	a.db, a.Library = db, db.Pages()
	return nil
}

func (a *App) libraryPath() string { return filepath.Join(a.Loaded.DataDir, "library.db") }

func (a *App) replies() cache.Store {
	if a.db == nil {
		return nil
	}
	return a.db.Replies()
}

// keeper keeps binary bodies beside the library, and in a folder of their own
// where the state folder cannot be used.
func (a *App) keeper() dipper.Keeper {
	l := a.Loaded
	if l.DataDir == "" || a.db == nil && l.Config.Cache.Store == "sqlite" {
		return &scratch{}
	}
	return &either{first: folder{filepath.Join(l.DataDir, "saved")}}
}

// memory gives the answers of a person, nil where none are stored.
func (a *App) memory() permit.Memory {
	if a.db != nil {
		return a.db.Consents()
	}
	return a.answers
}

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
	switch {
	case a.db != nil:
		return a.db.Consents().Forget(ctx, text)
	case a.answers != nil:
		return false, fault.New(fault.Internal, "", "the rule %s stays stored, because the library %s could not be opened", text, a.libraryPath())
	}
	return false, nil
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
	return a.libraryPath()
}

// TryStore writes one entry to the page library and removes it again.
func (a *App) TryStore(ctx context.Context) error {
	const probe = "dipper:probe"
	now := time.Now()
	if err := a.Library.Put(ctx, cache.Entry{Key: probe, ID: "probe", URL: probe, Data: []byte("probe"), StoredAt: now, CheckedAt: now}); err != nil {
		return fault.Wrap(err, fault.Internal, "", "%s cannot be written: %s", a.Place(), fault.From(err).Detail)
	}
	_, err := a.Library.Remove(ctx, probe)
	return err
}
