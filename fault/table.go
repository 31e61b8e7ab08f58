// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import "net/http"

// Retry says when another try makes sense.
type Retry int

// The answers of the retry column.
const (
	ByRow   Retry = iota // a cause without an answer of its own
	Never                // no
	Always               // yes
	Consent              // after consent: not by the caller alone
	Later                // after RetryAfter
	Status5              // by status: yes for 5xx and 408, no otherwise
)

func (r Retry) yes(e *Error) bool {
	switch r {
	case Always, Later:
		return true
	case Status5:
		return e.Code >= 500 || e.Code == http.StatusRequestTimeout
	}
	return false
}

// String is the word that the documentation prints.
func (r Retry) String() string {
	return [...]string{"", "no", "yes", "after consent", "after the time named", "by status"}[r]
}

// CauseRow is one cause of a kind. Retry ByRow takes the answer of the kind.
type CauseRow struct {
	Name    Cause
	Retry   Retry
	Meaning string
	Advice  string // where the kind's own would mislead; empty: the kind's
}

// Row is what one kind means for a program, a person and an agent.
type Row struct {
	Kind    Kind
	Meaning string
	Causes  []CauseRow
	Exit    int // process exit code
	HTTP    int // status of the JSON API
	Retry   Retry
	Advice  string // one sentence for the agent that made the call
}

// Table gives every kind with its row, in the order of the documentation.
func Table() []Row {
	return []Row{
		{Invalid, "the request itself is wrong", nil, 2, http.StatusBadRequest, Never,
			"Correct the request as the message says, then call again."},
		{Denied, "a rule, a person or the provenance rule said no", []CauseRow{
			{ByRule, ByRow, "a deny rule, or default: deny", ""},
			{ByPerson, ByRow, "a person was asked and said no", ""},
			{ByProvenance, ByRow, "the conversation has never shown this URL", ""},
		}, 3, http.StatusForbidden, Never,
			"Do not try this URL again by other means; use another source or ask the user."},
		{Unasked, "a person must be asked, and nobody can be asked here", []CauseRow{
			{ByRule, ByRow, "an ask rule, or default: ask", ""},
			{ByProvenance, ByRow, "the conversation has never shown this URL", ""},
		}, 3, http.StatusForbidden, Consent,
			"Ask the user to allow this host (dipper rules allow \"domain:HOST\"), then call again."},
		{Unsafe, "the guard refuses where this leads", []CauseRow{
			{BadAddress, ByRow, "a private, local or reserved address", ""},
			{BadPort, ByRow, "a port that is not open to fetches", ""},
			{BadName, ByRow, "a name that is never public, or cannot be judged", ""},
		}, 3, http.StatusForbidden, Never,
			"This place is not on the public web; a user who owns it can allow its range with network.allow."},
		{Blocked, "a block list, robots.txt or the preflight service says no", []CauseRow{
			{ByList, ByRow, "an entry of preflight.block", ""},
			{ByRobots, ByRow, "robots.txt disallows the path", ""},
			{ByRemote, ByRow, "the preflight service disallows the host", ""},
		}, 3, http.StatusForbidden, Never,
			"Use another source; this one may not be read."},
		{Unverified, "whether the page may be read could not be found out", []CauseRow{
			{ByRobots, ByRow, "robots.txt could not be read", ""},
			{ByRemote, ByRow, "the preflight service gave no answer", ""},
		}, 4, http.StatusServiceUnavailable, Always,
			"Try once more later, or use another source."},
		{Unreachable, "no answer came over the wire", []CauseRow{
			{DNS, Always, "the name could not be resolved", ""},
			{Connect, Always, "no connection", ""},
			{Reset, Always, "the connection broke before any text came", ""},
			{Protocol, Always, "the answer is not valid HTTP", ""},
			{TLS, Never, "no trustworthy TLS connection", "Tell the user: the certificate or the TLS version is at fault, and only they can trust another root (--cacert)."},
			{Proxy, Never, "the proxy refused or failed", "Tell the user: the proxy of this machine is at fault (network.proxy, HTTPS_PROXY); other hosts will fail the same way."},
			{Offline, Never, "the page is not kept, and --offline was given", "Call again without offline to fetch the page."},
		}, 4, http.StatusBadGateway, Always,
			"Check the host name; if it is right, try later or use another source."},
		{Timeout, "a deadline passed", []CauseRow{
			{Connect, ByRow, "while connecting", ""},
			{Headers, ByRow, "while waiting for the header", ""},
			{Idle, ByRow, "the body stood still", ""},
			{Total, ByRow, "the whole call took too long", ""},
			{SlowMind, ByRow, "the model took too long", ""},
		}, 4, http.StatusGatewayTimeout, Always,
			"Try once more later, or use another source."},
		{Refused, "the other side answered with an error", []CauseRow{
			{Status, Status5, "an HTTP status that is not a page", ""},
			{Loop, Never, "redirects run in a circle", "Use another page or source; this site redirects to itself without end."},
			{Hops, Never, "more redirects than allowed", "Use another page or source; this site redirects without end."},
			{Location, Never, "a redirect to no usable address", "Use another page or source; the redirect leads to no web page."},
			{Server, Never, "an MCP server's error", ""},
		}, 4, http.StatusBadGateway, Status5,
			"Use another page or source; where there is an excerpt, it says why the site refused."},
		{Limited, "too many requests", []CauseRow{
			{BySite, ByRow, "the site asks to slow down", ""},
			{BySelf, ByRow, "the site asked to wait, and the time is not over", ""},
		}, 4, http.StatusTooManyRequests, Later,
			"Wait as long as retryAfterMs says before asking this host again; other hosts are not affected."},
		{TooLarge, "larger than the cap", nil, 5, http.StatusRequestEntityTooLarge, Never,
			"Look for a smaller page, a section or an abstract of the same document."},
		{Unreadable, "the body cannot be turned into text", []CauseRow{
			{Charset, ByRow, "an unknown character set", ""},
			{Encoding, ByRow, "an unknown or broken content encoding", ""},
			{Type, ByRow, "a type that holds no text", ""},
		}, 5, http.StatusUnprocessableEntity, Never,
			"Look for another format of the same page."},
		{Model, "the model failed", nil, 6, http.StatusBadGateway, Always,
			"Call again with mode extract, which needs no model, or check the model's settings with dipper doctor."},
		{Engine, "a search engine failed", []CauseRow{
			{Key, ByRow, "the key is missing or refused", ""},
			{Answer, ByRow, "the engine's answer cannot be understood", ""},
			{Down, ByRow, "the engine cannot be reached", ""},
		}, 6, http.StatusBadGateway, Always,
			"Use another engine, or check this one with dipper doctor."},
		{Canceled, "the caller stopped the call", nil, 130, 499, Never,
			"Nothing to do: the call was stopped on purpose."},
		{Internal, "a fault in Dipper itself", nil, 1, http.StatusInternalServerError, Never,
			"Report this with the command that led here."},
	}
}

// Of gives the row of a kind; an unknown kind gets the row of Internal.
func Of(k Kind) Row {
	rows := Table()
	for _, r := range rows {
		if r.Kind == k {
			return r
		}
	}
	return rows[len(rows)-1]
}
