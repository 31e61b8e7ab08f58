// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper

import "time"

// Outcome is how a fetch ended when it did not fail.
type Outcome string

// The closed list of outcomes.
const (
	OK        Outcome = "ok"        // what was asked for, whole
	Partial   Outcome = "partial"   // cut by a cap, a deadline, a budget or a broken connection
	Moved     Outcome = "moved"     // a redirect to another host, scheme or port
	Saved     Outcome = "saved"     // a binary body, kept on disk
	Shell     Outcome = "shell"     // the page needs JavaScript
	Login     Outcome = "login"     // a login wall
	Challenge Outcome = "challenge" // a bot check or a consent wall
	NotFound  Outcome = "notfound"  // 404, 410, and pages that say so with a 200
	Empty     Outcome = "empty"     // a page without any content
)

// ExitCode is the exit code of a process whose call ended in this outcome.
func (o Outcome) ExitCode() int {
	switch o {
	case Shell, Login, Challenge, NotFound:
		return 5
	}
	return 0
}

// Answer is the whole output of a fetch. Offsets and sizes named chars are in
// Unicode code points, Bytes in bytes of the decoded body. Absent things are
// left out of the JSON form.
type Answer struct {
	URL        string  `json:"url"`
	FinalURL   string  `json:"finalUrl,omitempty"`
	Outcome    Outcome `json:"outcome"`
	Bytes      int64   `json:"bytes"`
	Code       int     `json:"code"`
	CodeText   string  `json:"codeText"`
	DurationMs int64   `json:"durationMs"`
	Result     string  `json:"result"`

	Mode    Mode   `json:"mode,omitempty"`
	Path    string `json:"path,omitempty"`    // native, helper, passages, document or bytes
	Trusted string `json:"trusted,omitempty"` // docs, open or empty
	Source  string `json:"source,omitempty"`  // network, cache, revalidated or offline

	Title       string `json:"title,omitempty"`
	ContentType string `json:"contentType,omitempty"`
	Charset     string `json:"charset,omitempty"`
	Language    string `json:"language,omitempty"`
	Published   string `json:"published,omitempty"`

	Page      *PageInfo  `json:"page,omitempty"`
	Shown     *Shown     `json:"shown,omitempty"`
	Citations []Citation `json:"citations,omitempty"`
	Warnings  []Warning  `json:"warnings,omitempty"`
	Moved     *Move      `json:"moved,omitempty"`
	Saved     *SavedFile `json:"saved,omitempty"`
	Usage     *Usage     `json:"usage,omitempty"`
	Stages    []StageRun `json:"stages,omitempty"`

	// Raw holds the body as it came, in mode raw.
	Raw []byte `json:"-"`
	// Outline holds the sections of the page, for callers that draw it.
	Outline []SectionInfo `json:"-"`
}

// PageInfo describes the whole page, whatever part of it was shown.
type PageInfo struct {
	ID        string    `json:"id"` // a stable handle: dipper://page/ID
	Chars     int       `json:"chars"`
	Tokens    int       `json:"tokens"`
	FetchedAt time.Time `json:"fetchedAt"`
	Sections  int       `json:"sections"`
}

// SectionInfo is one entry of a page's outline.
type SectionInfo struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Level int    `json:"level"`
}

// Shown describes the part of the page that the result holds.
type Shown struct {
	Chars     int    `json:"chars"`
	Tokens    int    `json:"tokens"`
	Truncated bool   `json:"truncated"`
	Next      string `json:"next,omitempty"` // the cursor that reads on
}

// Citation is a span of the page's Markdown that the result rests on.
type Citation struct {
	Quote   string `json:"quote"`
	Section string `json:"section,omitempty"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
}

// Warning tells what was done to the page, or what a reader should know of it.
// The codes are a closed list.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Count   int    `json:"count,omitempty"`
}

// Move is a redirect that was not followed.
type Move struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Status int    `json:"status"`
}

// SavedFile is a binary body kept on disk.
type SavedFile struct {
	Path  string `json:"path"`
	Type  string `json:"type"`
	Bytes int64  `json:"bytes"`
}

// Usage is what a call cost.
type Usage struct {
	Calls             []Call  `json:"calls,omitempty"`
	WebSearchRequests int     `json:"webSearchRequests"`
	WebFetchRequests  int     `json:"webFetchRequests"`
	CacheHits         int     `json:"cacheHits"`
	CostUSD           float64 `json:"costUSD"`
}

// Call is one call of a model.
type Call struct {
	Purpose      string  `json:"purpose"` // reader, search or main
	Model        string  `json:"model"`
	InputTokens  int     `json:"inputTokens"`
	OutputTokens int     `json:"outputTokens"`
	CachedTokens int     `json:"cachedTokens"`
	CostUSD      float64 `json:"costUSD"`
}

// StageRun is one stage of a run, as it went.
type StageRun struct {
	Stage      Stage  `json:"stage"`
	DurationMs int64  `json:"durationMs"`
	Note       string `json:"note,omitempty"`
}
