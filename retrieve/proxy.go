// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/dipper-web/dipper/fault"
	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/proxy"
)

// NewProxy makes the rule for proxies from the setting network.proxy and the values
// of HTTP_PROXY, HTTPS_PROXY and NO_PROXY. An explicit proxy serves both schemes,
// "off" means none; NO_PROXY always counts. Proxies are http, https or socks5 URLs
// or host:port. A nil ProxyFunc means that there is none. ALL_PROXY is not a thing
// here. Errors are fault.Invalid.
func NewProxy(explicit, httpProxy, httpsProxy, noProxy string) (ProxyFunc, error) {
	if explicit == "off" {
		return nil, nil
	}
	if explicit != "" {
		httpProxy, httpsProxy = explicit, explicit
	}
	if httpProxy == "" && httpsProxy == "" {
		return nil, nil
	}
	for _, s := range []string{httpProxy, httpsProxy} {
		if err := validProxy(s); err != nil {
			return nil, err
		}
	}
	c := httpproxy.Config{HTTPProxy: httpProxy, HTTPSProxy: httpsProxy, NoProxy: noProxy}
	return c.ProxyFunc(), nil
}

// validProxy accepts what httpproxy understands. The value itself may hold a
// password and is not repeated.
func validProxy(s string) error {
	if s == "" {
		return nil
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return fault.New(fault.Invalid, "", "the proxy setting is no URL; write http://host:port, or off")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return nil
	}
	return fault.New(fault.Invalid, "", "a proxy with the scheme %s is not supported; use http, https or socks5", u.Scheme)
}

// isForward reports whether the request itself goes to the proxy, as opposed to a
// tunnel through it.
func isForward(p place) bool {
	return p.proxy != nil && p.target.Scheme() == "http" && !isSocks(p.proxy)
}

func isSocks(u *url.URL) bool { return strings.HasPrefix(u.Scheme, "socks5") }

// through connects to the proxy and, where a tunnel is wanted, has it opened. The
// proxy is named by the user, so the guard does not judge it.
func (d *dialer) through(ctx context.Context, p place) (net.Conn, error) {
	if isSocks(p.proxy) {
		return d.socks(ctx, p)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", proxyAddr(p.proxy))
	if err != nil {
		return nil, fault.Wrap(err, fault.Unreachable, fault.Proxy, "the proxy %s cannot be reached", p.proxy.Host)
	}
	if p.proxy.Scheme == "https" {
		if conn, err = handshake(ctx, conn, d.config(p.proxy.Hostname(), "http/1.1")); err != nil {
			return nil, fault.Wrap(err, fault.Unreachable, fault.Proxy, "no trustworthy TLS connection to the proxy %s", p.proxy.Host)
		}
	}
	if isForward(p) {
		return conn, nil
	}
	if err := d.tunnel(ctx, conn, p); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// tunnel asks the proxy for a way to the target: RFC 9110 section 9.3.6.
func (d *dialer) tunnel(ctx context.Context, conn net.Conn, p place) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(clock) })
	defer stop()
	ask := fmt.Sprintf("CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\nUser-Agent: %s\r\n", p.target.HostPort(), d.agent)
	if login := proxyLogin(p.proxy); login != "" {
		ask += "Proxy-Authorization: " + login + "\r\n"
	}
	failed := func(err error) error {
		return fault.Wrap(err, fault.Unreachable, fault.Proxy, "the proxy %s gave no usable answer", p.proxy.Host)
	}
	if _, err := conn.Write([]byte(ask + "\r\n")); err != nil {
		return failed(err)
	}
	br := bufio.NewReader(conn)
	head, err := readBlock(br, d.limits.HeaderBytes)
	if err != nil {
		return failed(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), &http.Request{Method: http.MethodConnect})
	switch {
	case err != nil:
		return failed(errors.New("not HTTP"))
	case resp.StatusCode/100 != 2:
		return proxyRefused(p.proxy, resp.StatusCode)
	case br.Buffered() > 0:
		return failed(errors.New("bytes before ours in the tunnel"))
	}
	return nil
}

// socks opens a way through a SOCKS5 proxy (RFC 1928), which resolves the name itself.
func (d *dialer) socks(ctx context.Context, p place) (net.Conn, error) {
	var auth *proxy.Auth
	if u := p.proxy.User; u != nil {
		password, _ := u.Password()
		auth = &proxy.Auth{User: u.Username(), Password: password}
	}
	s, err := proxy.SOCKS5("tcp", proxyAddr(p.proxy), auth, new(net.Dialer))
	if err == nil {
		var conn net.Conn
		if conn, err = s.(proxy.ContextDialer).DialContext(ctx, "tcp", p.target.HostPort()); err == nil {
			return conn, nil
		}
	}
	return nil, fault.Wrap(err, fault.Unreachable, fault.Proxy, "the proxy %s opened no way to %s", p.proxy.Host, p.target.Host())
}

// proxyRefused is the failure of a proxy that answered, with its status.
func proxyRefused(u *url.URL, status int) error {
	e := coded(fault.New(fault.Unreachable, fault.Proxy, "the proxy %s answered %d %s", u.Host, status, http.StatusText(status)), status)
	if status == http.StatusProxyAuthRequired {
		e.Advice = "The proxy wants a login; the user can write it into the proxy's URL: http://user:password@host:port."
	}
	return e
}

func proxyLogin(u *url.URL) string {
	if u == nil || u.User == nil {
		return ""
	}
	password, _ := u.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
}

// proxyAddr is the proxy's host:port with the port of its scheme where none is written.
func proxyAddr(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	if port == "" {
		port = "1080"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
