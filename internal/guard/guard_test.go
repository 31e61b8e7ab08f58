// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dipper-web/dipper/fault"
	"golang.org/x/net/dns/dnsmessage"
)

func TestNewRefuses(t *testing.T) {
	for _, p := range []string{"0.0.0.0/0", "::/0", "8.8.8.0/24", "0.0.0.0/1", "128.0.0.0/1", "2000::/3", "2606:4700::/32", "10.0.0.0/7"} {
		if _, err := New(Options{Allow: prefixes(p)}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s may be allowed: %v", p, err)
		}
	}
	for name, to := range map[string]string{
		"docs.example": "127.0.0.1", "docs.example:0": "127.0.0.1", "docs.example:x": "127.0.0.1", ":443": "127.0.0.1",
		"a.example:443": "localhost", "b.example:443": "127.0.0.1:0", "c.example:443": "", "d.example:443": "fe80::1%eth0",
	} {
		if _, err := New(Options{Resolve: map[string]string{name: to}}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s declared as %q: %v", name, to, err)
		}
	}
}

func TestNewAllows(t *testing.T) {
	newGuard(t, Options{Allow: prefixes("10.0.0.0/8", "10.1.2.3/32", "127.0.0.0/8", "198.18.0.0/15", "::1/128", "fd00::/8", "64:ff9b::/96",
		"fc00::/6")}) // the last reaches only into space that nobody holds
}

func TestRouteOfDeclaredNames(t *testing.T) {
	dns := scripted("93.184.215.14")
	o := Options{Resolver: dns, Resolve: map[string]string{
		"Docs.Example.:443": "127.0.0.1:8443", "printer.local:80": "93.184.215.14", "six.example:443": "[::1]", "bücher.example:443": "127.0.0.1",
		"odd.example:9999": "93.184.215.14:7777", "mapped.example:443": "::ffff:127.0.0.1",
	}}
	closed, open := newGuard(t, o), o
	open.Allow = prefixes("127.0.0.0/8")
	opened := newGuard(t, open)

	_, err := closed.Route(t.Context(), "docs.example", 443)
	faultIs(t, err, fault.Unsafe, fault.BadAddress)
	if strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("the message names the address: %v", err)
	}
	for _, c := range []struct {
		host    string
		port    int
		to      string
		private bool
	}{
		{"docs.example", 443, "127.0.0.1:8443", true},
		{"DOCS.example.", 443, "127.0.0.1:8443", true},
		{"xn--bcher-kva.example", 443, "127.0.0.1:443", true},
		{"printer.local", 80, "93.184.215.14:80", false},
		{"odd.example", 9999, "93.184.215.14:7777", false},
		{"mapped.example", 443, "127.0.0.1:443", true},
	} {
		r, err := opened.Route(t.Context(), c.host, c.port)
		if err != nil || len(r.Addrs) != 1 || r.Addrs[0].String() != c.to || r.Private != c.private || !r.Declared || !opened.Declared(c.host, c.port) {
			t.Errorf("%s:%d: %+v, %v", c.host, c.port, r, err)
		}
	}
	_, err = opened.Route(t.Context(), "six.example", 443)
	faultIs(t, err, fault.Unsafe, fault.BadAddress)
	_, err = opened.Route(t.Context(), "printer.local", 443)
	faultIs(t, err, fault.Unsafe, fault.BadName)
	if len(dns.asked) > 0 || opened.Declared("printer.local", 443) {
		t.Errorf("a declared name was looked up: %v", dns.asked)
	}
	if r, err := opened.Route(t.Context(), "docs.example", 80); err != nil || r.Declared || r.Addrs[0].String() != "93.184.215.14:80" {
		t.Errorf("another port of a declared name: %+v, %v", r, err)
	}
}

func TestLoopbackNames(t *testing.T) {
	for _, c := range []struct {
		allow []string
		want  []string
	}{
		{nil, nil},
		{[]string{"10.0.0.0/8"}, nil},
		{[]string{"127.0.0.0/8"}, []string{"127.0.0.1:3000"}},
		{[]string{"::1/128"}, []string{"[::1]:3000"}},
		{[]string{"127.0.0.0/8", "::1/128"}, []string{"127.0.0.1:3000", "[::1]:3000"}},
	} {
		dns := scripted("93.184.215.14")
		g := newGuard(t, Options{Allow: prefixes(c.allow...), Resolver: dns})
		for _, name := range []string{"localhost", "LOCALHOST.", "app.localhost", "ip6-localhost", "localhost.localdomain"} {
			r, err := g.Route(t.Context(), name, 3000)
			if c.want == nil {
				faultIs(t, err, fault.Unsafe, fault.BadName)
				continue
			}
			var got []string
			for _, at := range r.Addrs {
				got = append(got, at.String())
			}
			slices.Sort(got)
			if err != nil || !slices.Equal(got, c.want) || !r.Private || r.Declared {
				t.Errorf("%s with %v: %+v, %v", name, c.allow, r, err)
			}
		}
		if len(dns.asked) > 0 {
			t.Errorf("looked up %v", dns.asked)
		}
	}
}

