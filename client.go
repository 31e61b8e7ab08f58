// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/netip"
	"runtime"
	"time"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
	"github.com/dipper-web/dipper/preflight"
	"github.com/dipper-web/dipper/retrieve"
)

// Figures that hold where Options name none.
const (
	// TotalTimeout bounds a whole fetch, the reader included: an agent waits no longer.
	TotalTimeout = 60 * time.Second
	// ModelTimeout bounds the helper model's share of it.
	ModelTimeout = 45 * time.Second
	// FreshFor is how long a kept page is served without asking the site again.
	FreshFor = 15 * time.Minute
	// MemoryBytes bounds the kept pages in memory.
	MemoryBytes = 50 << 20
)

// Getter reads pages. [retrieve.HTTP] is the one that uses the wire.
type Getter interface {
	retrieve.Getter
	// MayReach reports whether a kept page's address may still be reached.
	MayReach(netip.Addr) bool
}

// Keeper keeps binary bodies. name is a safe file name; the path under which
// the body can be found comes back.
type Keeper interface {
	Keep(ctx context.Context, name string, body []byte) (path string, err error)
}

// Helper is the small model that reads pages, with what the corridor must know of it.
type Helper struct {
	Model    extract.Model
	Inferred bool // only a key in the environment named it: when it fails, passages come back instead
	Local    bool // it runs in a private range, so private pages may go to it
}

// Options say how a Client works. Permit and Get are needed; everything else
// has a sensible zero.
type Options struct {
	Limits  check.Limits
	Permit  *permit.Book
	Get     Getter
	Robots  preflight.Checker // everything to be cleared before a request; nil: nothing
	Standby preflight.Checker // what also holds for kept pages: lists that need no network; nil: nothing

	Pages   cache.Store // the page library behind the memory; nil: memory alone
	Replies cache.Store // replies of the helper model; nil: not kept
	Memory  int64       // bytes; 0: MemoryBytes
	Fresh   time.Duration
	Scope   string // what besides the URL decides what is fetched, as a digest: resolve, cacert, proxy, user agent

	Helper       *Helper // nil: none
	ModelTimeout time.Duration
	Prices       extract.Prices // nil: the built-in table
	Restricted   string         // what may leave a restricted page: any (default), passages, helper
	MaxQuote     int            // characters; 0: extract's
	PrivatePages string         // local (default): private pages go to a local model only; allow

	Keep     Keeper                           // nil: binary bodies are refused as unreadable
	Seen     func(session string) permit.Seen // provenance ledgers; nil: one in memory for each session
	Recorder Recorder
	Logger   *slog.Logger // nil: silent
	Timeout  time.Duration
}

// Client reads the web. Make one with New and share it.
type Client struct {
	o       Options
	docs    *cache.View[reading]
	replies *cache.View[extract.Reply]
	seen    *ledgers
	desks   chan struct{} // see sit
	log     *slog.Logger
}

// New checks the options and makes a Client.
func New(o Options) (*Client, error) {
	if o.Permit == nil || o.Get == nil {
		return nil, fault.New(fault.Invalid, "", "a client needs Permit and Get")
	}
	fill(&o.Timeout, TotalTimeout)
	fill(&o.ModelTimeout, ModelTimeout)
	fill(&o.Fresh, FreshFor)
	fill(&o.Memory, MemoryBytes)
	fill(&o.Restricted, "any")
	fill(&o.PrivatePages, "local")
	if o.Robots == nil {
		o.Robots = preflight.None()
	}
	if o.Standby == nil {
		o.Standby = preflight.None()
	}
	if o.Prices == nil {
		o.Prices = extract.BuiltinPrices()
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Client{o: o, log: log, seen: newLedgers(o.Seen), desks: make(chan struct{}, 2*runtime.GOMAXPROCS(0))}
	c.docs = cache.NewView(cache.ViewOptions[reading]{
		Store: o.Pages, Memory: o.Memory, Fresh: o.Fresh,
		Encode: encodeReading, Decode: decodeReading, Label: labelReading, OnError: c.storeFailed,
	})
	c.replies = cache.NewView(cache.ViewOptions[extract.Reply]{
		Store: o.Replies, Memory: o.Memory / 16, Fresh: replyLife,
		Encode: encodeReply, Decode: decodeReply, OnError: c.storeFailed,
	})
	return c, nil
}

// HasModel reports whether a helper model is there.
func (c *Client) HasModel() bool { return c.o.Helper != nil }

// storeFailed tells of a store that failed: a miss, never a failed fetch.
func (c *Client) storeFailed(op string, err error) {
	c.log.Warn("page library", "op", op, "error", err)
	if c.o.Recorder != nil {
		c.o.Recorder.Record(Event{Kind: Noted, Note: storeNote(op, err), Start: time.Now()})
	}
}

// storeNote says in a person's words what a store could not do.
func storeNote(op string, err error) string {
	var f *fault.Error
	switch {
	case errors.As(err, &f) && f.Kind != fault.Timeout:
		return f.Detail
	case errors.Is(err, context.DeadlineExceeded):
		return "the page library did not answer in time (" + op + ")"
	}
	return "the page library failed (" + op + "): " + err.Error()
}

// begin opens a run.
func (c *Client) begin(url string) *run {
	id := make([]byte, 6)
	rand.Read(id)
	r := &run{id: hex.EncodeToString(id), url: url, began: time.Now(), recorder: c.o.Recorder}
	r.record(Event{Kind: Began, Start: r.began})
	return r
}

// sit waits for a desk to convert a page at. That is work and nothing else: more
// of it at once than twice the processors would not be done sooner, and each piece
// holds many times its page in memory.
func (c *Client) sit(ctx context.Context) (leave func(), err error) {
	select {
	case c.desks <- struct{}{}:
		return func() { <-c.desks }, nil
	case <-ctx.Done():
		return nil, fault.From(ctx.Err())
	}
}

// fill sets *v to def where it is the zero value.
func fill[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}
