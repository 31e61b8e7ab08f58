// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
	"github.com/dipper-web/dipper/retrieve"
)

// openNetwork makes the guard, the room that uses the wire, and the way to the
// suppliers. Proxy and roots are the same for all.
func (a *App) openNetwork() (err error) {
	cfg := &a.Loaded.Config
	n := cfg.Network
	if a.Guard, err = guard.New(guard.Options{Allow: n.Allow, Ports: n.Ports, Resolve: n.Resolve}); err != nil {
		return err
	}
	if a.roots, err = loadRoots(n.CACert); err != nil {
		return err
	}
	if file := a.Loaded.Standard.CertFile; unreadable(file) {
		a.note(fmt.Sprintf("SSL_CERT_FILE names %s, which cannot be read, so no issuer comes from there", file))
	}
	p := a.Loaded.proxies()
	if a.proxy, err = retrieve.NewProxy("", p.http, p.https, p.except); err != nil {
		return err
	}
	pages, err := retrieve.NewProxy(n.Proxy, p.http, p.https, p.except) // a proxy that is named serves this machine's pages too
	if err != nil {
		return err
	}
	o := retrieve.Options{
		Guard: a.Guard, Upgrade: n.Upgrade, Roots: a.roots.pool, Proxy: pages, ProxyResolves: n.ProxyResolves,
		Parallel: n.PerHost.Parallel, Every: n.PerHost.Every, UserAgent: n.UserAgent,
		Timeouts: retrieve.Timeouts{Connect: cfg.Timeouts.Connect, Headers: cfg.Timeouts.Headers, Idle: cfg.Timeouts.Idle, Total: cfg.Timeouts.Total},
	}
	if a.db != nil {
		o.Pauses = a.db.Pauses()
	}
	if a.HTTP, err = retrieve.New(o); err != nil {
		return err
	}
	a.suppliers = a.supplierTransport()
	return nil
}

// proxies are the proxies of http and https URLs, and the hosts that need none.
type proxies struct{ http, https, except string }

// proxies gives what network.proxy and the standard variables come to. Exceptions
// are named only where there is something to except.
func (l *Loaded) proxies() proxies {
	p := proxies{l.Standard.HTTPProxy, l.Standard.HTTPSProxy, l.Standard.NoProxy}
	own := l.Config.Network.Proxy
	if own != "" {
		p.http, p.https = own, own
	}
	if own == "off" || p.http == "" && p.https == "" {
		return proxies{}
	}
	return p
}

// supplierTransport makes the connections to the services that the user names:
// models, the preflight service. They go the configured way, and past the guard.
func (a *App) supplierTransport() *http.Transport {
	connect := a.Loaded.Config.Timeouts.Connect
	return &http.Transport{
		Proxy:                  a.supplierProxy,
		OnProxyConnectResponse: proxyAnswered,
		DialContext:            (&net.Dialer{Timeout: connect}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: a.roots.pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connect,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           supplierConns,
		IdleConnTimeout:        supplierIdle,
		MaxResponseHeaderBytes: supplierHeader,
	}
}

const (
	// supplierConns and supplierIdle bound the connections that wait for the next
	// question to a service: there are few services, and a session asks in bursts.
	supplierConns = 8
	supplierIdle  = 90 * time.Second
	// supplierHeader bounds the header of an answer, in bytes; it is a few lines.
	supplierHeader = 64 << 10
)

func (a *App) supplierProxy(r *http.Request) (*url.URL, error) {
	if a.proxy == nil {
		return nil, nil
	}
	return a.proxy(r.URL)
}

// proxyAnswered turns a proxy's no to a tunnel into a failure that names it.
func proxyAnswered(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return fault.New(fault.Unreachable, fault.Proxy, "the proxy %s answered %d %s", proxy.Host, resp.StatusCode, http.StatusText(resp.StatusCode))
}

// scope is a digest of what besides the URL decides what is fetched, so that a
// page fetched through one proxy or a declared name is no other's. Of roots the
// certificates count and not the names of their files; of proxies the password
// does not.
func (a *App) scope() string {
	h := sha256.New()
	declared := a.Loaded.Config.Network.Resolve
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		fmt.Fprintf(h, "resolve %q %q\n", name, declared[name])
	}
	p := a.Loaded.proxies()
	fmt.Fprintf(h, "roots %s\nproxy %q %q %q\nagent %q\n", a.roots.digest, passwordless(p.http), passwordless(p.https), p.except, a.HTTP.UserAgent())
	return hex.EncodeToString(h.Sum(nil)[:scopeBytes])
}

// scopeBytes is enough to tell the few settings of one user apart.
const scopeBytes = 6

// passwordless takes the password out of the address of a proxy, which may come
// without a scheme.
func passwordless(proxy string) string {
	if proxy != "" && !strings.Contains(proxy, "://") {
		proxy = "http://" + proxy
	}
	return redact(proxy)
}
