// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// origin names a target for a sentence: scheme, host and port, without a path that
// may be long.
func origin(t check.Target) string {
	u := t.URL()
	return u.Scheme + "://" + u.Host
}

func protocol(p place, format string, args ...any) error {
	return fault.New(fault.Unreachable, fault.Protocol, format, args...)
}

// failed turns whatever ended an exchange into a failure.
func (h *HTTP) failed(ctx context.Context, p place, err error) error {
	e := h.explain(ctx, p, err)
	early := e.Cause == fault.Connect || e.Cause == fault.Reset || e.Cause == fault.TLS
	var plain tls.RecordHeaderError // the port speaks no TLS, which only the upgrade wanted of it
	if p.upgraded && early && (e.Advice == "" || errors.As(err, &plain)) {
		e.Advice = "The http URL was asked over https; if the site has no https, a user can set network.upgrade: never. Else try later or use another source."
	}
	return e
}

func (h *HTTP) explain(ctx context.Context, p place, err error) *fault.Error {
	var known *fault.Error
	var broken brokenError
	where := origin(p.target)
	// The caller's own end of the wait is found before what it caused.
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, errConnect) && !errors.Is(err, errHeaders) && !errors.Is(err, errIdle) {
		err = cause
	}
	switch {
	case errors.As(err, &known): // explained already, and may wrap a timeout of its own
		return known
	case errors.Is(err, errTotal), errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Timeout, fault.Total, "%s was not read within the time for the whole fetch", where)
	case errors.Is(err, context.Canceled):
		return fault.Wrap(err, fault.Canceled, "", "the fetch of %s was canceled", where)
	case errors.Is(err, errConnect):
		return fault.Wrap(err, fault.Timeout, fault.Connect, "%s gave no connection within %v", where, h.times.Connect)
	case errors.Is(err, errHeaders):
		return fault.Wrap(err, fault.Timeout, fault.Headers, "%s sent no complete header within %v", where, h.times.Headers)
	case errors.Is(err, errIdle):
		return fault.Wrap(err, fault.Timeout, fault.Idle, "the body from %s stood still for %v", where, h.times.Idle)
	case errors.As(err, &broken):
		return fault.New(fault.Unreachable, fault.Protocol, "the answer of %s is not valid HTTP: %s", where, broken)
	case errors.Is(err, errHeader):
		e := fault.New(fault.TooLarge, "", "the header that %s sends passes %d bytes", where, h.limits.HeaderBytes)
		e.Advice = "The site sends more header than any page needs; use another source."
		return e
	case errors.Is(err, errNoise):
		return fault.New(fault.Unreachable, fault.Protocol, "%s sends far more bytes than text", where)
	}
	return fault.Wrap(err, fault.Unreachable, fault.Reset, "the connection to %s broke before any text came", where)
}

// tlsFailed says why there is no trustworthy connection and what a user can do.
func tlsFailed(t check.Target, err error) error {
	var name x509.HostnameError
	var issuer x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var known *fault.Error
	fail := func(advice, format string, args ...any) error {
		e := fault.Wrap(err, fault.Unreachable, fault.TLS, format, args...)
		e.Advice = advice
		return e
	}
	where := origin(t)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &name):
		return fail("Check the host name; the certificate belongs to another one.", "the certificate of %s is not made out to that name", where)
	case errors.As(err, &issuer):
		return fail("A user who trusts this server's own authority can name its certificate with --cacert.", "the certificate of %s comes from an issuer that is not trusted here", where)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fail("The site has to renew its certificate; check this machine's clock, or use another source.", "the certificate of %s has expired or is not valid yet", where)
	case errors.As(err, &invalid):
		return fail("", "the certificate of %s is not valid", where)
	case errors.As(err, &record):
		return fail("The port does not speak TLS; check the port, or ask the http URL where the site has one.", "%s does not speak TLS there", where)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET):
		return fault.Wrap(err, fault.Unreachable, fault.Reset, "%s closed the connection during the TLS handshake", where)
	}
	return fail("", "%s and Dipper found no common way to speak TLS (1.2 or later is needed)", where)
}

// cutBy names why a body ended early, as Page.Cut has it; "" where the reason is a
// failure whatever came before it.
func (h *HTTP) cutBy(e *fault.Error) string {
	switch {
	case e.Kind == fault.Timeout && e.Cause == fault.Idle:
		return "idle"
	case e.Kind == fault.Timeout && e.Cause == fault.Total:
		return "total"
	case e.Kind == fault.Unreachable && e.Cause == fault.Reset:
		return "reset"
	}
	return ""
}
