// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/convert"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
)

const (
	// sectionsNamed is how many section ids a failure lists.
	sectionsNamed = 12
	// echoed is how much of what a caller wrote a sentence repeats, in characters.
	echoed = 120
)

// clip shortens what a caller wrote for a sentence.
func clip(s string) string {
	n := 0
	for i := range s {
		if n++; n > echoed {
			return s[:i] + "…"
		}
	}
	return s
}

// cursor says where a page is read on: in which form, from where to where.
type cursor struct {
	Doc    string `json:"d"` // digest of the text that the offsets belong to
	At     int    `json:"a"`
	End    int    `json:"e,omitempty"` // 0: the end of the page
	Full   bool   `json:"f,omitempty"`
	Links  string `json:"l,omitempty"`
	Images bool   `json:"i,omitempty"`
	Raw    bool   `json:"r,omitempty"`
}

func (c cursor) String() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // a struct of strings and numbers always has a JSON form
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// atCursor takes over from the cursor in which form the page was read.
func (r Request) atCursor() (Request, error) {
	b, err := base64.RawURLEncoding.DecodeString(r.Cursor)
	if err == nil {
		err = json.Unmarshal(b, &r.from)
	}
	if err != nil || r.from.At < 0 || r.from.Doc == "" {
		return r, fault.New(fault.Invalid, "", "this cursor is not one of Dipper's: pass shown.next of an earlier result unchanged")
	}
	r.Full, r.Links, r.Images = r.from.Full, r.from.Links, r.from.Images
	if r.Mode == "" && r.from.Raw {
		r.Mode = ModeRaw
	}
	return r, nil
}

// show puts the asked part of the document into the answer: what a cursor, a
// section or a text to be found names, else all of it, cut at the budget.
func (a *Answer) show(req Request, doc convert.Document, fragment string) error {
	if a.Path == "" {
		a.Path = "document"
	}
	if req.Find != "" {
		a.find(req, doc)
		return nil
	}
	start, end, err := req.span(doc, fragment)
	if err != nil {
		return err
	}
	text := doc.Markdown[start:end]
	kept := len(text)
	if req.Budget > 0 {
		kept = extract.Cut(text, req.Budget)
	}
	next := ""
	if kept < len(text) {
		next = cursor{Doc: digest(doc.Markdown), At: start + kept, End: end, Full: req.Full, Links: req.Links, Images: req.Images, Raw: req.Mode == ModeRaw}.String()
		a.Outcome = Partial
		a.warn("truncated", fmt.Sprintf("%d of %d characters are shown; read on with the cursor in shown.next",
			utf8.RuneCountInString(text[:kept]), utf8.RuneCountInString(doc.Markdown)), 0)
	}
	a.Result = text[:kept]
	a.shown(a.Result, next != "" || a.Outcome == Partial, next)
	return nil
}

// shown describes the part that is shown.
func (a *Answer) shown(text string, truncated bool, next string) {
	a.Shown = &Shown{Chars: utf8.RuneCountInString(text), Tokens: extract.Tokens(text), Truncated: truncated, Next: next}
}

// span is the part of the document that the request names, in bytes.
func (r Request) span(doc convert.Document, fragment string) (start, end int, err error) {
	whole := len(doc.Markdown)
	switch {
	case r.Cursor != "":
		if r.from.Doc != digest(doc.Markdown) || r.from.At > whole || r.from.End > whole || r.from.End != 0 && r.from.End < r.from.At {
			return 0, 0, fault.New(fault.Invalid, "", "the page has changed since this cursor was made: read it again from the start")
		}
		end := r.from.End
		if end == 0 {
			end = whole
		}
		return r.from.At, end, nil
	case r.Section != "":
		s, ok := extract.Locate(readable(doc, ""), doc.Anchors, r.Section)
		if !ok {
			return 0, 0, noSection(r.Section, doc)
		}
		return s.Start, s.End, nil
	case fragment != "" && r.Budget > 0 && extract.Tokens(doc.Markdown) > r.Budget:
		if s, ok := extract.Locate(readable(doc, ""), doc.Anchors, fragment); ok {
			return s.Start, whole, nil
		}
	}
	return 0, whole, nil
}

