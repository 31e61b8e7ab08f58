// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper

import (
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
)

// Mode says what a fetch hands back.
type Mode string

// The modes.
const (
	ModeAnswer   Mode = "answer"   // what the helper model makes of the page
	ModeExtract  Mode = "extract"  // the passages that fit the prompt best, word for word
	ModeMarkdown Mode = "markdown" // the page as Markdown
	ModeRaw      Mode = "raw"      // the body as it came, decoded
)

// Budgets in tokens of the reply where the caller names none.
const (
	ExtractBudget = 1000 // enough for the right passages of a long page
	AnswerBudget  = 2000 // a helper's answer with the code it quotes
)

// Request is the whole input of a fetch. The zero value of every field but URL
// is sensible.
type Request struct {
	URL    string
	Prompt string // the question; empty: no reader is asked, the page comes back as Markdown
	Mode   Mode   // empty: answer with a prompt and a model, extract with a prompt alone, else markdown
	Budget int    // tokens of the result; 0: the mode's own, without bound for markdown and raw

	Section string // id of a section of the page's outline; empty: the URL's fragment, if any
	Cursor  string // where an earlier result said it goes on
	Find    string // text to be found in the page, case aside; its surroundings come back

	Full   bool   // everything visible, not the main content alone
	Links  string // inline (default), end, none
	Images bool   // image addresses beside their alternative text

	Refresh bool // revalidate a kept page at once
	Offline bool // never ask the network; a kept page of any age will do

	ForModel bool      // the result goes to a model: invisible characters and imitated marks are cleaned
	NamedBy  permit.By // who named the URL; empty: a model
	Yes      bool      // answers yes to a permission question
	Session  string    // what provenance is counted over; empty: this client

	from     cursor // what Cursor says
	budgeted bool   // the caller named a budget
}

// settle checks the fields and fills in what follows from them: the mode, the
// budget, and what a cursor carries.
func (r Request) settle(model bool) (Request, error) {
	if err := r.checkFields(); err != nil {
		return r, err
	}
	if r.Links == "inline" {
		r.Links = ""
	}
	var err error
	if r.Cursor != "" {
		if r, err = r.atCursor(); err != nil {
			return r, err
		}
	}
	if r.Mode, err = r.mode(model); err != nil {
		return r, err
	}
	r.budgeted = r.Budget > 0
	if r.Budget == 0 && r.Mode == ModeExtract {
		r.Budget = ExtractBudget
	}
	if r.Budget == 0 && r.Mode == ModeAnswer {
		r.Budget = AnswerBudget
	}
	return r, nil
}

// reads says whether a reader is asked: a model, or the ranking of passages.
func (r Request) reads() bool { return r.Mode == ModeAnswer || r.Mode == ModeExtract }

// mode settles the mode from the request and from whether a helper model is there.
func (r Request) mode(model bool) (Mode, error) {
	switch {
	case r.Mode == ModeAnswer && !model:
		return "", fault.New(fault.Invalid, "", "mode answer needs a helper model, and none is configured: set model.provider, or use mode extract")
	case (r.Mode == ModeAnswer || r.Mode == ModeExtract) && r.Prompt == "":
		return "", fault.New(fault.Invalid, "", "mode %s needs a prompt: say what you want to know from the page", r.Mode)
	case (r.Mode == ModeAnswer || r.Mode == ModeExtract) && (r.Cursor != "" || r.Find != ""):
		return "", fault.New(fault.Invalid, "", "cursor and find show the page itself, and mode %s reads it: use mode markdown, or leave them out", r.Mode)
	case r.Mode == ModeAnswer, r.Mode == ModeExtract, r.Mode == ModeMarkdown, r.Mode == ModeRaw:
		return r.Mode, nil
	case r.Mode != "":
		return "", fault.New(fault.Invalid, "", "mode %q is unknown: use answer, extract, markdown or raw", clip(string(r.Mode)))
	case r.Prompt == "":
		return ModeMarkdown, nil
	case model:
		return ModeAnswer, nil
	}
	return ModeExtract, nil
}

// checkFields refuses field values that no later room would understand.
func (r Request) checkFields() error {
	switch {
	case r.Budget < 0:
		return fault.New(fault.Invalid, "", "a budget is a number of tokens, at least 1; got %d", r.Budget)
	case r.Links != "" && r.Links != "inline" && r.Links != "end" && r.Links != "none":
		return fault.New(fault.Invalid, "", "links %q is unknown: use inline, end or none", clip(r.Links))
	case r.Refresh && r.Offline:
		return fault.New(fault.Invalid, "", "refresh and offline exclude each other: one asks the site at once, the other never")
	case r.Cursor != "" && (r.Section != "" || r.Find != ""):
		return fault.New(fault.Invalid, "", "a cursor already says where to read on; leave out section and find")
	case r.Prompt != "" && r.Cursor != "":
		return fault.New(fault.Invalid, "", "a cursor reads on in the page word for word; leave out the prompt, or ask it without the cursor")
	case r.Prompt != "" && r.Find != "":
		return fault.New(fault.Invalid, "", "find shows the places that hold a text; leave out the prompt, or ask it without find")
	case r.Section != "" && r.Find != "":
		return fault.New(fault.Invalid, "", "find looks through the whole page; leave out section")
	}
	return nil
}
