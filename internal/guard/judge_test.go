// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/fault"
)

func TestRegistryIsWhole(t *testing.T) {
	known, err := registry()
	if err != nil || len(known.v4) < 26 || len(known.v6) < 25 {
		t.Fatalf("%d IPv4 and %d IPv6 blocks, %v", len(known.v4), len(known.v6), err)
	}
	if _, err := readBlocks("iana/none.csv"); err == nil {
		t.Error("a registry that is not there was read")
	}
}

// randomIn gives a random address of p.
func randomIn(r *rand.Rand, p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := range b {
		for bit := range 8 {
			if i*8+bit >= p.Bits() && r.IntN(2) == 1 {
				b[i] |= 0x80 >> bit
			}
		}
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

func allBlocks(t testing.TB) []netip.Prefix {
	t.Helper()
	known, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	return append(append([]netip.Prefix{}, known.v4...), known.v6...)
}

func TestNoAddressOfABlockPasses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range allBlocks(t) {
		for range 5000 {
			if a := randomIn(r, p); Judge(a) == nil {
				t.Fatalf("%v of %v passes", a, p)
			}
		}
	}
}

func TestNeighboursPass(t *testing.T) {
	known := allBlocks(t)
	tried := 0
	for _, p := range known {
		first := p.Masked().Addr()
		last := first.AsSlice()
		for i := range last {
			for bit := range 8 {
				if i*8+bit >= p.Bits() {
					last[i] |= 0x80 >> bit
				}
			}
		}
		end, _ := netip.AddrFromSlice(last)
		for _, a := range []netip.Addr{first.Prev(), end.Next()} {
			if !a.IsValid() || inside(a, known) || a.Is6() && !unicast.Contains(a) {
				continue
			}
			tried++
			if err := Judge(a); err != nil {
				t.Errorf("%v, beside %v: %v", a, p, err)
			}
		}
	}
	if tried < 30 {
		t.Errorf("only %d neighbours were tried", tried)
	}
}

// forms puts an IPv4 address into every IPv6 form that carries one.
func forms(v4 netip.Addr) map[string]netip.Addr {
	b := v4.As4()
	at := func(head string, tail ...byte) netip.Addr {
		out := netip.MustParseAddr(head).As16()
		copy(out[16-len(tail):], tail)
		return netip.AddrFrom16(out)
	}
	return map[string]netip.Addr{
		"mapped":         at("::ffff:0:0", b[:]...),
		"compatible":     at("::", b[:]...),
		"translated":     at("::ffff:0:0:0", b[:]...),
		"nat64":          at("64:ff9b::", b[:]...),
		"nat64-local":    at("64:ff9b:1::", b[:]...),
		"nat64-local-48": at("64:ff9b:1::", b[0], b[1], 0, b[2], b[3], 0, 0, 0, 0, 0),
		"6to4":           at("2002::", append(b[:], 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)...),
		"teredo":         at("2001:0:808:808::", ^b[0], ^b[1], ^b[2], ^b[3]),
		"isatap-local":   at("2606:4700:0:1::", 0, 0, 0x5e, 0xfe, b[0], b[1], b[2], b[3]),
		"isatap-global":  at("2606:4700:0:1::", 2, 0, 0x5e, 0xfe, b[0], b[1], b[2], b[3]),
	}
}

func TestIPv4InsideIPv6(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, block := range []string{"10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "168.63.129.16/32"} {
		for range 2000 {
			for form, a := range forms(randomIn(r, netip.MustParsePrefix(block))) {
				if Judge(a) == nil {
					t.Fatalf("%v (%s) passes", a, form)
				}
			}
		}
	}
	public := forms(netip.MustParseAddr("8.8.8.8"))
	for form, a := range public {
		if passes := Judge(a) == nil; passes != strings.HasPrefix(form, "isatap") {
			t.Errorf("%v (%s around a public address): %v", a, form, passes)
		}
	}
}

func TestJudgeOddAddresses(t *testing.T) {
	for _, a := range []netip.Addr{{}, netip.MustParseAddr("2606:4700:4700::1111%eth0"), netip.MustParseAddr("::ffff:8.8.8.8"), netip.MustParseAddr("4000::1"), netip.MustParseAddr("ff0e::1")} {
		if err := Judge(a); !errors.Is(err, fault.Unsafe) {
			t.Errorf("%v: %v", a, err)
		}
	}
}

func TestCureIsNamed(t *testing.T) {
	for address, cure := range map[string]string{"198.18.0.7": "198.18.0.0/15", "64:ff9b::808:808": "64:ff9b::/96"} {
		var e *fault.Error
		if !errors.As(Judge(netip.MustParseAddr(address)), &e) || !strings.Contains(e.Detail, cure) || !strings.Contains(e.Say(), "--allow-net "+cure) {
			t.Errorf("%s: %v", address, e)
		}
	}
}

func TestJudgeAllocatesNothing(t *testing.T) {
	for _, s := range []string{"93.184.215.14", "2606:4700:4700::1111"} {
		a := netip.MustParseAddr(s)
		if n := testing.AllocsPerRun(100, func() { _ = Judge(a) }); n != 0 {
			t.Errorf("%s: %v allocations", s, n)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	for _, s := range []string{"93.184.215.14", "2606:4700:4700::1111"} {
		a := netip.MustParseAddr(s)
		b.Run(s, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if Judge(a) != nil {
					b.Fatal(a)
				}
			}
		})
	}
}

// FuzzJudge: whatever passes is plain public unicast by every other measure.
func FuzzJudge(f *testing.F) {
	for _, row := range lines(f, "testdata/addresses.tsv") {
		f.Add(netip.MustParseAddr(row[0]).AsSlice())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		if Judge(a) != nil {
			return
		}
		inner, _ := translated(a)
		for _, x := range []netip.Addr{a, inner} {
			if !x.IsValid() {
				continue
			}
			if x.IsPrivate() || x.IsLoopback() || x.IsMulticast() || x.IsLinkLocalUnicast() || x.IsUnspecified() || x.Is4In6() || !x.IsGlobalUnicast() {
				t.Errorf("%v passes", a)
			}
		}
	})
}
