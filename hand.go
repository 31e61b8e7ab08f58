// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/convert"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
)

const (
	// fastPathChars is the length up to which a trusted Markdown page may be
	// handed on without a reader, as the reference tool does.
	fastPathChars = 100_000
	// fastPathTokens bounds the fast path where the caller named no budget, so
	// that a page cannot flood the conversation that asked a small question.
	fastPathTokens = 20_000
)

// describe starts the answer with what is known of the page.
func (c *Client) describe(got cache.Got[reading], trust string, verdict permit.Verdict) *Answer {
	r := got.Value
	ans := &Answer{
		FinalURL: r.Final, Bytes: int64(len(r.Body)), Code: r.Status, CodeText: r.StatusText,
		Trusted: trust, Source: got.Source, Title: r.Doc.Title, ContentType: mediaType(r.Type), Charset: r.Doc.Charset,
		Language: r.Doc.Language, Published: day(r.Doc.Published), Usage: &Usage{},
	}
	switch got.Source {
	case "cache", "offline":
		ans.Usage.CacheHits = 1
	default:
		ans.Usage.WebFetchRequests = 1
	}
	if r.Doc.Markdown != "" {
		ans.Page = &PageInfo{ID: pageID(r.Final), Chars: r.Chars, Tokens: r.Tokens,
			FetchedAt: got.StoredAt, Sections: len(r.Doc.Outline)}
		if ans.Page.FetchedAt.IsZero() {
			ans.Page.FetchedAt = r.Fetched
		}
	}
	for _, code := range verdict.Warnings {
		ans.warn(code, consentWarnings[code], 0)
	}
	if got.Source == "offline" {
		ans.Usage.WebFetchRequests = 0
	}
	return ans
}

// consentWarnings says what the codes of permit mean for this call.
var consentWarnings = map[string]string{
	permit.AllowedUnasked: "no rule names this host and nobody could be asked, so it was read (permissions.default: auto)",
	permit.Unseen:         "the URL was named neither by a person nor by anything this session has shown",
}

// warn adds a warning.
func (a *Answer) warn(code, message string, count int) {
	a.Warnings = append(a.Warnings, Warning{Code: code, Message: message, Count: count})
}

// hand gives the page to the reader that the mode asks for.
func (c *Client) hand(ctx context.Context, run *run, req Request, ans *Answer, fragment string, r reading) error {
	ans.Mode = req.Mode
	if err := c.mayLeave(req.Mode, ans.Trusted, r.Final); err != nil {
		return err
	}
	if req.Mode == ModeRaw {
		return c.raw(req, ans, r)
	}
	doc, err := r.document(req)
	if err != nil {
		return err
	}
	ans.about(doc, r)
	switch {
	case req.Mode == ModeMarkdown:
		return ans.show(req, doc, fragment)
	case fastPath(ans.Trusted, doc, req):
		ans.Path = "native"
		ans.Result = doc.Markdown
		ans.shown(doc.Markdown, ans.Outcome == Partial, "")
		return nil
	}
	return c.extract(ctx, run, req, ans, doc, fragment, r)
}

// about tells what conversion did to the page, and whether the page is whole.
func (a *Answer) about(doc convert.Document, r reading) {
	a.Outcome = OK
	for _, s := range doc.Outline {
		a.Outline = append(a.Outline, SectionInfo{ID: s.ID, Title: s.Title, Level: s.Level})
	}
	for _, w := range doc.Removed {
		a.warn(w.Code, w.Message, w.Count)
	}
	if r.Cut != "" || doc.Truncated {
		a.Outcome = Partial
		a.warn("truncated", cutReason(r.Cut), 0)
	}
}

// mayLeave holds policy.restricted: what of a restricted page may leave.
func (c *Client) mayLeave(mode Mode, trust, url string) error {
	whole := mode == ModeMarkdown || mode == ModeRaw
	if trust != "" || c.o.Restricted == "any" || !whole && (c.o.Restricted == "passages" || mode == ModeAnswer) {
		return nil
	}
	return fault.New(fault.Denied, fault.ByRule, "policy.restricted is %s, so %s may not be handed out in mode %s", c.o.Restricted, url, mode)
}

