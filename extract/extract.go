// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Section is one heading of a document with the text below it.
type Section struct {
	ID, Title string
	Level     int
	// Start and End are byte offsets into Doc.Markdown; End is the start of the
	// next section of the same or a higher level.
	Start, End int
	// Path holds the titles from the top of the document down to this section.
	Path []string
}

// Doc is the page that is asked.
type Doc struct {
	URL, Title, Language, Published, Kind, Markdown string
	// Sections is the outline in document order. Empty: it is read from the
	// headings of Markdown.
	Sections []Section
}

// Ask is one prompt put to one document.
type Ask struct {
	Doc    Doc
	Prompt string
	// Trusted lifts the quotation cap: the page is on the preapproved list.
	Trusted bool
	// Budget bounds the reply in tokens; 0 is PassageBudget for passages and
	// AnswerBudget for the helper model.
	Budget int
	// Section is the id of the part that comes first, "" for none.
	Section string
	// PassagesOnly keeps the page away from the model (policy.restricted: passages).
	PassagesOnly bool
	// MaxQuote is the quotation cap in characters for a restricted page;
	// 0 is the reader's.
	MaxQuote int
}

// The reader that made a reply.
const (
	PathHelper   = "helper"
	PathPassages = "passages"
)

// Reply is what a reader made of a document.
type Reply struct {
	Text string
	// Path names the reader: PathHelper or PathPassages.
	Path      string
	Citations []Citation
	Warnings  []Warning
	Calls     []Call
	// Partial says that the model saw only a part of the page, that its text was
	// cut, or that it ran out of time.
	Partial bool
	// ShownChars and ShownTokens measure Text.
	ShownChars, ShownTokens int
}

// Citation is text that stands in the document word for word:
// Doc.Markdown[Start:End] == Quote.
type Citation struct {
	Quote, Section string
	Start, End     int
}

// Warning is one thing the caller should know; Code is one of the closed list.
type Warning struct {
	Code, Message string
	Count         int
}

// The warning codes that this room gives.
const (
	WarnTruncated    = "truncated"
	WarnQuoteCut     = "quote-cut"
	WarnQuoteMissing = "quote-not-found"
	WarnUnsupported  = "unsupported-sentence"
	WarnModelTimeout = "model-timeout"
	WarnMarks        = "imitated-marks"
	WarnInvisible    = "invisible-characters-removed"
)

// Call is one call of a model and what it cost.
type Call struct {
	Purpose, Model string
	Usage          Usage
	CostUSD        float64
}

// Usage counts tokens. Cached ones are part of In.
type Usage struct{ In, Out, Cached int }

// Prompt is what a model is given: no tools, one user message.
type Prompt struct {
	System, Text string
	MaxTokens    int
}

// Completion is what a model gave back. Stop is the reason in one of the Stop
// constants; other words are passed on as the supplier writes them.
type Completion struct {
	Text, Model, Stop string
	Usage             Usage
}

// The reasons for which a model stops.
const (
	StopEnd     = "end"     // it was done
	StopLength  = "length"  // MaxTokens was reached
	StopRefusal = "refusal" // it would not answer
)

// Model is a language model. An error is a *fault.Error of kind fault.Model, or
// the context's error.
type Model interface {
	Name() string
	Complete(ctx context.Context, p Prompt) (Completion, error)
}

// Reader answers prompts with a helper model.
type Reader struct {
	Model Model
	// Timeout bounds the model's work on one prompt; 0 is ModelTimeout.
	Timeout time.Duration
	// Prices turn usage into cost; nil is BuiltinPrices.
	Prices Prices
	// MaxQuote is the quotation cap in characters; 0 is MaxQuote.
	MaxQuote int
}

// Limits of this room.
const (
	// PassageBudget is the budget of passages in tokens where none is named:
	// enough for the answer and what stands around it.
	PassageBudget = 1000
	// AnswerBudget is the budget of a model's answer where none is named.
	AnswerBudget = 2000
	// MaxPageChars is how much of a page a helper model is given, in characters:
	// the reference contract's number.
	MaxPageChars = 100_000
	// MaxQuote is the longest quotation from a restricted page, in characters:
	// the reference contract's number.
	MaxQuote = 125
	// ModelTimeout is the time for the helper model: it leaves room for fetching
	// inside the sixty seconds of a whole call.
	ModelTimeout = 45 * time.Second
)

// policyVersion is part of ReplyKey; it changes when the wording of the
// policies does, so that kept replies never outlive the rules they were made by.
const policyVersion = "1"

// ReplyKey is the key under which a reply of the helper model is kept: document,
// prompt, policy, model, budget and section all count. docHash identifies the
// document's text, model is the model's name.
func ReplyKey(a Ask, docHash, model string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%q\x00%q\x00%q\x00%q\x00%t\x00%t\x00%d\x00%d", policyVersion, docHash, model, a.Prompt,
		a.Section, a.Trusted, a.PassagesOnly, a.Budget, a.MaxQuote)
	return "reply:" + hex.EncodeToString(h.Sum(nil))
}
