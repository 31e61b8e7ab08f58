// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/dipper-web/dipper/fault"
)

const (
	// dialLimit bounds a dial whose context has no deadline: the contract's
	// time for a connection.
	dialLimit = 10 * time.Second
	// minShare is the least time that one address gets while another waits:
	// less would give up on a slow but healthy path (net.Dialer does the same).
	minShare = 2 * time.Second
)

// errRefused stops a dial in Control, before a packet is sent.
var errRefused = errors.New("the guard refused the address at the last moment")

// Dial connects to the addresses of r in turn, each with a share of the time
// that is left, and judges each again in the moment of dialling. Faults:
// fault.Unreachable/Connect, fault.Timeout/Connect, fault.Unsafe/BadAddress,
// fault.Canceled. No message names an address.
func (g *Guard) Dial(ctx context.Context, r Route) (net.Conn, error) {
	if len(r.Addrs) == 0 {
		return nil, fault.New(fault.Internal, "", "a connection was asked for without a judged address")
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	var last error
	for i, at := range r.Addrs {
		conn, err := g.dialOne(ctx, at, len(r.Addrs)-i)
		if err == nil {
			return conn, nil
		}
		if last = err; ctx.Err() != nil || errors.Is(err, errRefused) {
			break
		}
	}
	return nil, dialFault(ctx, r, last)
}

func (g *Guard) dialOne(ctx context.Context, at netip.AddrPort, left int) (net.Conn, error) {
	deadline, _ := ctx.Deadline()
	share := max(time.Until(deadline)/time.Duration(left), minShare)
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	d := net.Dialer{ControlContext: g.control}
	return d.DialContext(ctx, "tcp", at.String())
}

// control judges the address that the socket is about to connect to.
func (g *Guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || g.judge(at.Addr()) != nil {
		return errRefused
	}
	return nil
}

func dialFault(ctx context.Context, r Route, err error) error {
	var slow net.Error
	switch {
	case errors.Is(err, errRefused):
		return fault.New(fault.Unsafe, fault.BadAddress, "%s is not on the public web: it is private, local or reserved", r.Host)
	case errors.Is(ctx.Err(), context.Canceled):
		return fault.From(ctx.Err())
	case ctx.Err() != nil, errors.As(err, &slow) && slow.Timeout():
		return fault.Wrap(err, fault.Timeout, fault.Connect, "%s did not accept a connection on port %d in time", r.Host, r.Port)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fault.Wrap(err, fault.Unreachable, fault.Connect, "%s refused the connection on port %d: nothing listens there", r.Host, r.Port)
	}
	return fault.Wrap(err, fault.Unreachable, fault.Connect, "no connection to %s on port %d", r.Host, r.Port)
}
