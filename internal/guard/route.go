// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/dipper-web/dipper/fault"
)

const (
	// lookupLimit bounds a lookup whose context has more time: a resolver that
	// is silent for ten seconds, the contract's time for a connection, is down.
	lookupLimit = 10 * time.Second
	// maxDialled is how many judged addresses of one name are tried at most.
	maxDialled = 8
)

// Route is where a request to a host and port goes: the judged addresses, in
// the order in which they are dialled.
type Route struct {
	Host     string
	Port     int
	Addrs    []netip.AddrPort
	Private  bool // at least one address is in an allowed range
	Declared bool // the user has declared the name
}

// Route finds out where host:port is and judges every answer. Host is a name in
// ASCII or an address without brackets. Faults: fault.Unsafe with the cause
// address, port or name; fault.Unreachable/DNS when there is no answer.
func (g *Guard) Route(ctx context.Context, host string, port int) (Route, error) {
	name := plainName(host)
	r := Route{Host: name, Port: port}
	if at, ok := g.declared[place(name, port)]; ok {
		r.Declared = true
		return g.settle(r, []netip.Addr{at.Addr()}, int(at.Port()))
	}
	if a, err := netip.ParseAddr(name); err == nil {
		return g.settle(r, []netip.Addr{a}, port)
	}
	if at, named := g.here(name); named {
		if len(at) == 0 {
			return Route{}, refuseHere(name)
		}
		return g.settle(r, at, port)
	}
	if err := checkName(name); err != nil {
		return Route{}, err
	}
	if len(g.allow) == 0 && !slices.Contains(g.ports, port) { // no lookup can open the port
		return Route{}, g.refusePort(r)
	}
	addrs, err := g.lookup(ctx, name)
	if err != nil {
		return Route{}, err
	}
	return g.settle(r, addrs, port)
}

// settle judges the addresses and fills the route. One refused address refuses
// the whole name: a name that is public and private at once is a trick or an
// accident, and either way no place to send a request.
func (g *Guard) settle(r Route, addrs []netip.Addr, port int) (Route, error) {
	every := true
	for _, a := range addrs {
		if err := g.judge(a); err != nil {
			return Route{}, unsafeAddress(a, r.Host)
		}
		private := g.Private(a)
		r.Private = r.Private || private
		every = every && private
	}
	if !r.Declared && !every && !slices.Contains(g.ports, r.Port) {
		return Route{}, g.refusePort(r)
	}
	for _, a := range order(addrs) {
		r.Addrs = append(r.Addrs, netip.AddrPortFrom(a, uint16(port)))
	}
	return r, nil
}

func (g *Guard) refusePort(r Route) error {
	e := fault.New(fault.Unsafe, fault.BadPort, "port %d of %s is not open to fetches", r.Port, r.Host)
	e.Advice = "A user who needs this port can add it to network.ports."
	return e
}

// lookup asks the resolver once. The dot at the end makes the name absolute, so
// that the search domains of the machine are never tried.
func (g *Guard) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	limited, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	found, err := g.resolver.LookupNetIP(limited, "ip", name+".")
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, fault.From(ctx.Err())
	}
	if err != nil || len(found) == 0 {
		return nil, fault.Wrap(err, fault.Unreachable, fault.DNS, "%s", noAnswer(name, err))
	}
	addrs := make([]netip.Addr, 0, len(found))
	for _, a := range found {
		if a = a.Unmap(); !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	return addrs, nil
}

func noAnswer(name string, err error) string {
	var dns *net.DNSError
	switch {
	case err == nil, errors.As(err, &dns) && dns.IsNotFound:
		return "the name " + name + " does not exist, or has no address"
	case errors.Is(err, context.DeadlineExceeded), dns != nil && dns.IsTimeout:
		return "the lookup of " + name + " got no answer in time"
	}
	return "the name " + name + " could not be looked up"
}

// order takes both families in turn, IPv6 first where the machine has it, and
// no more than maxDialled addresses.
func order(addrs []netip.Addr) []netip.Addr {
	var v4, v6 []netip.Addr
	for _, a := range addrs {
		if a.Is4() {
			v4 = append(v4, a)
		} else {
			v6 = append(v6, a)
		}
	}
	first, second := v4, v6
	if len(v4) > 0 && len(v6) > 0 && hasIPv6() {
		first, second = v6, v4
	}
	out := make([]netip.Addr, 0, len(addrs))
	for i := range max(len(first), len(second)) {
		for _, list := range [...][]netip.Addr{first, second} {
			if i < len(list) && len(out) < maxDialled {
				out = append(out, list[i])
			}
		}
	}
	return out
}

// hasIPv6 reports whether an interface has a public IPv6 address.
func hasIPv6() bool {
	addrs, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(addrs, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr().Is6() && unicast.Contains(p.Addr())
	})
}
