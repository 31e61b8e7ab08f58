// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper

import (
	"encoding/json"
	"strings"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// Error is a failed call: the failure with the stage and the URL it belongs to.
// errors.Is(err, fault.Denied) and the like see through it.
type Error struct {
	Stage Stage
	URL   string
	Fault *fault.Error
}

// Error gives the text for a log.
func (e *Error) Error() string {
	s := string(e.Stage)
	if e.URL != "" {
		s += " " + e.URL
	}
	return s + ": " + e.Fault.Error()
}

// Unwrap gives the failure.
func (e *Error) Unwrap() error { return e.Fault }

// Failure is the JSON form of a failed call.
type Failure struct {
	URL   string        `json:"url,omitempty"`
	Query string        `json:"query,omitempty"`
	Error FailureDetail `json:"error"`
}

// FailureDetail is what a caller learns of a failure.
type FailureDetail struct {
	Kind         fault.Kind  `json:"kind"`
	Cause        fault.Cause `json:"cause,omitempty"`
	Message      string      `json:"message"`
	Advice       string      `json:"advice"`
	Retryable    bool        `json:"retryable"`
	Stage        Stage       `json:"stage,omitempty"`
	Code         int         `json:"code,omitempty"`
	RetryAfterMs int64       `json:"retryAfterMs,omitempty"`
	Excerpt      string      `json:"excerpt,omitempty"`
}

// maxEchoedURL bounds how much of a URL a failure repeats, in bytes: what is longer
// than a URL may be is not one, and would only fill the caller's context.
const maxEchoedURL = 4 * check.MaxURL

// FailureOf gives the JSON form of any error, with url where the error names none.
func FailureOf(err error, url string) Failure {
	f := fault.From(err)
	out := Failure{URL: url, Error: FailureDetail{
		Kind: f.Kind, Cause: f.Cause, Message: f.Detail, Advice: f.Say(), Retryable: f.Retryable(),
		Code: f.Code, RetryAfterMs: f.RetryAfter.Milliseconds(), Excerpt: f.Excerpt,
	}}
	if e, ok := err.(*Error); ok {
		out.Error.Stage = e.Stage
		if e.URL != "" {
			out.URL = e.URL
		}
	}
	if len(out.URL) > maxEchoedURL {
		out.URL = strings.ToValidUTF8(out.URL[:maxEchoedURL], "") + "…"
	}
	if out.Error.Message == "" {
		out.Error.Message = fault.Of(f.Kind).Meaning
	}
	return out
}

// MarshalJSON gives the JSON form of the contract.
func (e *Error) MarshalJSON() ([]byte, error) { return json.Marshal(FailureOf(e, e.URL)) }
