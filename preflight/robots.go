// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// The values of RobotsOptions.Mode.
const (
	Obey       = "obey"       // rules hold whoever named the URL
	Autonomous = "autonomous" // rules hold unless a person named the URL
	Ignore     = "ignore"     // robots.txt is not asked for
)

const (
	// robotsDeadline is the time a robots.txt has, redirects and all. The page
	// has to be read in what is left of a minute.
	robotsDeadline = 10 * time.Second
	// robotsHops is how many redirects are followed (RFC 9309, section 2.3.1.2).
	robotsHops = 5
	// robotsAge is how long rules are kept (RFC 9309, section 2.4).
	robotsAge = 24 * time.Hour
	// robotsOrigins and robotsWeight bound what is kept: more origins than a
	// long session meets, and 16 MiB when many of them have large files.
	robotsOrigins = 1000
	robotsWeight  = 16 << 20
	// shownPattern bounds what a foreign file may put into our sentence.
	shownPattern = 60
)

// DefaultAgent is the product token that rules are looked up for when no user
// agent is set.
const DefaultAgent = "Dipper"

// File is what a Fetch met.
type File struct {
	Status int    // HTTP status of the last answer
	Body   []byte // decoded; MaxRobots bytes are enough
	// Cut means that the body broke off before its end, other than by size.
	Cut bool
	// Moved is the Location of a redirect that the Fetch did not follow; the
	// checker resolves it, checks it and calls Fetch again. Empty for none.
	Moved string
	// Hops is how many redirects the Fetch followed by itself.
	Hops       int
	RetryAfter time.Duration // what a 429 or 503 asked for; 0 for none
}

// Fetch reads one robots.txt through the same guard as any page and honours
// ctx. It may follow redirects or hand them back as File.Moved. Its error means
// that no answer came, or none that may be read; one of kind refused with cause
// loop or hops means redirects without end.
type Fetch func(ctx context.Context, t check.Target) (File, error)

// RobotsOptions configures NewRobots.
type RobotsOptions struct {
	Mode  string // obey, autonomous or ignore; empty: autonomous; anything else: obey
	Agent string // the user agent as sent, or its product token; empty: Dipper
	Fetch Fetch  // required unless Mode is ignore
}

type robots struct {
	options RobotsOptions
	agent   string
	rules   shelf[robotRules]
	out     flights[robotRules]
}

// NewRobots gives the Checker that keeps to robots.txt (RFC 9309). A rule is
// blocked/robots. A 4xx answer other than 429, or redirects without end, mean
// that there are no rules; 429, 5xx, silence and what cannot be read are
// unverified/robots, and are asked for again the next time. Rules are kept per
// scheme, host and port for 24 hours. /robots.txt itself may always be read.
// Calls about one origin at the same moment share one fetch.
func NewRobots(o RobotsOptions) Checker {
	if o.Mode == Ignore {
		return None()
	}
	if o.Mode == "" {
		o.Mode = Autonomous
	}
	agent := productToken(o.Agent)
	if agent == "" {
		agent = DefaultAgent
	}
	return &robots{
		options: o,
		agent:   agent,
		rules:   shelf[robotRules]{age: robotsAge, maxCount: robotsOrigins, maxWeight: robotsWeight},
	}
}

func (r *robots) Check(ctx context.Context, a Ask) (Clearance, error) {
	if r.options.Mode == Autonomous && a.Person {
		return Clearance{Reason: "a person named the URL", At: time.Now()}, nil
	}
	if a.Target.Path() == "/robots.txt" {
		return Clearance{Reason: "robots.txt itself may always be read", By: "robots", At: time.Now()}, nil
	}
	if _, known := r.rules.get(origin(a.Target)); a.Kept && !known {
		return Clearance{}, unsure(ctx, a.Target, nil, "was not asked when the page was fetched, and may not be asked offline")
	}
	rules, err := r.of(ctx, a.Target)
	if err != nil {
		return Clearance{}, err
	}
	path := a.Target.Path()
	if q := a.Target.Query(); q != "" {
		path += "?" + q
	}
	if rule, speaks := rules.verdict(path); speaks && !rule.allow {
		return Clearance{}, fault.New(fault.Blocked, fault.ByRobots,
			"robots.txt of %s asks %s not to read %s (Disallow: %s)", origin(a.Target), r.agent, a.Target, rule)
	}
	return Clearance{Reason: "no rule of robots.txt speaks against it", By: "robots", At: time.Now()}, nil
}

