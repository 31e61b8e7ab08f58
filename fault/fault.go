// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fault says how work can fail.
//
// A failure has a Kind from a closed list and, where the cure differs, a Cause.
// A Kind is itself an error value, so errors.Is(err, fault.Denied) works through
// any number of wraps. What each kind means for a program (exit code, HTTP
// status, whether a retry makes sense) and for an agent (one sentence of advice)
// is the table in table.go; nothing else in the program repeats it.
package fault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind is one word of the closed list of failures. The zero Kind is no failure.
type Kind string

// The kinds, in the order of the table.
const (
	Invalid     Kind = "invalid"
	Denied      Kind = "denied"
	Unasked     Kind = "unasked"
	Unsafe      Kind = "unsafe"
	Blocked     Kind = "blocked"
	Unverified  Kind = "unverified"
	Unreachable Kind = "unreachable"
	Timeout     Kind = "timeout"
	Refused     Kind = "refused"
	Limited     Kind = "limited"
	TooLarge    Kind = "toolarge"
	Unreadable  Kind = "unreadable"
	Model       Kind = "model"
	Engine      Kind = "engine"
	Canceled    Kind = "canceled"
	Internal    Kind = "internal"
)

// Error makes a Kind an error value of its own.
func (k Kind) Error() string { return string(k) }

// Cause tells failures of one kind apart where the cure differs. It is empty
// for kinds that need none.
type Cause string

// The causes. Which kind knows which cause is in the table.
const (
	ByRule       Cause = "rule"
	ByPerson     Cause = "person"
	ByProvenance Cause = "provenance"

	BadAddress Cause = "address"
	BadPort    Cause = "port"
	BadName    Cause = "name"

	ByList   Cause = "list"
	ByRobots Cause = "robots"
	ByRemote Cause = "remote"

	DNS      Cause = "dns"
	Connect  Cause = "connect"
	Reset    Cause = "reset"
	Protocol Cause = "protocol"
	TLS      Cause = "tls"
	Proxy    Cause = "proxy"
	Offline  Cause = "offline"

	Headers  Cause = "headers"
	Idle     Cause = "idle"
	Total    Cause = "total"
	SlowMind Cause = "model"

	Status   Cause = "status"
	Loop     Cause = "loop"
	Hops     Cause = "hops"
	Location Cause = "location"
	Server   Cause = "server"

	BySite Cause = "site"
	BySelf Cause = "self"

	Charset  Cause = "charset"
	Encoding Cause = "encoding"
	Type     Cause = "type"

	Key    Cause = "key"
	Answer Cause = "answer"
	Down   Cause = "down"
)

// Error is a failure: a kind, a sentence for a stranger, and the cause for the log.
type Error struct {
	Kind  Kind
	Cause Cause
	// Detail is one sentence that says what happened. It names no inner address
	// and no secret: it is shown to callers and to agents.
	Detail string
	// Advice overrides the advice of the table where more is known.
	Advice string
	// Code is the HTTP status of the answer that led here, 0 for none.
	Code int
	// RetryAfter is how long to wait before another try, 0 for unknown.
	RetryAfter time.Duration
	// Excerpt holds the first readable lines of an error body.
	Excerpt string
	// Err is the wrapped cause, for the log.
	Err error
}

// New makes a failure from a kind, a cause (empty for none) and a sentence.
func New(k Kind, c Cause, format string, args ...any) *Error {
	return &Error{Kind: k, Cause: c, Detail: fmt.Sprintf(format, args...)}
}

// Wrap is New with the error that led here. The wrapped text is for the log;
// callers see the sentence alone.
func Wrap(err error, k Kind, c Cause, format string, args ...any) *Error {
	e := New(k, c, format, args...)
	e.Err = err
	return e
}

// Error gives the chain for a log: kind, cause, sentence, wrapped error.
func (e *Error) Error() string {
	s := string(e.Kind)
	if e.Cause != "" {
		s += "/" + string(e.Cause)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is e's Kind, so that errors.Is(err, fault.Denied) holds.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// Say gives the advice for an agent: its own, else its cause's, else its kind's.
func (e *Error) Say() string {
	if e.Advice != "" {
		return e.Advice
	}
	row := Of(e.Kind)
	for _, c := range row.Causes {
		if c.Name == e.Cause && c.Advice != "" {
			return c.Advice
		}
	}
	return row.Advice
}

// Retryable reports whether the same call may succeed later.
func (e *Error) Retryable() bool {
	row := Of(e.Kind)
	for _, c := range row.Causes {
		if c.Name == e.Cause && c.Retry != ByRow {
			return c.Retry.yes(e)
		}
	}
	return row.Retry.yes(e)
}

// From finds the failure in err. A context that ended becomes canceled or
// timeout/total, anything unknown becomes internal. From(nil) is nil.
func From(err error) *Error {
	var e *Error
	var k Kind
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return Wrap(err, Canceled, "", "the call was canceled")
	case errors.Is(err, context.DeadlineExceeded):
		return Wrap(err, Timeout, Total, "the time for the whole call ran out")
	case errors.As(err, &k):
		return Wrap(err, k, "", "%s", k)
	}
	return Wrap(err, Internal, "", "something went wrong inside Dipper: %v", err)
}