func TestPorts(t *testing.T) {
	for _, c := range []struct {
		name    string
		o       Options
		answers []string
		port    int
		cause   fault.Cause // "" for a route
	}{
		{"default", Options{}, []string{"93.184.215.14"}, 443, ""},
		{"closed", Options{}, []string{"93.184.215.14"}, 8443, fault.BadPort},
		{"opened", Options{Ports: []int{8443}}, []string{"93.184.215.14"}, 8443, ""},
		{"only the listed ones", Options{Ports: []int{8443}}, []string{"93.184.215.14"}, 443, fault.BadPort},
		{"none at all", Options{Ports: []int{}}, []string{"93.184.215.14"}, 443, fault.BadPort},
		{"allowed range", Options{Allow: prefixes("10.0.0.0/8")}, []string{"10.1.1.1"}, 6379, ""},
		{"beside an allowed range", Options{Allow: prefixes("10.0.0.0/8")}, []string{"93.184.215.14"}, 6379, fault.BadPort},
		{"half in an allowed range", Options{Allow: prefixes("10.0.0.0/8")}, []string{"10.1.1.1", "93.184.215.14"}, 6379, fault.BadPort},
		{"outside the allowed range", Options{Allow: prefixes("10.0.0.0/8")}, []string{"10.1.1.1", "192.168.1.1"}, 80, fault.BadAddress},
	} {
		c.o.Resolver = scripted(c.answers...)
		_, err := newGuard(t, c.o).Route(t.Context(), "a.example", c.port)
		if c.cause == "" && err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if c.cause != "" {
			t.Run(c.name, func(t *testing.T) { faultIs(t, err, fault.Unsafe, c.cause) })
		}
	}
}

func TestAllowedRanges(t *testing.T) {
	g := newGuard(t, Options{Allow: prefixes("127.0.0.0/8", "10.1.0.0/16", "fd00:1::/32", "64:ff9b::/96")})
	for s, want := range map[string]struct{ reach, private bool }{
		"127.9.9.9": {true, true}, "10.1.2.3": {true, true}, "10.2.0.1": {false, false}, "fd00:1::7": {true, true}, "fd00:2::7": {false, false},
		"::1": {false, false}, "::ffff:127.0.0.1": {false, false}, "2002:7f00:1::1": {false, false}, "8.8.8.8": {true, false},
		"64:ff9b::8.8.8.8": {true, false}, "64:ff9b::127.0.0.1": {true, true}, "64:ff9b::192.168.1.1": {false, false}, "169.254.169.254": {false, false},
	} {
		a := netip.MustParseAddr(s)
		if g.MayReach(a) != want.reach || g.Private(a) != want.private {
			t.Errorf("%s: reach %v, private %v", s, g.MayReach(a), g.Private(a))
		}
	}
}

func TestLookupIsAbsoluteAndOnce(t *testing.T) {
	dns := scripted("::ffff:93.184.215.14", "93.184.215.14", "2606:4700:4700::1111")
	r, err := newGuard(t, Options{Resolver: dns}).Route(t.Context(), "Docs.Example", 443)
	if err != nil || len(r.Addrs) != 2 || !slices.Equal(dns.asked, []string{"docs.example."}) || dns.network != "ip" {
		t.Errorf("%+v, %v, asked %v", r, err, dns.asked)
	}
	many := &answers{turns: [][]netip.Addr{nil}}
	for i := range 200 {
		many.turns[0] = append(many.turns[0], netip.AddrFrom4([4]byte{93, 184, 215, byte(i)}))
	}
	if r, err := newGuard(t, Options{Resolver: many}).Route(t.Context(), "many.example", 443); err != nil || len(r.Addrs) != maxDialled {
		t.Errorf("%d addresses, %v", len(r.Addrs), err)
	}
	many.turns[0] = append(many.turns[0], netip.MustParseAddr("10.0.0.1"))
	_, err = newGuard(t, Options{Resolver: many}).Route(t.Context(), "many.example", 443)
	faultIs(t, err, fault.Unsafe, fault.BadAddress)
}

// silent is a resolver that never answers.
type silent struct{}

func (silent) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestSilentResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, Options{Resolver: silent{}})
		start := time.Now()
		_, err := g.Route(t.Context(), "a.example", 443)
		faultIs(t, err, fault.Unreachable, fault.DNS)
		if took := time.Since(start); took != lookupLimit {
			t.Errorf("took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		_, err = g.Route(ctx, "a.example", 443)
		faultIs(t, err, fault.Unreachable, fault.DNS)
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v", took)
		}
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		_, err = g.Route(ctx, "a.example", 443)
		faultIs(t, err, fault.Canceled, "")
	})
}

// nameServer answers every question with code, over UDP on loopback, and
// reports the names it was asked for.
func nameServer(t *testing.T, code dnsmessage.RCode) (*net.Resolver, func() []string) {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked, done := make(chan string, 100), make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) == 0 {
				continue
			}
			asked <- m.Questions[0].Name.String()
			reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RCode: code, RecursionAvailable: true}, Questions: m.Questions}
			if out, err := reply.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
	return r, func() []string {
		var out []string
		for {
			select {
			case name := <-asked:
				if !slices.Contains(out, name) {
					out = append(out, name)
				}
			default:
				return out
			}
		}
	}
}

// A real resolver: failures fail closed, and no search domain is tried.
func TestNameServerFaults(t *testing.T) {
	for code, say := range map[dnsmessage.RCode]string{
		dnsmessage.RCodeNameError:     "does not exist",
		dnsmessage.RCodeSuccess:       "does not exist, or has no address",
		dnsmessage.RCodeServerFailure: "looked up",
		dnsmessage.RCodeRefused:       "looked up",
	} {
		resolver, asked := nameServer(t, code)
		_, err := newGuard(t, Options{Resolver: resolver}).Route(t.Context(), "no.such.example", 443)
		faultIs(t, err, fault.Unreachable, fault.DNS)
		if !strings.Contains(err.Error(), say) {
			t.Errorf("%v: %v", code, err)
		}
		if names := asked(); !slices.Equal(names, []string{"no.such.example."}) {
			t.Errorf("%v: asked for %q", code, names)
		}
	}
}