// of gives the rules of an origin, kept or fetched.
func (r *robots) of(ctx context.Context, t check.Target) (robotRules, error) {
	key := origin(t)
	if rules, ok := r.rules.get(key); ok {
		return rules, nil
	}
	rules, err := r.out.do(ctx, key, robotsDeadline, func(ctx context.Context) (robotRules, error) {
		rules, err := r.fetch(ctx, t)
		if err == nil {
			r.rules.put(key, rules, rules.weight())
		}
		return rules, err
	})
	if err != nil && (ctx.Err() != nil || fault.From(err).Kind != fault.Unverified) {
		return nil, unsure(ctx, t, err, "gave no answer in time")
	}
	return rules, err
}

// origin is what rules hold for: scheme, host and port, as a URL without a path.
func origin(t check.Target) string {
	u := t.URL()
	return u.Scheme + "://" + u.Host
}

// fetch follows the redirects that a Fetch hands back, then reads the rules.
func (r *robots) fetch(ctx context.Context, t check.Target) (robotRules, error) {
	at, err := t.Join("/robots.txt")
	if err != nil {
		return nil, unsure(ctx, t, err, "has no address")
	}
	for hops := 0; hops <= robotsHops; hops++ {
		file, err := r.options.Fetch(ctx, at)
		if endless(err) {
			return nil, nil
		}
		if err != nil {
			e := unsure(ctx, t, err, "could not be fetched")
			e.RetryAfter = fault.From(err).RetryAfter
			return nil, e
		}
		if hops += file.Hops; hops > robotsHops {
			return nil, nil
		}
		if file.Moved == "" {
			return r.read(ctx, t, file)
		}
		if at, err = at.Join(file.Moved); err != nil {
			return nil, unsure(ctx, t, err, "is moved to no usable address")
		}
	}
	return nil, nil // redirects without end: as if there were none (RFC 9309, section 2.3.1.2)
}

func endless(err error) bool {
	if err == nil {
		return false
	}
	e := fault.From(err)
	return e.Kind == fault.Refused && (e.Cause == fault.Loop || e.Cause == fault.Hops)
}

func (r *robots) read(ctx context.Context, t check.Target, f File) (robotRules, error) {
	switch {
	case f.Status >= 200 && f.Status < 300 && f.Cut:
		return nil, unsure(ctx, t, nil, "broke off before its end")
	case f.Status >= 200 && f.Status < 300:
		return parseRobots(f.Body, r.agent), nil
	case f.Status >= 400 && f.Status < 500 && f.Status != http.StatusTooManyRequests:
		return nil, nil
	}
	e := unsure(ctx, t, nil, fmt.Sprintf("answered %d", f.Status))
	e.Code, e.RetryAfter = f.Status, f.RetryAfter
	return nil, e
}

func unsure(ctx context.Context, t check.Target, err error, what string) *fault.Error {
	e := unverified(ctx, err, fault.ByRobots, "whether %s may be read could not be found out: robots.txt of %s %s", t, origin(t), what)
	if e.Kind == fault.Unverified {
		e.Advice = "Try once more later, or use another source; a user who wants no such check can set preflight.robots: ignore."
	}
	return e
}

// String is the pattern of a rule, short enough for a sentence. It is in normal
// form, so it holds no blanks and nothing but ASCII.
func (r robotRule) String() string {
	s := r.pattern
	if r.ends {
		s += "$"
	}
	if len(s) > shownPattern {
		s = s[:shownPattern] + "..."
	}
	return s
}

// weight is about what the rules take in memory, in bytes.
func (r robotRules) weight() int {
	const perRule = 48
	sum := 100
	for _, rule := range r {
		sum += perRule + len(rule.pattern)
	}
	return sum
}
