// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
	"golang.org/x/net/http/httpguts"
)

// trail is what one Get has asked so far.
type trail struct {
	asked    map[string]bool
	hops     []string
	upgraded bool // the last hop was asked over https though http was written
}

// place is where one hop goes: judged, and settled between http and https.
type place struct {
	target   check.Target
	route    guard.Route
	proxy    *url.URL
	upgraded bool
}

// hop asks one target. A redirect that is to be followed comes back as next;
// otherwise the page is final.
func (h *HTTP) hop(ctx context.Context, r Request, at check.Target, t *trail) (page Page, next check.Target, err error) {
	p, err := h.settle(ctx, at)
	if err != nil {
		return page, next, err
	}
	if err := t.enter(p); err != nil {
		return page, next, err
	}
	if err := h.mayAsk(ctx, p.target); err != nil {
		return page, next, err
	}
	leave, err := h.pace.enter(ctx, p.target.HostPort())
	if err != nil {
		return page, next, h.failed(ctx, p, err)
	}
	defer leave()
	a, w, err := h.exchange(ctx, r, p)
	if err != nil {
		return page, next, h.failed(ctx, p, err)
	}
	defer w.stop()
	defer a.finish()
	page = h.page(p, a)
	if isRedirect(a.status) {
		next, err = h.redirect(ctx, p, a, t, &page)
		a.drain(w)
		return page, next, err
	}
	return page, next, h.fill(ctx, r, p, a, w, &page)
}

// enter records the hop and refuses one that was asked before.
func (t *trail) enter(p place) error {
	key := p.target.String()
	if t.asked[key] {
		return fault.New(fault.Refused, fault.Loop, "the redirects of %s lead back to an address that was already asked", origin(p.target))
	}
	if len(t.asked) > 0 {
		t.hops = append(t.hops, key)
	}
	t.asked[key], t.upgraded = true, p.upgraded
	return nil
}

// page makes the Page of an answer, without its body.
func (h *HTTP) page(p place, a *answer) Page {
	header := a.header
	header.Del("Set-Cookie")
	header.Del("Set-Cookie2")
	addr, private := a.addr, p.route.Private
	if p.proxy != nil {
		addr = netip.Addr{}
		if len(p.route.Addrs) > 0 {
			addr = p.route.Addrs[0].Addr()
		}
	}
	if addr.IsValid() {
		private = h.guard.Private(addr)
	}
	return Page{
		Final: p.target, Status: a.status, StatusText: statusText(a.status, a.phrase), Header: header, Type: header.Get("Content-Type"),
		Addr: addr, Private: private, ETag: header.Get("ETag"), LastModified: header.Get("Last-Modified"), NoStore: noStore(header),
	}
}

// fill gives the page its body, after the statuses that speak about us: 304 and 206
// to a question that did not ask for them are broken HTTP, 429 and 503 make a pause.
func (h *HTTP) fill(ctx context.Context, r Request, p place, a *answer, w *watch, page *Page) error {
	conditional := r.ETag != "" || r.LastModified != ""
	switch {
	case a.status == http.StatusNotModified && conditional:
		page.NotModified = true
		return nil
	case a.status == http.StatusNotModified:
		return protocol(p, "%s answered 304 Not Modified to a request that named no copy", origin(p.target))
	case a.status == http.StatusPartialContent:
		return protocol(p, "%s answered 206 Partial Content to a request for the whole page", origin(p.target))
	case a.status == http.StatusProxyAuthRequired && p.proxy != nil:
		return proxyRefused(p.proxy, a.status)
	case a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable:
		page.RetryAfter = retryAfter(a.header.Get("Retry-After"), time.Now())
		h.pause(ctx, p.target, page.RetryAfter)
	}
	return h.readBody(ctx, r, p, a, w, page)
}

// request builds what is sent: no cookies, no credentials, no Referer. A
// validator that no header may carry is left out.
func (h *HTTP) request(ctx context.Context, r Request, p place) *http.Request {
	u := p.target.URL()
	header := http.Header{
		"Accept":          {r.Accept},
		"Accept-Encoding": {acceptEncoding},
		"User-Agent":      {h.agent},
	}
	if r.Accept == "" {
		header.Set("Accept", "text/markdown, text/html, */*")
	}
	if r.ETag != "" && httpguts.ValidHeaderFieldValue(r.ETag) {
		header.Set("If-None-Match", r.ETag)
	}
	if r.LastModified != "" && httpguts.ValidHeaderFieldValue(r.LastModified) {
		header.Set("If-Modified-Since", r.LastModified)
	}
	req := &http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: header}
	return req.WithContext(ctx)
}