// fastPath says whether the document itself is the answer: a trusted site sent
// Markdown that fits. Who names a section wants that, not the document.
func fastPath(trust string, doc convert.Document, req Request) bool {
	limit := req.Budget
	if !req.budgeted {
		limit = fastPathTokens
	}
	return trust == "docs" && doc.Native && req.Section == "" && utf8.RuneCountInString(doc.Markdown) < fastPathChars && extract.Tokens(doc.Markdown) <= limit
}

// raw hands the body on: as bytes, and as text where it is text.
func (c *Client) raw(req Request, ans *Answer, r reading) error {
	text, charset, err := convert.Text(r.input(convert.Options{}))
	if err != nil {
		return err
	}
	ans.about(convert.Document{}, r)
	ans.Raw, ans.Path, ans.Charset = r.Body, "bytes", charset
	if req.ForModel {
		clean, removed := convert.Clean(text)
		text = clean
		for _, w := range removed {
			ans.warn(w.Code, w.Message, w.Count)
		}
	}
	return ans.show(req, convert.Document{Markdown: text}, "")
}

// extract asks a reader: the helper model, or the ranking of passages.
func (c *Client) extract(ctx context.Context, run *run, req Request, ans *Answer, doc convert.Document, fragment string, r reading) error {
	done := run.enter(StageExtract)
	ask, base, err := asked(req, doc, fragment, r.Final)
	if err != nil {
		return done(err, "")
	}
	ask.Trusted, ask.MaxQuote = ans.Trusted != "", c.o.MaxQuote
	reply, err := c.reply(ctx, req, ans, ask, r)
	if err == nil && reply.Path == extract.PathPassages {
		err = c.mayLeave(ModeExtract, ans.Trusted, r.Final) // passages may have come in the helper's place
	}
	if err := done(err, reply.Path); err != nil {
		return err
	}
	ans.Path, ans.Result = reply.Path, reply.Text
	for _, w := range reply.Warnings {
		ans.warn(w.Code, w.Message, w.Count)
	}
	for _, q := range reply.Citations {
		q.Start, q.End = q.Start+base, q.End+base
		ans.Citations = append(ans.Citations, cite(doc.Markdown, q))
	}
	if reply.Partial {
		ans.Outcome = Partial
	}
	ans.Shown = &Shown{Chars: reply.ShownChars, Tokens: reply.ShownTokens, Truncated: reply.Partial}
	for _, call := range reply.Calls {
		ans.Usage.Calls = append(ans.Usage.Calls, Call{Purpose: call.Purpose, Model: call.Model, InputTokens: call.Usage.In,
			OutputTokens: call.Usage.Out, CachedTokens: call.Usage.Cached, CostUSD: call.CostUSD})
		ans.Usage.CostUSD += call.CostUSD
	}
	return nil
}

// asked puts the request to the document: to one section of it where the request
// names one, which then starts at base.
func asked(req Request, doc convert.Document, fragment, url string) (ask extract.Ask, base int, err error) {
	ask = extract.Ask{Doc: readable(doc, url), Prompt: req.Prompt, Budget: req.Budget}
	if req.Section == "" {
		ask.Section = sectionAsked(doc, fragment)
		return ask, 0, nil
	}
	s, ok := extract.Locate(ask.Doc, doc.Anchors, req.Section)
	if !ok {
		return ask, 0, noSection(req.Section, doc)
	}
	ask.Doc = extract.Narrow(ask.Doc, s)
	return ask, s.Start, nil
}

