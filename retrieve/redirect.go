// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// isRedirect names the statuses that lead elsewhere: RFC 9110 section 15.4, without
// 300 (a choice) and the retired 305 and 306.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirect decides about an answer that leads elsewhere: a target to follow, or
// page.Moved for the caller to decide, or a failure.
func (h *HTTP) redirect(ctx context.Context, p place, a *answer, t *trail, page *Page) (check.Target, error) {
	to, err := locate(p.target, a.header.Values("Location"), a.status)
	if err != nil {
		return check.Target{}, err
	}
	if follows(p.target, to) {
		if len(t.hops) >= h.limits.Hops {
			return check.Target{}, coded(fault.New(fault.Refused, fault.Hops, "%s sends on more than %d times", origin(p.target), h.limits.Hops), a.status)
		}
		return to, nil
	}
	if t.upgraded && t.asked[to.Secure().String()] {
		e := coded(fault.New(fault.Refused, fault.Loop, "%s sends the https request back to the http address that was asked", origin(p.target)), a.status)
		e.Advice = "This site has no https page there; a user who wants the http one can set network.upgrade: never."
		return check.Target{}, e
	}
	// What is reported will be asked next, so it is judged now. Only the guard's no
	// counts: a name that does not resolve is the next call's failure.
	_, err = h.settle(ctx, to)
	if errors.Is(err, fault.Unsafe) && !unresolved(err) || errors.Is(err, fault.Canceled) {
		return check.Target{}, err
	}
	page.Moved = &Moved{From: p.target.String(), To: to.String(), Status: a.status}
	return check.Target{}, nil
}

// locate reads the Location of a redirect against the address that gave it.
func locate(from check.Target, values []string, status int) (check.Target, error) {
	bad := func(err error, why string) (check.Target, error) {
		return check.Target{}, coded(fault.Wrap(err, fault.Refused, fault.Location, "%s answered %d with %s", origin(from), status, why), status)
	}
	if len(values) == 0 || values[0] == "" {
		return bad(nil, "no Location")
	}
	for _, v := range values[1:] {
		if v != values[0] {
			return bad(nil, "several different Locations")
		}
	}
	to, err := from.Join(readable(values[0]))
	var f *fault.Error
	switch {
	case err == nil:
		return to, nil
	case errors.As(err, &f) && f.Kind != fault.Invalid:
		return check.Target{}, coded(f, status)
	}
	return bad(err, "a Location that is no usable web address")
}

// readable percent-encodes the upper bytes of a Location that is not UTF-8; such
// bytes have no other reading that two programs would share.
func readable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			b.WriteByte(s[i])
		} else {
			b.WriteString(url.PathEscape(s[i : i+1]))
		}
	}
	return b.String()
}

// follows is the rule for following unasked: the same scheme or http to https, the
// same port (or both schemes' default), and the same host after one leading "www."
// is dropped from either.
func follows(from, to check.Target) bool {
	return samePlace(from, to) && strings.TrimPrefix(from.Host(), "www.") == strings.TrimPrefix(to.Host(), "www.")
}

func samePlace(from, to check.Target) bool {
	switch {
	case from.Scheme() == to.Scheme():
		return from.Port() == to.Port()
	case from.Scheme() == "http" && to.Scheme() == "https":
		return from.Port() == to.Port() || from.Port() == 80 && to.Port() == 443
	}
	return false
}

// coded notes the status that led to a failure.
func coded(e *fault.Error, status int) *fault.Error {
	e.Code = status
	return e
}
