// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/dipper-web/dipper/fault"
	"golang.org/x/net/http/httpproxy"
)

// NewProxy makes the rule for proxies from the setting network.proxy and the values
// of HTTP_PROXY, HTTPS_PROXY and NO_PROXY. An explicit proxy serves both schemes,
// "off" means none; NO_PROXY always counts. Proxies are http, https or socks5 URLs
// or host:port. The proxies of the environment are not asked about this machine
// itself, as is the custom there; an explicit one is, as with curl. A nil ProxyFunc
// means that there is none. ALL_PROXY is not a thing here. Errors are fault.Invalid.
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
	byRule := c.ProxyFunc()
	if explicit == "" {
		return byRule, nil
	}
	return func(u *url.URL) (*url.URL, error) {
		if here(u.Hostname()) && !exempt(u, noProxy) {
			u = &url.URL{Scheme: u.Scheme, Host: "elsewhere.invalid"} // a host that has no rule
		}
		return byRule(u)
	}, nil
}

// here reports whether a host is this machine, which httpproxy never proxies.
func here(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// exempt reports whether NO_PROXY names a target on this machine. httpproxy does not
// look there for such a target, so the entries are read here as it reads them: "*",
// a name or an address, either with a port or without, or a range of addresses.
func exempt(u *url.URL, noProxy string) bool {
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	addr, _ := netip.ParseAddr(host)
	addr = addr.Unmap()
	for entry := range strings.SplitSeq(noProxy, ",") {
		entry = strings.ToLower(strings.TrimSpace(entry))
		if in, err := netip.ParsePrefix(entry); entry == "*" || err == nil && in.Contains(addr) {
			return true
		}
		name, only, err := net.SplitHostPort(entry)
		if err != nil {
			name, only = entry, port
		}
		at, err := netip.ParseAddr(name)
		if only == port && (name == host || err == nil && at.Unmap() == addr) {
			return true
		}
	}
	return false
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

// proxyFailed is the failure of a proxy that opened no way to the target.
func proxyFailed(p place, err error) error {
	if strings.HasPrefix(p.proxy.Scheme, "socks5") {
		return fault.Wrap(err, fault.Unreachable, fault.Proxy, "the proxy %s opened no way to %s", p.proxy.Host, p.target.Host())
	}
	return fault.Wrap(err, fault.Unreachable, fault.Proxy, "the proxy %s gave no usable answer", p.proxy.Host)
}

// proxyRefused is the failure of a proxy that answered, with its status.
func proxyRefused(u *url.URL, status int) error {
	e := coded(fault.New(fault.Unreachable, fault.Proxy, "the proxy %s answered %d %s", u.Host, status, http.StatusText(status)), status)
	if status == http.StatusProxyAuthRequired {
		e.Advice = "The proxy wants a login; the user can write it into the proxy's URL: http://user:password@host:port."
	}
	return e
}
