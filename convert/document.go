// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package convert turns the bytes of a page into Markdown, without a network
// and without a model.
//
// HTML keeps its structure: the tree of a page is read once and never changed,
// the choice of the main content and the search for hidden text only mark its
// nodes, and one writer walks the marks. JSON, plain text and Markdown pass
// through as they came. Whatever was taken out is counted and named in
// Document.Removed, so that nothing vanishes silently.
package convert

import "net/http"

// Input is a page as it came over the wire, and how to write it.
type Input struct {
	Body    []byte      // decoded from its content encoding, already capped
	Type    string      // the Content-Type header as sent, "" for none
	URL     string      // the final URL: relative links are resolved against it
	Status  int         // HTTP status, 0 for unknown
	Header  http.Header // nil for none
	Options Options
}

// Options says how a document is written. The zero value suits a reader that
// is a model: links inline, images as alternative text, main content only.
type Options struct {
	Links   string // LinksInline, LinksEnd or LinksNone; "" is inline
	Images  bool   // write the addresses of images; else their alternative text only
	Full    bool   // everything visible, no choice of the main content
	Clean   bool   // bodies that are passed on as they came are cleaned as well; see Clean
	MaxText int    // bytes of Markdown, 0: DefaultMaxText
}

// The values of Options.Links.
const (
	LinksInline = "inline" // [text](address)
	LinksEnd    = "end"    // [text][1], addresses in a numbered list at the end
	LinksNone   = "none"   // text alone
)

// DefaultMaxText bounds the Markdown of one document, in bytes. No page needs
// more than the 10 MiB its body may have; the cap only stops pages that grow
// while they are converted (repeated table cells, for instance).
const DefaultMaxText = 10 << 20

// Kind says from what a document was made.
const (
	KindHTML     = "html"
	KindMarkdown = "markdown"
	KindText     = "text"
	KindJSON     = "json"
	KindXML      = "xml"
	KindFeed     = "feed"
)

// Hollow says that a page has no content of its own although it came with
// success. The zero value is a page with content.
type Hollow string

// The ways a page can be hollow; the words are outcomes of the contract.
const (
	Shell     Hollow = "shell"     // needs JavaScript
	Login     Hollow = "login"     // asks for a login first
	Challenge Hollow = "challenge" // bot check or consent wall
	NotFound  Hollow = "notfound"  // 404, 410, or a page that says so under code 200
	Empty     Hollow = "empty"     // nothing at all
)

// The warning codes this package gives; the list is closed in the contract.
const (
	CodeTruncated   = "truncated"
	CodeHidden      = "hidden-text-removed"
	CodeInvisible   = "invisible-characters-removed"
	CodeMarks       = "imitated-marks"
	CodePrivateUse  = "private-use-characters"
	CodeMetaRefresh = "meta-refresh"
	CodeBoilerplate = "boilerplate-left-out"
	CodeCharset     = "charset-guessed"
	CodeDate        = "date-uncertain"
)

// Document is a page turned into Markdown. It can be written as JSON and read
// back without loss.
type Document struct {
	Title     string `json:"title,omitempty"`
	Byline    string `json:"byline,omitempty"`
	Markdown  string `json:"markdown"`
	Language  string `json:"language,omitempty"`  // BCP 47 tag, as declared or guessed from the script
	Published string `json:"published,omitempty"` // the day, YYYY-MM-DD, in the zone of the evidence; only with evidence in the page
	Site      string `json:"site,omitempty"`
	Canonical string `json:"canonical,omitempty"` // absolute URL
	Charset   string `json:"charset,omitempty"`
	Kind      string `json:"kind,omitempty"` // one of the Kind constants

	Outline []Section      `json:"outline,omitempty"`
	Anchors map[string]int `json:"anchors,omitempty"` // id of an element → byte offset into Markdown; bounded
	Links   []string       `json:"links,omitempty"`   // absolute, in order, no duplicates; bounded

	Native    bool      `json:"native,omitempty"` // the server itself sent Markdown
	Hollow    Hollow    `json:"hollow,omitempty"`
	Why       string    `json:"why,omitempty"`     // one sentence: what makes the page hollow
	Excerpt   string    `json:"excerpt,omitempty"` // first readable lines, cleaned
	Removed   []Removed `json:"removed,omitempty"`
	Truncated bool      `json:"truncated,omitempty"` // Markdown was cut at Options.MaxText
}

// Section is a heading and what stands under it.
type Section struct {
	ID    string   `json:"id"`    // the page's own anchor where it has one, else made from the title; unique
	Title string   `json:"title"` // plain text
	Level int      `json:"level"` // 1 to 6
	Start int      `json:"start"` // byte offset of the heading in Markdown
	End   int      `json:"end"`   // byte offset where the next section of the same or a higher level starts
	Path  []string `json:"path"`  // titles from the top down to this one
}

// Removed is one kind of thing that was taken out or found: a warning of the
// contract.
type Removed struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Count   int    `json:"count,omitempty"`
}

// pageFacts is what the search for hollow pages looks at.
type pageFacts struct {
	Title          string
	Text           string // visible text of the whole page, bounded
	TextChars      int    // characters of visible text, not bounded
	ScriptBytes    int    // bytes of scripts in the page, and one for each script elsewhere
	Links          int
	Forms          int
	PasswordInputs int
	NoscriptText   string   // text of all noscript elements, bounded
	RootIDs        []string // ids of empty application roots (root, app, __next …)
	MetaRefresh    string   // target of a meta refresh, "" for none
}

// Markdown turns a page into a document. A body that cannot be decoded is
// fault.Unreadable with cause charset; one that holds no text, with cause type.
func Markdown(in Input) (Document, error) {
	kind := kindOf(in.Type, in.Body, in.URL)
	if kind == KindHTML {
		return page(in)
	}
	return textual(in, kind)
}
