// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/backend/sqlite"
	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
)

// openStore opens the library of pages, replies and permissions. Where none can
// be made and nothing is lost by it, state is kept in memory, with a note.
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
	if err == nil || ctx.Err() != nil || !a.mayForget() {
		return err
	}
	a.note(fault.From(err).Detail + ", so pages and permissions are kept in memory only (DIPPER_HOME names another folder)")
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

// mayForget reports whether a library that cannot be opened may be done without,
// since it holds nothing. A rule that somebody had Dipper remember must hold or stop
// everything.
func (a *App) mayForget() bool {
	info, err := os.Stat(a.libraryPath())
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || notDir(err)
	}
	return info.Size() == 0
}

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

// keeper keeps binary bodies beside the library, and in a folder of their own
// where the state folder cannot be used.
func (a *App) keeper() dipper.Keeper {
	l := a.Loaded
	if l.DataDir == "" || a.db == nil && l.Config.Cache.Store == "sqlite" {
		return &scratch{}
	}
	return folder{filepath.Join(l.DataDir, "saved")}
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
	return a.libraryPath()
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