// reply asks the helper model where it may be asked, and keeps what it says.
func (c *Client) reply(ctx context.Context, req Request, ans *Answer, ask extract.Ask, r reading) (extract.Reply, error) {
	h := c.o.Helper
	if req.Mode == ModeExtract || !ans.helperMay(c.o, r.Private) {
		return extract.Passages(ask), nil
	}
	patience := modelTime(ctx, c.o.ModelTimeout)
	reader := &extract.Reader{Model: h.Model, Timeout: patience, Prices: c.o.Prices, MaxQuote: c.o.MaxQuote}
	want := cache.Want[extract.Reply]{Key: extract.ReplyKey(ask, digest(ask.Doc.Markdown), h.Model.Name())}
	own, cancel := context.WithTimeout(ctx, patience) // the reply may be another caller's, who can wait longer
	defer cancel()
	got, err := c.replies.Do(own, want, func(ctx context.Context, _ *extract.Reply) (cache.Filled[extract.Reply], error) {
		reply, err := reader.Answer(ctx, ask)
		return cache.Filled[extract.Reply]{Value: reply, Keep: reply.Path == extract.PathHelper && !r.NoStore}, err
	})
	if err != nil && own.Err() != nil && ctx.Err() == nil {
		return late(ask), nil
	}
	if err != nil && h.Inferred && ctx.Err() == nil {
		ans.warn("model-unavailable", "the helper model failed, so passages of the page come back instead: "+fault.From(err).Detail, 0)
		ans.Mode = ModeExtract
		if !req.budgeted {
			ask.Budget = ExtractBudget
		}
		return extract.Passages(ask), nil
	}
	if got.Source == "cache" || got.Joined {
		got.Value.Calls = nil // paid for before
	}
	return got.Value, err
}

// late is what comes back when the helper model is too slow.
func late(ask extract.Ask) extract.Reply {
	reply := extract.Passages(ask)
	reply.Partial = true
	reply.Warnings = append(reply.Warnings, extract.Warning{Code: extract.WarnModelTimeout,
		Message: "the helper model took too long; these are the passages of the page that fit the prompt best"})
	return reply
}

// helperMay says whether this page may go to the helper model.
func (a *Answer) helperMay(o Options, private bool) bool {
	switch {
	case a.Trusted == "" && o.Restricted == "passages":
		return false
	case private && o.PrivatePages == "local" && !o.Helper.Local:
		a.warn("model-unavailable", "the page is private and the helper model is not, so passages come back instead (model.privatePages)", 0)
		return false
	}
	return true
}

// modelTime leaves the reader what is left of the whole time, less a moment to
// hand out passages when the model is too slow.
func modelTime(ctx context.Context, most time.Duration) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		return max(min(most, left-min(left/10, time.Second)), time.Millisecond)
	}
	return most
}

// readable is the document as a reader sees it.
func readable(d convert.Document, url string) extract.Doc {
	doc := extract.Doc{URL: url, Title: d.Title, Language: d.Language, Published: d.Published, Kind: d.Kind, Markdown: d.Markdown}
	for _, s := range d.Outline {
		doc.Sections = append(doc.Sections, extract.Section{ID: s.ID, Title: s.Title, Level: s.Level, Start: s.Start, End: s.End, Path: s.Path})
	}
	return doc
}

// cite turns a reader's byte offsets into characters.
func cite(markdown string, q extract.Citation) Citation {
	start := utf8.RuneCountInString(markdown[:q.Start])
	return Citation{Quote: q.Quote, Section: q.Section, Start: start, End: start + utf8.RuneCountInString(markdown[q.Start:q.End])}
}

// day is the date of an RFC 3339 time where it was written.
func day(date string) string { return date[:min(len(date), len("2006-01-02"))] }

// mediaType is a Content-Type without its parameters.
func mediaType(contentType string) string {
	mt, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(mt))
}

// cutReason says why a page is not whole.
func cutReason(cut string) string {
	switch cut {
	case "size":
		return "the page is larger than the cap; its beginning is here"
	case "idle", "total":
		return "the site stopped sending in time; what came until then is here"
	case "reset":
		return "the connection broke; what came until then is here"
	}
	return "the page is too long to be shown whole; its beginning is here"
}
