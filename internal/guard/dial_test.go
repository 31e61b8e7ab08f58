// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dipper-web/dipper/fault"
)

// door is a listener that counts who comes in.
type door struct {
	at    netip.AddrPort
	count atomic.Int64
}

// listen opens a door on address; port 0 is any. The test is skipped where the
// system gives loopback one address only.
func listen(t *testing.T, address string, port uint16) *door {
	t.Helper()
	l, err := net.Listen("tcp", netip.AddrPortFrom(netip.MustParseAddr(address), port).String())
	if err != nil {
		t.Skipf("this system cannot listen on %s: %v", address, err)
	}
	d := &door{at: netip.MustParseAddrPort(l.Addr().String())}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			d.count.Add(1)
			c.Close()
		}
	})
	t.Cleanup(func() { l.Close(); done.Wait() })
	return d
}

// flip answers with an allowed address or an inner one, as a coin falls.
type flip struct {
	coin          *rand.Rand
	public, inner netip.Addr
}

func (f flip) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	if f.coin.IntN(2) == 0 {
		return []netip.Addr{f.public}, nil
	}
	return []netip.Addr{f.inner}, nil
}

// Ten thousand rounds against a name that changes its answer at every lookup,
// with real sockets: the allowed address stands for the public one, a second
// loopback address for the private one. Nobody may knock at the second.
func TestRebinding(t *testing.T) {
	good := listen(t, "127.0.0.1", 0)
	bad := listen(t, "127.0.0.2", good.at.Port())
	dns := flip{rand.New(rand.NewPCG(5, 6)), good.at.Addr(), bad.at.Addr()}
	g := newGuard(t, Options{Allow: prefixes("127.0.0.1/32"), Resolver: dns})
	refused, reached := 0, 0
	for range 10_000 {
		r, err := g.Route(t.Context(), "flip.example", int(good.at.Port()))
		if err != nil {
			faultIs(t, err, fault.Unsafe, fault.BadAddress)
			refused++
			continue
		}
		if reached++; reached > 1500 { // the rest is judged alone, to spare the machine's ports
			if r.Addrs[0] != good.at {
				t.Fatalf("the route holds %v", r.Addrs)
			}
			continue
		}
		c, err := g.Dial(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if c.RemoteAddr().String() != good.at.String() {
			t.Fatalf("connected to %v", c.RemoteAddr())
		}
		c.Close()
	}
	if bad.count.Load() != 0 || refused < 4000 || reached < 4000 {
		t.Errorf("%d private connections, %d refused, %d reached", bad.count.Load(), refused, reached)
	}
}

// A route that was made or changed by other hands is judged in the dialler.
func TestDialJudgesAgain(t *testing.T) {
	d := listen(t, "127.0.0.1", 0)
	g := newGuard(t, Options{})
	_, err := g.Dial(t.Context(), Route{Host: "a.example", Port: 443, Addrs: []netip.AddrPort{d.at}})
	faultIs(t, err, fault.Unsafe, fault.BadAddress)
	if strings.Contains(err.Error(), "127.0.0.1") || d.count.Load() != 0 {
		t.Errorf("%v, %d connections", err, d.count.Load())
	}
	_, err = g.Dial(t.Context(), Route{Host: "a.example", Port: 443})
	faultIs(t, err, fault.Internal, "")
}

// What is refused is said in the same words whether or not anybody listens.
func TestRefusalTellsNothing(t *testing.T) {
	open := listen(t, "127.0.0.1", 0)
	g := newGuard(t, Options{Resolver: scripted("127.0.0.1")})
	one, err1 := g.Route(t.Context(), "127.0.0.1", int(open.at.Port()))
	two, err2 := g.Route(t.Context(), "127.0.0.1", 1)
	if err1 == nil || err2 == nil || err1.Error() != err2.Error() || one.Addrs != nil || two.Addrs != nil || open.count.Load() != 0 {
		t.Errorf("%v / %v", err1, err2)
	}
	words := map[string]bool{}
	for _, inner := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "fec0::1", "2002:7f00:1::1"} {
		_, err := newGuard(t, Options{Resolver: scripted(inner)}).Route(t.Context(), "a.example", 443)
		words[err.Error()] = true
	}
	if len(words) != 1 {
		t.Errorf("%d ways to say one thing: %v", len(words), words)
	}
}

func TestDialFaults(t *testing.T) {
	g := newGuard(t, Options{Allow: prefixes("127.0.0.0/8")})
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := netip.MustParseAddrPort(l.Addr().String())
	l.Close()
	r := Route{Host: "dev.example", Port: 443, Addrs: []netip.AddrPort{closed}}

	_, err = g.Dial(t.Context(), r)
	faultIs(t, err, fault.Unreachable, fault.Connect)
	var e *fault.Error
	if !errors.As(err, &e) || !strings.Contains(e.Detail, "refused") || strings.Contains(e.Detail, "127.0.0.1") {
		t.Errorf("%v", err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err = g.Dial(late, r)
	faultIs(t, err, fault.Timeout, fault.Connect)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = g.Dial(gone, r)
	faultIs(t, err, fault.Canceled, "")

	good := listen(t, "127.0.0.1", 0)
	r.Addrs = append(r.Addrs, good.at)
	c, err := g.Dial(t.Context(), r)
	if err != nil {
		t.Fatalf("the second address was not tried: %v", err)
	}
	c.Close()
}

func TestLocalhostWorksWhenAllowed(t *testing.T) {
	d := listen(t, "127.0.0.1", 0)
	g := newGuard(t, Options{Allow: prefixes("127.0.0.0/8")})
	r, err := g.Route(t.Context(), "localhost", int(d.at.Port()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.Dial(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestOrderTakesBothFamilies(t *testing.T) {
	var in []netip.Addr
	for i := range 20 {
		in = append(in, netip.AddrFrom16([16]byte{0x26, 6, 15: byte(i)}))
	}
	in = append(in, netip.MustParseAddr("93.184.215.14"))
	out := order(in)
	if len(out) != maxDialled || !out[0].Is4() && !out[1].Is4() {
		t.Errorf("%v", out)
	}
}
