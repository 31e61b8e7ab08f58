// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard decides where a request may go, and goes nowhere else.
//
// A name is resolved once. Every answer is judged as the address that it is, and
// as any IPv4 address inside it; one refused answer refuses the name. What has
// been judged is what is dialled, and the dialler judges it again just before
// the connection is made. No setting opens the guard as a whole: a user opens
// named ranges that are not public anyway (Options.Allow) or declares where a
// name is (Options.Resolve).
//
// What is refused is said in the same words whether or not anybody listens
// there, and without the inner address.
package guard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/dipper-web/dipper/fault"
)

// Resolver looks up the addresses of a name; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options are what a user may set. The zero value reaches public addresses on
// ports 80 and 443.
type Options struct {
	// Allow holds ranges that are not public and may be reached all the same.
	// A range that reaches into the public Internet is an error.
	Allow []netip.Prefix
	// Ports that may be asked; nil means 80 and 443. Any port of an allowed
	// range is open too.
	Ports []int
	// Resolve declares names: "host:port" to "address" or "address:port".
	Resolve map[string]string
	// Resolver looks names up; nil means the system's.
	Resolver Resolver
}

// Guard judges and dials. It is safe for concurrent use.
type Guard struct {
	allow    []netip.Prefix
	ports    []int
	declared map[string]netip.AddrPort // normal "host:port"
	resolver Resolver
}

// New makes a Guard. An option that cannot be honoured is fault.Invalid.
func New(o Options) (*Guard, error) {
	if _, err := registry(); err != nil {
		return nil, fault.Wrap(err, fault.Internal, "", "the registries of special addresses cannot be read")
	}
	g := &Guard{ports: slices.Clone(o.Ports), resolver: o.Resolver, declared: make(map[string]netip.AddrPort, len(o.Resolve))}
	if o.Ports == nil {
		g.ports = []int{80, 443}
	}
	if o.Resolver == nil {
		g.resolver = &net.Resolver{}
	}
	for _, p := range o.Allow {
		if !closed(p) {
			return nil, fault.New(fault.Invalid, "",
				"%s cannot be allowed: it is not a private, local or reserved range; public addresses need no permission, and the guard cannot be switched off as a whole", p)
		}
		g.allow = append(g.allow, p.Masked())
	}
	for name, to := range o.Resolve {
		key, at, err := declaration(name, to)
		if err != nil {
			return nil, fault.New(fault.Invalid, "", "the declared name %q: %q cannot be used: %v; write it as docs.example.org:443 and 127.0.0.1 or 127.0.0.1:8443", name, to, err)
		}
		g.declared[key] = at
	}
	return g, nil
}

// declaration reads one entry of Options.Resolve.
func declaration(name, to string) (string, netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(name)
	if err != nil {
		return "", netip.AddrPort{}, fmt.Errorf("%q is not host:port", name)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || host == "" {
		return "", netip.AddrPort{}, fmt.Errorf("%q is not host:port", name)
	}
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	key := place(plainName(host), int(number))
	if a, err := netip.ParseAddr(strings.Trim(to, "[]")); err == nil && a.Zone() == "" {
		return key, netip.AddrPortFrom(a.Unmap(), uint16(number)), nil
	}
	at, err := netip.ParseAddrPort(to)
	if err != nil || at.Port() == 0 || at.Addr().Zone() != "" {
		return "", netip.AddrPort{}, fmt.Errorf("%q is not an address", to)
	}
	return key, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()), nil
}

// Declared reports whether the user has declared where host:port is.
func (g *Guard) Declared(host string, port int) bool {
	_, ok := g.declared[place(plainName(host), port)]
	return ok
}

// MayReach reports whether a request may go to a: a public address, or one in
// an allowed range.
func (g *Guard) MayReach(a netip.Addr) bool { return g.judge(a) == nil }

// Private reports whether a lies in an allowed range, so that its pages are
// the user's own affair.
func (g *Guard) Private(a netip.Addr) bool {
	if inner, ok := translated(a); ok && g.allows(a) {
		return g.allows(inner)
	}
	return g.allows(a)
}

// judge is Judge plus the allowed ranges. Where an allowed address carries an IPv4
// address (NAT64, say), the range opens the way and not the place: the address
// inside is judged as if it stood alone.
func (g *Guard) judge(a netip.Addr) error {
	if g.allows(a) {
		if inner, ok := translated(a); ok {
			return g.judge(inner)
		}
		return nil
	}
	return Judge(a)
}

func (g *Guard) allows(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	for _, p := range g.allow {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// plainName is the form in which names are compared: lower case, no dot at the end.
func plainName(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

func place(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
