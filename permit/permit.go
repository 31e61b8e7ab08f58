// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package permit decides whether a URL may be read at all.
//
// The order is fixed: deny rules, ask rules, allow rules, the trusted list, and
// last the default. A deny at any level stands. Beside the rules runs the
// provenance of a URL: what a person named or the session has already shown is
// known, everything else was made up by a model and is treated as the
// provenance mode says. Where the answer is a question and somebody can be
// asked, an Asker puts it; where nobody can, the call fails at once.
package permit

import (
	"context"
	"errors"
	"time"

	"github.com/dipper-web/dipper/check"
)

// By says who named a URL.
type By string

// Who names a URL. The empty By counts as Agent: less is permitted to it.
const (
	Person By = "person"
	Agent  By = "model"
)

// Decision is what a rule, or the whole book, says about a URL.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Auto, as Options.Default, lets a URL pass that a person named or the session
// has shown; another is a question where somebody can be asked, else it passes
// with a warning. The other defaults are the words of the three decisions.
const Auto = "auto"

// The values of Options.Provenance.
const (
	ProvenanceOff     = "off"
	ProvenanceWarn    = "warn"
	ProvenanceAsk     = "ask"
	ProvenanceEnforce = "enforce"
)

// The warning codes that a Verdict may carry.
const (
	AllowedUnasked = "allowed-unasked" // default auto, not seen before, and nobody could be asked
	Unseen         = "provenance"      // provenance warn, and the session has not shown the URL
)

// Sourced is a rule and the place it was written in.
type Sourced struct {
	Rule check.Rule
	From string // "config.yaml", "flag", "remembered", the path of a settings file
}

// Options configures a Book. The zero value has no rules, asks nobody, lets
// pass what Auto lets pass and warns of unseen URLs.
type Options struct {
	Allow, Ask, Deny []Sourced
	Default          string   // auto, ask, allow or deny; empty: auto
	Trusted          *Trusted // nil: no trusted list
	Memory           Memory   // nil: remembered for the life of the Book
	Asker            Asker    // nil: nobody can be asked
	Provenance       string   // off, warn, ask or enforce; empty: warn
}

// ErrNobody is what an Asker returns when nobody is there to be asked.
var ErrNobody = errors.New("permit: nobody can be asked")

// Choice is a person's answer. Every value but Once and Always is a no.
type Choice string

// The answers.
const (
	Once   Choice = "once"
	Always Choice = "always"
	No     Choice = "no"
)

// Question is what a person is asked: about a URL, a search or an MCP tool.
type Question struct {
	Tool    check.Tool // check.Fetch, check.Search or check.MCP
	What    string     // what is to be permitted, in words: "reading https://…", "a search with …"
	URL     string     // the canonical URL; of a fetch
	Host    string     // its host; of a fetch
	Engines []string   // the engines of a search
	Rule    string     // the rule or default that wants the question
	From    string     // where that is written
	Reason  string     // one sentence for the person
	// Always is the rule that the answer Always stores. Empty: a lasting answer
	// would change nothing, so Always should not be offered and counts as Once.
	Always string
}

// Asker puts a question to a person. It honours ctx and returns ErrNobody when
// nobody can be asked; any other error fails the call. Questions about one host
// come one after another, those about different hosts may come side by side.
type Asker interface {
	Ask(ctx context.Context, q Question) (Choice, error)
}

// Remembered is a rule that a person set for good.
type Remembered struct {
	Kind Decision
	Rule string
	At   time.Time
}

// Memory keeps the remembered rules. Remember replaces an entry of the same
// rule text. Forget reports whether the rule was there. An error of a Memory
// fails the call that met it; it is never taken for an empty memory.
type Memory interface {
	Recall(ctx context.Context) ([]Remembered, error)
	Remember(ctx context.Context, r Remembered) error
	Forget(ctx context.Context, rule string) (bool, error)
}

// Seen is the ledger of one session: the URLs that it has shown. Keys come from
// Key. Add is called with where the URLs came from: user, search, page,
// redirect or resource.
type Seen interface {
	Has(ctx context.Context, key string) (bool, error)
	Add(ctx context.Context, origin string, keys ...string) error
}

// The origins of a seen URL.
const (
	FromUser     = "user"
	FromSearch   = "search"
	FromPage     = "page"
	FromRedirect = "redirect"
	FromResource = "resource"
)

// Request is one URL to judge.
type Request struct {
	Target check.Target
	By     By
	Seen   Seen // nil: a session that has shown nothing
	Yes    bool // -y: a question is answered with yes
	// Hop marks a redirect that is being followed, or the final URL of a kept
	// page. A site named it, not a model, so provenance does not apply to it;
	// rules do, as if it had been asked for.
	Hop bool
	// Prior is the verdict that let the first URL of this call pass, for a hop;
	// nil for none. What a person was asked there is not asked again here.
	Prior *Verdict
}

// Verdict is a permission: the URL may be read. (What may not be read is an
// error; only Explain gives a Verdict whose Decision is not Allow.)
type Verdict struct {
	Decision Decision
	Host     string
	Trusted  string // docs, open or empty: the place of this URL on the trusted list
	Rule     string // what decided, as written; "default: auto" for the default
	From     string // where that is written
	Reason   string // one sentence
	// Warning is the first of Warnings, empty for none.
	Warning string
	// Warnings are the codes AllowedUnasked and Unseen, where they apply.
	Warnings []string
	Asked    bool // a person was asked, and said yes
}

// Listed is one rule of a Book for a person to read.
type Listed struct {
	Kind Decision
	Rule string
	From string
}
