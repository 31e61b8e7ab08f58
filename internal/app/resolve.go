// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/idna"
)

// ParseResolve reads the value of --resolve, HOST:PORT:ADDR[:PORT2] as curl
// writes it, and gives it as key and value of network.resolve. ADDR is an IPv4
// or IPv6 address; an IPv6 one stands in brackets where a second port follows.
// A leading "+", which only matters for how long curl remembers, is dropped.
func ParseResolve(s string) (key, value string, err error) {
	host, rest, ok := strings.Cut(strings.TrimPrefix(s, "+"), ":")
	port, addr, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 {
		return "", "", errors.New("HOST:PORT:ADDR or HOST:PORT:ADDR:PORT2 expected, like docs.example.org:443:127.0.0.1:8443")
	}
	return resolvePair(host+":"+port, addr)
}

// resolvePair checks and normalises one entry of network.resolve.
func resolvePair(key, value string) (string, string, error) {
	host, port, err := net.SplitHostPort(key)
	if err != nil || port == "" || !goodPort(port, host, 1) {
		return "", "", errors.New("a declared name like docs.example.org:443 expected, with a port from 1 to 65535")
	}
	name, err := asciiHost(host)
	if _, literal := netip.ParseAddr(host); err != nil || literal == nil {
		return "", "", errors.New("a declared name like docs.example.org:443 expected; an address or a star cannot be declared")
	}
	addr, err := resolveAddr(value)
	return net.JoinHostPort(name, strings.TrimLeft(port, "0")), addr, err
}

func resolveAddr(text string) (string, error) {
	bad := errors.New("one address like 127.0.0.1, 127.0.0.1:8443 or [::1]:8443 expected")
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text = text[1 : len(text)-1]
	}
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return a.String(), nil
	}
	ap, err := netip.ParseAddrPort(text)
	if err != nil || ap.Port() == 0 || ap.Addr().Zone() != "" {
		return "", bad
	}
	return ap.String(), nil
}

// asciiHost gives a host name in the form that is looked up: lower case, no
// trailing dot, A-labels (RFC 5891) for other scripts.
func asciiHost(name string) (string, error) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if strings.ContainsFunc(name, func(r rune) bool { return r > '~' }) {
		return idna.Lookup.ToASCII(name)
	}
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
	}
	// 253 bytes is what a name may have in the DNS (RFC 1035, section 2.3.4).
	if name == "" || len(name) > 253 || strings.Contains(name, "..") || name[0] == '.' || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return "", errors.New("not a host name")
	}
	return name, nil
}
