// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dipper-web/dipper/fault"
)

// routeKey is what a transport is made for, and all that it may be used for: the
// exact scheme, name, port, proxy, and the addresses that were judged for them. A
// certificate that covers another name opens nothing (no coalescing), and a name that
// leads elsewhere now does not profit from where it led before.
func routeKey(p place) string {
	parts := []string{p.target.Scheme() + "://" + p.target.HostPort()}
	if p.proxy != nil {
		return strings.Join(append(parts, p.proxy.String()), " by ")
	}
	addrs := slices.SortedFunc(slices.Values(p.route.Addrs), netip.AddrPort.Compare)
	for _, a := range addrs {
		parts = append(parts, a.String())
	}
	return strings.Join(parts, " ")
}

// transport makes the client side of HTTP for one place. It dials the judged
// addresses of this place or its proxy and nothing else, and takes no setting from
// the environment. net/http has no logger of its own: what it says about unasked
// answers holds bytes of theirs and goes to package log, which the program silences.
func (h *HTTP) transport(p place) *http.Transport {
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return h.reach(ctx, p, network, addr)
		},
		// TLS 1.2 or later with full verification; nothing turns it off.
		TLSClientConfig:        &tls.Config{RootCAs: h.roots, MinVersion: tls.VersionTLS12},
		DisableCompression:     true, // decode does it, with bounds
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleLife,
		MaxResponseHeaderBytes: int64(h.limits.HeaderBytes),
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream:     streamWindow,
			MaxReceiveBufferPerConnection: connWindow,
		},
	}
	if p.proxy != nil {
		h.useProxy(t, p.proxy)
	}
	return t
}

// reach connects to the place's own addresses, or to its proxy. The proxy is named by
// the user, so the guard does not judge it.
func (h *HTTP) reach(ctx context.Context, p place, network, addr string) (net.Conn, error) {
	until := time.Now().Add(h.times.Connect)
	ctx, cancel := context.WithDeadlineCause(ctx, until, errConnect)
	defer cancel()
	var conn net.Conn
	var err error
	if p.proxy == nil {
		conn, err = h.guard.Dial(ctx, p.route)
	} else if conn, err = new(net.Dialer).DialContext(ctx, network, addr); err != nil {
		err = fault.Wrap(err, fault.Unreachable, fault.Proxy, "the proxy %s cannot be reached", p.proxy.Host)
	}
	if err != nil {
		return nil, err
	}
	return newWire(conn, h.limits.Body, until), nil
}

// useProxy leads a transport through a proxy: http, https or SOCKS5.
func (h *HTTP) useProxy(t *http.Transport, proxy *url.URL) {
	t.Proxy = http.ProxyURL(proxy)
	t.GetProxyConnectHeader = func(context.Context, *url.URL, string) (http.Header, error) {
		return http.Header{"User-Agent": {h.agent}}, nil
	}
	t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
		if resp.StatusCode != http.StatusOK { // net/http takes no other for a tunnel
			return proxyRefused(proxy, resp.StatusCode)
		}
		return nil
	}
	if proxy.Scheme != "https" {
		return
	}
	// net/http would offer HTTP/2 to the proxy too, and then not speak it.
	t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := t.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		secured := tls.Client(conn, &tls.Config{RootCAs: h.roots, MinVersion: tls.VersionTLS12, ServerName: proxy.Hostname(), NextProtos: []string{"http/1.1"}})
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, fault.Wrap(err, fault.Unreachable, fault.Proxy, "no trustworthy TLS connection to the proxy %s", proxy.Host)
		}
		return secured, nil
	}
}
