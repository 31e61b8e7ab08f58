// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dipper-web/dipper/fault"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answers is a resolver with a script: answers[i] for the i-th lookup, the last
// one for all that follow. It keeps the names it was asked for.
type answers struct {
	mu      sync.Mutex
	turns   [][]netip.Addr
	asked   []string
	network string
}

func (a *answers) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	turn := min(len(a.asked), len(a.turns)-1)
	a.asked, a.network = append(a.asked, host), network
	if turn < 0 {
		return nil, errors.New("SERVFAIL")
	}
	return a.turns[turn], nil
}

func scripted(addrs ...string) *answers {
	a := &answers{}
	var turn []netip.Addr
	for _, s := range addrs {
		turn = append(turn, netip.MustParseAddr(s))
	}
	if len(turn) > 0 {
		a.turns = [][]netip.Addr{turn}
	}
	return a
}

func lines(t testing.TB, file string) [][]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "#") {
			out = append(out, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return out
}

func newGuard(t testing.TB, o Options) *Guard {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func prefixes(s ...string) (out []netip.Prefix) {
	for _, p := range s {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// faultIs checks kind and cause.
func faultIs(t *testing.T, err error, k fault.Kind, c fault.Cause) {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != k || e.Cause != c {
		t.Errorf("got %v, want %s/%s", err, k, c)
	}
}

// scriptOf reads the answers column: "A=1.2.3.4,5.6.7.8" or "A#2=…;AAAA#1=…".
func scriptOf(column string) *answers {
	a := &answers{}
	for part := range strings.SplitSeq(column, ";") {
		key, list, ok := strings.Cut(part, "=")
		kind, turn, _ := strings.Cut(key, "#")
		if !ok || kind != "A" && kind != "AAAA" {
			continue
		}
		n, _ := strconv.Atoi(turn)
		for len(a.turns) < max(n, 1) {
			a.turns = append(a.turns, nil)
		}
		for s := range strings.SplitSeq(list, ",") {
			a.turns[max(n, 1)-1] = append(a.turns[max(n, 1)-1], netip.MustParseAddr(s))
		}
	}
	return a
}

// A right verdict at a late stage can hide a hole, so the stage is checked too:
// names and addresses are refused without a lookup.
func TestPlaces(t *testing.T) {
	for i, f := range lines(t, "testdata/places.tsv") {
		id, group, host, verdict, stage := f[0], f[1], f[2], f[4], f[5]
		port, _ := strconv.Atoi(f[3])
		t.Run(fmt.Sprintf("%d-%s-%s", i, id, group), func(t *testing.T) {
			dns := scriptOf(f[6])
			o := Options{Resolver: dns}
			if port == 8443 {
				o.Ports = []int{80, 443, 8443}
			}
			r, err := newGuard(t, o).Route(t.Context(), host, port)
			switch {
			case verdict == "ALLOW":
				if err != nil || len(r.Addrs) == 0 || r.Private || r.Declared {
					t.Errorf("%s:%d: %+v, %v", host, port, r, err)
				}
			case stage == "name":
				faultIs(t, err, fault.Unsafe, fault.BadName)
			case stage == "policy":
				faultIs(t, err, fault.Unsafe, fault.BadPort)
			case len(dns.turns) == 0 && stage == "dns":
				faultIs(t, err, fault.Unreachable, fault.DNS)
			case stage == "dial" && err == nil: // only the first answer may be dialled
				for _, at := range r.Addrs {
					if Judge(at.Addr()) != nil {
						t.Errorf("the route holds %v", at)
					}
				}
			default:
				faultIs(t, err, fault.Unsafe, fault.BadAddress)
			}
			if (stage == "name" || stage == "addr" || stage == "policy") && len(dns.asked) > 0 {
				t.Errorf("%s was looked up", dns.asked)
			}
			if len(dns.asked) > 1 {
				t.Errorf("looked up %d times", len(dns.asked))
			}
			if err != nil && len(r.Addrs) > 0 {
				t.Errorf("a refusal comes with addresses: %v", r)
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	for _, f := range lines(t, "testdata/addresses.tsv") {
		a := netip.MustParseAddr(f[0])
		err := Judge(a)
		if f[1] == "ALLOW" != (err == nil) {
			t.Errorf("%s (%s): %v, want %s", a, f[2], err, f[1])
		}
		if err != nil {
			faultIs(t, err, fault.Unsafe, fault.BadAddress)
			if strings.Contains(err.Error(), f[0]) {
				t.Errorf("the message names the address: %v", err)
			}
		}
		g := newGuard(t, Options{Resolver: scripted("93.184.215.14", f[0])})
		_, err = g.Route(t.Context(), "a.example", 443)
		if refused := err != nil; refused != (f[1] != "ALLOW") {
			t.Errorf("%s behind a name, beside a public address: %v", a, err)
		}
		if err != nil && strings.Contains(err.Error(), f[0]) {
			t.Errorf("the message names the address: %v", err)
		}
	}
	g := newGuard(t, Options{Allow: prefixes("64:ff9b::/96")})
	if a := netip.MustParseAddr("64:ff9b::808:808"); !g.MayReach(a) || g.Private(a) {
		t.Error("a public address inside an allowed NAT64 prefix is refused or private")
	}
}