// sectionAsked is the id of the section that a reader should look at first.
func sectionAsked(doc convert.Document, ids ...string) string {
	for _, id := range ids {
		if id == "" {
			continue
		}
		if s, ok := extract.Locate(readable(doc, ""), doc.Anchors, id); ok {
			return s.ID
		}
	}
	return ""
}

func noSection(id string, doc convert.Document) error {
	var names []string
	for _, s := range doc.Outline {
		if len(names) == sectionsNamed {
			names = append(names, "…")
			break
		}
		names = append(names, s.ID)
	}
	if len(names) == 0 {
		return fault.New(fault.Invalid, "", "the page has no sections, so there is none with the id %q", clip(id))
	}
	return fault.New(fault.Invalid, "", "the page has no section with the id %q; it has %s", clip(id), strings.Join(names, ", "))
}

// find shows the places where the page holds a text.
func (a *Answer) find(req Request, doc convert.Document) {
	text, hits := extract.Find(readable(doc, a.FinalURL), req.Find, req.Budget)
	if len(hits) == 0 {
		a.Outcome = Empty
		text = fmt.Sprintf("%q does not occur in the page (%d characters).", clip(req.Find), utf8.RuneCountInString(doc.Markdown))
	}
	for _, h := range hits {
		a.Citations = append(a.Citations, cite(doc.Markdown, h))
	}
	a.Result = text
	a.shown(text, false, "")
}

// tell fills in an answer that holds no page: what happened, what to do, and
// the first lines of what the site said.
func (a *Answer) tell(o Outcome, r reading, asked check.Target) {
	a.Outcome, a.Moved, a.Saved = o, r.Moved, r.Saved
	lines := []string{r.statusLine()}
	switch o {
	case Moved:
		lines = []string{
			fmt.Sprintf("%s answered %s and leads to another place:", r.Moved.From, r.statusLine()),
			r.Moved.To,
			"It was not followed. If that is where you want to go, fetch that URL with the same prompt.",
		}
	case Saved:
		lines = []string{fmt.Sprintf("%s is %s (%d bytes). It was saved as %s.", r.Final, r.Saved.Type, r.Saved.Bytes, r.Saved.Path)}
		a.Bytes = r.Saved.Bytes
	case Shell:
		lines = append(lines, "The page needs JavaScript: its HTML holds no text to read."+said(r.Doc.Title), "Look for the same content as a feed, an API or a plain page.")
	case Login:
		lines = append(lines, "The page is behind a login."+said(r.Doc.Title), "Use a public source, or ask the user for the text.")
	case Challenge:
		lines = append(lines, "The site answers with a bot check or a consent wall instead of the page.", "Do not try again at once; use another source.")
	case NotFound:
		lines = append(lines, "The page is not there."+said(r.Doc.Title), "Check the URL, or search for the page's new place.")
		if shorter, ok := asked.Trimmed(); ok {
			lines = append(lines, "The URL ends in punctuation that may belong to the sentence it was taken from: try "+shorter.String())
		}
	case Empty:
		lines = append(lines, "The page is empty: it holds no text at all.")
	}
	a.Result = strings.TrimSpace(strings.Join(lines, "\n"))
	if o != Moved && o != Saved && o != Empty && r.Doc.Excerpt != "" {
		a.Result += "\n\n" + r.Doc.Excerpt
	}
	for _, w := range r.Doc.Removed {
		a.warn(w.Code, w.Message, w.Count)
	}
	a.Page = nil
}

// said quotes the page's title, if it has one.
func said(title string) string {
	if title == "" {
		return ""
	}
	return " Its title: " + title
}

// statusLine is the status with its text.
func (r *reading) statusLine() string {
	text := r.StatusText
	if text == "" {
		text = http.StatusText(r.Status)
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, text))
}
