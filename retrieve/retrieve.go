// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package retrieve brings a page over the wire: a checked target in, bytes with
// limits out.
//
// It speaks HTTP/1.1 (RFC 9112) and HTTP/2 (RFC 9113) over connections that the
// guard has judged for exactly this request. It keeps no cookies, sends no
// credentials and no Referer, follows a redirect only on the same site, and undoes
// gzip, deflate, br and zstd under a cap. The wire is net/http's; what is ours is where
// it may dial, what it may cost, that no request is sent more often than twice, and
// that every failure has a name. net/http writes bytes of unasked answers to package
// log; a program whose output others trust silences that.
package retrieve

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
	"golang.org/x/net/http/httpguts"
)

// ProxyFunc names the proxy for a URL, nil for none. See NewProxy.
type ProxyFunc func(*url.URL) (*url.URL, error)

// Reach says which places may be reached: private ranges to allow, ports, declared
// names, a resolver. The zero value is the public web on ports 80 and 443.
type Reach = guard.Options

// Options configures an HTTP. The zero value reaches the public web.
type Options struct {
	// Guard judges and dials every address; nil: one made from Reach.
	Guard *guard.Guard
	Reach Reach // not looked at where Guard is set
	// Upgrade says when http targets are asked over https instead, port 80 as 443 and
	// any other as it is (RFC 6797 section 8.3): "auto" (also ""), "always" or "never".
	Upgrade string
	// Roots are the trusted issuers, nil for the system's.
	Roots *x509.CertPool
	// Proxy names the proxy of a URL, nil for none. ProxyResolves lets names that do
	// not resolve here pass to the proxy unjudged.
	Proxy         ProxyFunc
	ProxyResolves bool
	// Parallel and Every pace the requests to one host: how many at once (0: 4), and
	// the least time between two starts.
	Parallel int
	Every    time.Duration
	// UserAgent is sent as it is; empty: Dipper with its version and home page.
	UserAgent string
	Timeouts  Timeouts
	Limits    Limits
	// Pauses remembers which hosts asked us to wait; nil: in memory, for this process.
	Pauses Pauses
}

// Gate judges a redirect's target before it is asked: permission and preflight.
// An error ends the fetch and is returned as it is.
type Gate interface {
	Pass(ctx context.Context, hop check.Target) error
}

// Request is one page to get.
type Request struct {
	Target check.Target
	// ETag and LastModified are the validators of a kept copy; either makes the
	// request conditional, and a 304 then gives Page.NotModified.
	ETag, LastModified string
	// Gate judges every hop after the first; nil lets all pass.
	Gate Gate
	// Accept is the header of that name; empty: Markdown before HTML before anything.
	Accept string
	// MaxBody cuts the body at this many bytes, without failing on a larger
	// announced length; 0 takes Limits.Body.
	MaxBody int64
	// Progress, if set, is called from the reading goroutine with the bytes of the
	// body received so far, before decoding.
	Progress func(received int64)
}

// Page is what came over the wire. Any HTTP status that is not a followed redirect
// makes a Page; what the status means is for the caller to say.
type Page struct {
	Final      check.Target // what was really asked last
	Status     int
	StatusText string
	Header     http.Header // without Set-Cookie
	Type       string      // Content-Type as sent
	Body       []byte      // decoded; at most the cap
	WireBytes  int64       // bytes of the body before decoding
	// Cut says why the body is not whole: "", "size", "idle", "total" or "reset".
	Cut   string
	Moved *Moved   // set when a redirect was not followed
	Hops  []string // targets asked after the first, in order
	// Addr is the judged address the page came from; with a proxy the one that the
	// name has here, invalid where it has none.
	Addr    netip.Addr
	Private bool // Addr lies in an allowed private range
	// NotModified: the kept copy is still good (304 to a conditional request).
	NotModified        bool
	ETag, LastModified string
	NoStore            bool          // no-store, or Vary: *
	RetryAfter         time.Duration // after 429 and 503: how long the host is left alone
	Took               time.Duration
}

// Moved is a redirect that the caller has to decide about.
type Moved struct {
	From, To string
	Status   int
}

// Getter is what fetches a page; HTTP is the one that uses the network.
type Getter interface {
	Get(ctx context.Context, r Request) (Page, error)
}

// HTTP gets pages over HTTP. It is safe for concurrent use.
type HTTP struct {
	guard         *guard.Guard
	upgrade       string
	proxy         ProxyFunc
	proxyResolves bool
	agent         string
	times         Timeouts
	limits        Limits
	pauses        Pauses
	pace          *pacer
	roots         *x509.CertPool
	pool          *pool
	large         chan struct{}
}

// New makes an HTTP from options. It fails with fault.Invalid where they contradict
// themselves.
func New(o Options) (*HTTP, error) {
	switch {
	case !validUpgrade(o.Upgrade):
		return nil, fault.New(fault.Invalid, "", "network.upgrade is %q; it must be auto, always or never", o.Upgrade)
	case !httpguts.ValidHeaderFieldValue(o.UserAgent):
		return nil, fault.New(fault.Invalid, "", "network.userAgent holds a character that no header may carry")
	}
	if o.Guard == nil {
		var err error
		if o.Guard, err = guard.New(o.Reach); err != nil {
			return nil, err
		}
	}
	h := &HTTP{
		guard:         o.Guard,
		roots:         o.Roots,
		upgrade:       o.Upgrade,
		proxy:         o.Proxy,
		proxyResolves: o.ProxyResolves,
		agent:         o.UserAgent,
		times:         o.Timeouts.filled(),
		limits:        o.Limits.filled(),
		pauses:        o.Pauses,
		pace:          newPacer(or(o.Parallel, ParallelDefault), o.Every),
		pool:          newPool(),
		large:         make(chan struct{}, largeAtOnce),
	}
	if h.pauses == nil {
		h.pauses = newPauses()
	}
	if h.agent == "" {
		h.agent = userAgent()
	}
	return h, nil
}

// MayReach reports whether a page that came from a may be used now: the guard's
// answer, for pages kept from another run.
func (h *HTTP) MayReach(a netip.Addr) bool { return h.guard.MayReach(a) }

// Declared reports whether the user has declared where host:port is, for
// check.Limits.
func (h *HTTP) Declared(host string, port int) bool { return h.guard.Declared(host, port) }

// Close ends the waiting connections. Fetches under way finish by themselves.
func (h *HTTP) Close() { h.pool.close() }

// Get brings the page of r.Target, following the redirects that stay on its site.
// The errors are faults: Invalid, Unsafe, Unreachable, Timeout, Refused, Limited
// (the host asked us to wait: no request was sent), TooLarge, Unreadable/Encoding,
// Canceled, and whatever Gate answers.
func (h *HTTP) Get(ctx context.Context, r Request) (Page, error) {
	if r.Target.IsZero() {
		return Page{}, fault.New(fault.Invalid, "", "no checked URL was given")
	}
	start := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, h.times.Total, errTotal)
	defer cancel()
	t := trail{asked: map[string]bool{}}
	for at := r.Target; ; {
		page, next, err := h.hop(ctx, r, at, &t)
		if err != nil {
			return Page{}, err
		}
		if next.IsZero() {
			page.Hops, page.Took = t.hops, time.Since(start)
			return page, nil
		}
		if r.Gate != nil {
			if err := r.Gate.Pass(ctx, next); err != nil {
				return Page{}, err
			}
		}
		at = next
	}
}
