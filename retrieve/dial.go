// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"

	"github.com/dipper-web/dipper/internal/guard"
	"golang.org/x/net/http2"
)

// dialer makes connections: to judged addresses, or to the proxy that the user named.
type dialer struct {
	guard  *guard.Guard
	roots  *x509.CertPool
	agent  string
	limits Limits
	h2     *http2.Transport
	pool   *pool
}

func newDialer(g *guard.Guard, roots *x509.CertPool, agent string, limits Limits, p *pool) *dialer {
	return &dialer{guard: g, roots: roots, agent: agent, limits: limits, pool: p, h2: newHTTP2(limits)}
}

// newHTTP2 sets up what all HTTP/2 connections share. The connections are ours: the
// transport inside is there for its settings and never dials.
func newHTTP2(limits Limits) *http2.Transport {
	settings := &http.Transport{DisableCompression: true, IdleConnTimeout: idleLife, HTTP2: &http.HTTP2Config{
		MaxReceiveBufferPerStream:     streamWindow,
		MaxReceiveBufferPerConnection: connWindow,
	}}
	t, err := http2.ConfigureTransports(settings)
	if err != nil { // only a transport that has HTTP/2 already is refused
		t = &http2.Transport{DisableCompression: true, IdleConnTimeout: idleLife}
	}
	t.MaxHeaderListSize = uint32(min(limits.HeaderBytes, 1<<30))
	return t
}

// link gives a connection for a place: a waiting one, or with fresh always a new one.
func (h *HTTP) link(ctx context.Context, p place, fresh bool) (link, error) {
	key := poolKey(p)
	if !fresh {
		if l := h.pool.take(key); l != nil {
			return l, nil
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, h.times.Connect, errConnect)
	defer cancel()
	l, err := h.dialer.open(ctx, p, key)
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	return l, err
}

// poolKey is what a connection was made for, and all that it may be used for.
func poolKey(p place) string {
	key := p.target.Scheme() + "://" + p.target.HostPort()
	if p.proxy != nil {
		key += " by " + p.proxy.String()
	}
	return key
}

// open makes a new connection for a place and speaks TLS where the place wants it.
func (d *dialer) open(ctx context.Context, p place, key string) (link, error) {
	conn, err := d.reach(ctx, p)
	if err != nil {
		return nil, err
	}
	w := newWire(conn, d.limits.Body)
	keep := func(l *h1Link) { d.pool.put(key, l) }
	if p.target.Scheme() != "https" {
		l := newH1(w, w, d.limits.HeaderBytes, keep)
		l.plain = isForward(p)
		return l, nil
	}
	secured, err := handshake(ctx, w, d.config(p.target.Host(), "h2", "http/1.1"))
	if err != nil {
		return nil, tlsFailed(p.target, err)
	}
	if secured.ConnectionState().NegotiatedProtocol != "h2" {
		return newH1(secured, w, d.limits.HeaderBytes, keep), nil
	}
	return d.open2(secured, w, key)
}

// open2 starts HTTP/2, takes room for the first request, and offers the connection to other requests for the same key.
func (d *dialer) open2(conn net.Conn, w *wire, key string) (link, error) {
	cc, err := d.h2.NewClientConn(conn)
	if err != nil || !cc.ReserveNewRequest() {
		_ = conn.Close()
		return nil, &diedError{errors.Join(err, errors.New("HTTP/2 could not begin"))}
	}
	l := &h2Link{conn: cc, wire: w}
	l.lone = !d.pool.share(key, l)
	return l, nil
}

// reach gives a connection to the place's own address, or a way through its proxy.
func (d *dialer) reach(ctx context.Context, p place) (net.Conn, error) {
	if p.proxy != nil {
		return d.through(ctx, p)
	}
	return d.guard.Dial(ctx, p.route)
}

// config is TLS 1.2 or later with full verification; nothing turns it off.
func (d *dialer) config(host string, protocols ...string) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: d.roots, MinVersion: tls.VersionTLS12, NextProtos: protocols}
}

func handshake(ctx context.Context, conn net.Conn, c *tls.Config) (*tls.Conn, error) {
	t := tls.Client(conn, c)
	if err := t.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return t, nil
}
