// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/dipper-web/dipper/fault"
)

// loopbackNames always mean this machine: RFC 6761 section 6.3, and the aliases
// that systems write into their hosts file. Names below them mean it too.
var loopbackNames = []string{"localhost", "localhost.localdomain", "localhost6.localdomain6", "ip6-localhost", "ip6-loopback"}

// innerEnds are the ends of names that the public tree does not hold, so that
// whoever answers them is near: RFC 6762 (local), RFC 8375 (home.arpa), RFC 7686
// (onion), RFC 9476 (alt), the reserved "internal", the names that ICANN will
// not delegate because homes and firms use them, and those of cluster software.
var innerEnds = []string{
	"local", "localdomain", "localdomain6", "internal", "intranet", "private", "corp", "home", "lan",
	"home.arpa", "onion", "alt", "svc", "consul",
}

var (
	loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	loopback6 = netip.IPv6Loopback()
)

// here gives the loopback addresses that a name of this machine stands for and
// that are allowed; named is false for other names.
func (g *Guard) here(name string) (at []netip.Addr, named bool) {
	if !slices.ContainsFunc(loopbackNames, func(end string) bool { return isUnder(name, end) }) {
		return nil, false
	}
	for _, a := range [...]netip.Addr{loopback4, loopback6} {
		if g.allows(a) {
			at = append(at, a)
		}
	}
	return at, true
}

// checkName refuses names that are never public, before any lookup.
func checkName(name string) error {
	inner := !strings.Contains(name, ".") || slices.ContainsFunc(innerEnds, func(end string) bool { return isUnder(name, end) })
	if !inner {
		return nil
	}
	e := fault.New(fault.Unsafe, fault.BadName, "%s is not a name of the public web", name)
	e.Advice = "A user who owns the place can declare it with --resolve " + name + ":PORT:ADDRESS (network.resolve) and allow its range with --allow-net."
	return e
}

// refuseHere is the refusal of a name of this machine.
func refuseHere(name string) error {
	e := fault.New(fault.Unsafe, fault.BadName, "%s is a name of this machine, not of the public web", name)
	e.Advice = "A user who means a server on this machine can allow it with --allow-net 127.0.0.0/8 (network.allow)."
	return e
}

func isUnder(name, end string) bool {
	head, ok := strings.CutSuffix(name, end)
	return ok && (head == "" || strings.HasSuffix(head, "."))
}
