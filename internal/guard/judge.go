// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"net/netip"
	"strings"
	"sync"

	"github.com/dipper-web/dipper/fault"
)

// The IANA special-purpose address registries, as published:
// https://www.iana.org/assignments/iana-ipv4-special-registry and
// https://www.iana.org/assignments/iana-ipv6-special-registry.
//
//go:embed iana/*.csv
var iana embed.FS

// blocks are the ranges in which no web page lives.
type blocks struct{ v4, v6 []netip.Prefix }

// registry reads the registries once. When it fails, everything is refused.
var registry = sync.OnceValues(readRegistry)

// beyond holds what the registries leave out.
var beyond = []netip.Prefix{
	netip.MustParsePrefix("224.0.0.0/4"),       // multicast, RFC 5771
	netip.MustParsePrefix("168.63.129.16/32"),  // Azure's platform endpoint: public range, private service
	netip.MustParsePrefix("fec0::/10"),         // site-local, deprecated by RFC 3879 and still routed at home
	netip.MustParsePrefix("fd00:ec2::254/128"), // AWS metadata over IPv6; unique-local, named for its weight
}

// Ranges that the judge names.
var (
	unicast   = netip.MustParsePrefix("2000::/3")      // the only IPv6 space handed out, RFC 4291 section 2.4
	nat64     = netip.MustParsePrefix("64:ff9b::/96")  // RFC 6052
	benchmark = netip.MustParsePrefix("198.18.0.0/15") // RFC 2544; also the invented answers of proxy tools
	sixToFour = netip.MustParsePrefix("2002::/16")     // RFC 3056
	teredo    = netip.MustParsePrefix("2001::/32")     // RFC 4380
)

func readRegistry() (blocks, error) {
	v4, err := readBlocks("iana/ipv4-special.csv")
	if err != nil {
		return blocks{}, err
	}
	v6, err := readBlocks("iana/ipv6-special.csv")
	if err != nil {
		return blocks{}, err
	}
	for _, p := range beyond {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	return blocks{v4, v6}, nil
}

// readBlocks reads the first column of a registry: prefixes, several to a cell,
// with footnote marks. Every block counts, also the few that the registries call
// globally reachable: behind them are anycast services of the network itself
// (port control, AS112, AMT), not pages.
func readBlocks(file string) ([]netip.Prefix, error) {
	data, err := iana.ReadFile(file)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) < 2 || rows[0][0] != "Address Block" {
		return nil, fmt.Errorf("%s is not a special-purpose registry: %w", file, err)
	}
	var out []netip.Prefix
	for _, row := range rows[1:] {
		for cell := range strings.SplitSeq(row[0], ",") {
			cell, _, _ = strings.Cut(cell, "[")
			p, err := netip.ParsePrefix(strings.TrimSpace(cell))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// Judge says whether an address is on the public web: nil, or fault.Unsafe with
// cause fault.BadAddress. An IPv4 address is public when it lies in no block of
// the registries and in none of our additions; an IPv6 address when besides it
// is in 2000::/3 and every IPv4 address inside it is public.
func Judge(a netip.Addr) error {
	if public(a) {
		return nil
	}
	return unsafeAddress(a, "the address")
}

func public(a netip.Addr) bool {
	known, err := registry()
	if err != nil || !a.IsValid() || a.Zone() != "" {
		return false
	}
	if a.Is4() {
		return !inside(a, known.v4)
	}
	if !unicast.Contains(a) || inside(a, known.v6) {
		return false
	}
	inner, ok := isatap(a)
	return !ok || public(inner)
}

func inside(a netip.Addr, in []netip.Prefix) bool {
	for _, p := range in {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// isatap gives the IPv4 address of an ISATAP interface identifier, RFC 5214
// section 6.1: 0000:5efe or 0200:5efe, then the address. It is the one
// embedding that occurs in ordinary unicast space; all others (mapped,
// compatible, translated, NAT64, 6to4, Teredo) have ranges of their own, which
// are refused whole.
func isatap(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	if b[8]&^0x02 != 0 || b[9] != 0 || b[10] != 0x5e || b[11] != 0xfe {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte(b[12:])), true
}

// translated gives the IPv4 address that a transition address leads to: NAT64
// under the well-known prefix, 6to4, Teredo (whose client field is inverted).
func translated(a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() {
		return netip.Addr{}, false
	}
	b := a.As16()
	switch {
	case a.Is4In6():
		return a.Unmap(), true
	case nat64.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case teredo.Contains(a):
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), true
	}
	return isatap(a)
}

// unsafeAddress is the one sentence about a refused address. subject is "the
// address", or the name that leads there. Two ranges are named, because the
// cure is to allow them: both mean that a tool on this machine answers for the
// network, and neither says where anything is.
func unsafeAddress(a netip.Addr, subject string) error {
	detail, advice := "is not on the public web: it is private, local or reserved", ""
	inner, mapped := translated(a)
	switch {
	case benchmark.Contains(a):
		detail = "is in 198.18.0.0/15, a test range that some proxy tools use for invented answers"
		advice = `If such a tool runs on this machine, the user can allow the range: network.allow: ["198.18.0.0/15"] or --allow-net 198.18.0.0/15.`
	case mapped && nat64.Contains(a) && public(inner):
		detail = "is a translated IPv4 address under 64:ff9b::/96"
		advice = `If this network translates IPv4 (NAT64), the user can allow the range: network.allow: ["64:ff9b::/96"] or --allow-net 64:ff9b::/96.`
	}
	e := fault.New(fault.Unsafe, fault.BadAddress, "%s %s", subject, detail)
	e.Advice = advice
	return e
}

// closed reports whether a range holds no public address at all: only such
// ranges can be allowed.
func closed(p netip.Prefix) bool {
	known, err := registry()
	if err != nil || !p.IsValid() {
		return false
	}
	if p.Addr().Is6() && !p.Overlaps(unicast) {
		return true
	}
	for _, block := range append(known.v4[:len(known.v4):len(known.v4)], known.v6...) {
		if block.Bits() <= p.Bits() && block.Contains(p.Addr()) {
			return true
		}
	}
	return false
}
