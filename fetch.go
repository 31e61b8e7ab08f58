// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/convert"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
	"github.com/dipper-web/dipper/preflight"
	"github.com/dipper-web/dipper/retrieve"
)

// maxFinalURL bounds the canonical form of a URL: percent escapes make a text of
// 2,000 characters up to twelve times as long.
const maxFinalURL = 12 * check.MaxURL

// Fetch reads one page for one request. It ends in an Answer with an outcome,
// or in an *Error whose failure is of package fault.
func (c *Client) Fetch(ctx context.Context, req Request) (*Answer, error) {
	run := c.begin(req.URL)
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	ans, err := c.fetch(ctx, run, req)
	took := time.Since(run.began)
	run.record(Event{Kind: Ended, Start: run.began, Took: took, Fault: fault.From(err)})
	stages, last := run.so()
	if err != nil {
		return nil, run.fail(last, err)
	}
	ans.URL, ans.DurationMs, ans.Stages = req.URL, took.Milliseconds(), stages
	return ans, nil
}

// fetch is the order of things; read below is the part of it that touches the network.
func (c *Client) fetch(ctx context.Context, run *run, req Request) (*Answer, error) {
	req, target, err := c.check(run, req)
	if err != nil {
		return nil, err
	}
	visit := &visit{c: c, run: run, by: req.NamedBy, yes: req.Yes, seen: c.seen.of(req.Session)}
	verdict, err := visit.permit(ctx, target, false)
	if err != nil {
		return nil, err
	}
	visit.first = &verdict
	got, err := c.docs.Do(ctx, c.want(req, target), func(ctx context.Context, stale *reading) (cache.Filled[reading], error) {
		return c.read(ctx, visit, target, stale)
	})
	if err != nil {
		return nil, err
	}
	if got.Joined {
		run.record(Event{Kind: Joined, Start: time.Now()})
	}
	final, err := visit.kept(ctx, target, got)
	if err != nil {
		return nil, err
	}
	ans := c.describe(got, c.o.Permit.Trust(final), verdict)
	if told := got.Value.outcome(); told != OK && told != Partial {
		ans.tell(told, got.Value, target)
	} else if err := c.hand(ctx, run, req, ans, target.Fragment(), got.Value); err != nil {
		return nil, err
	}
	visit.showed(ctx, got.Value)
	return ans, nil
}

// read is exactly the part that touches the network and exactly the part that is kept.
func (c *Client) read(ctx context.Context, v *visit, target check.Target, stale *reading) (cache.Filled[reading], error) {
	none := cache.Filled[reading]{}
	wire, cancel := context.WithTimeout(ctx, c.readTime())
	defer cancel()
	if err := v.clear(wire, target); err != nil {
		return none, err
	}
	got, err := v.get(wire, target, stale)
	if err != nil {
		return none, err
	}
	if got.NotModified && stale != nil {
		same := stale.renewed(got)
		same.Person = v.by == permit.Person
		return cache.Filled[reading]{Value: same, Keep: same.keep(), Revalidated: true}, nil
	}
	next, err := c.convert(ctx, v.run, got)
	if err != nil {
		return none, err
	}
	next.Person = v.by == permit.Person
	return cache.Filled[reading]{Value: next, Keep: next.keep()}, v.run.fail(StageRetrieve, next.failure())
}

// check turns the request's URL into a target and settles its fields.
func (c *Client) check(run *run, req Request) (Request, check.Target, error) {
	done := run.enter(StageCheck)
	req, err := req.settle(c.HasModel())
	if err != nil {
		return req, check.Target{}, done(err, "")
	}
	target, err := c.o.Limits.Parse(req.URL)
	return req, target, done(err, target.Host())
}

// want says which kept page will do.
func (c *Client) want(req Request, target check.Target) cache.Want[reading] {
	return cache.Want[reading]{
		Key: c.o.Scope + " " + target.Key(), Refresh: req.Refresh, Offline: req.Offline,
		Party:  string(req.NamedBy) + " " + req.Session, // a refusal judged for one caller is not another's
		AnyAge: !req.Refresh && (req.Cursor != "" || req.Section != "" || req.Find != ""),
		Valid: func(r reading) bool {
			return r.usable() && (!r.Addr.IsValid() || c.o.Get.MayReach(r.Addr))
		},
	}
}

// readTime is the share of the whole time that reading may take: what came until
// then can still be handed out.
func (c *Client) readTime() time.Duration {
	return c.o.Timeout - min(c.o.Timeout/20, time.Second)
}

// convert makes a reading of a page.
func (c *Client) convert(ctx context.Context, run *run, p retrieve.Page) (reading, error) {
	next := newReading(p)
	if p.Moved != nil {
		return next, nil
	}
	done := run.enter(StageConvert)
	if mime, _, binary := convert.Binary(p.Type, p.Body); binary && p.Status < 400 && len(p.Body) > 0 {
		return next, done(next.save(ctx, c.o.Keep, mime), "saved "+mime)
	}
	leave, err := c.sit(ctx)
	if err != nil {
		return next, done(err, "")
	}
	defer leave()
	doc, err := convert.Markdown(next.input(convert.Options{}))
	if err != nil && p.Status >= 400 {
		err = nil // the status is what matters; its body was only to be quoted
	}
	next.Chars, next.Tokens = utf8.RuneCountInString(doc.Markdown), extract.Tokens(doc.Markdown)
	next.Doc, next.Links = doc, c.keys(doc.Links)
	return next, done(err, string(doc.Hollow))
}

// visit is what one caller brings along: consent is judged for each hop as for the first URL.
type visit struct {
	c    *Client
	run  *run
	by   permit.By
	yes  bool
	seen permit.Seen

	first *permit.Verdict // what let the first URL pass; a hop asks nobody the same again
}

// permit judges a target, and remembers what the answer must warn of.
func (v *visit) permit(ctx context.Context, t check.Target, hop bool) (permit.Verdict, error) {
	done := v.run.enter(StagePermit)
	verdict, err := v.c.o.Permit.Judge(ctx, permit.Request{Target: t, By: v.by, Seen: v.seen, Yes: v.yes, Hop: hop, Prior: v.first})
	return verdict, done(err, verdict.Reason)
}

// clear asks whether the target may be read now.
func (v *visit) clear(ctx context.Context, t check.Target) error {
	done := v.run.enter(StagePreflight)
	clearance, err := v.c.o.Robots.Check(ctx, preflight.Ask{Target: t, Person: v.by == permit.Person})
	return done(err, clearance.Reason)
}

// Pass lets retrieve follow a hop only if it may be read like the first URL.
func (v *visit) Pass(ctx context.Context, hop check.Target) error {
	if _, err := v.permit(ctx, hop, true); err != nil {
		return err
	}
	return v.clear(ctx, hop)
}

// get brings the page, asking only for news where a stale one is kept.
func (v *visit) get(ctx context.Context, t check.Target, stale *reading) (retrieve.Page, error) {
	done := v.run.enter(StageRetrieve)
	req := retrieve.Request{Target: t, Gate: v, Progress: func(n int64) {
		v.run.record(Event{Stage: StageRetrieve, Kind: Progress, Bytes: n, Start: time.Now()})
	}}
	if stale != nil {
		req.ETag, req.LastModified = stale.ETag, stale.LastModified
	}
	p, err := v.c.o.Get.Get(ctx, req)
	return p, done(err, p.StatusText)
}

// kept judges a page that was not just fetched by this caller as if it had been
// asked for: lists for its URL, and everything for a final URL of another place.
func (v *visit) kept(ctx context.Context, asked check.Target, got cache.Got[reading]) (check.Target, error) {
	// The page's own spelling of the URL may be longer than what a caller may write.
	final, err := check.Limits{MaxURL: maxFinalURL, Declared: v.c.o.Limits.Declared}.Parse(got.Value.Final)
	if err != nil {
		return final, err
	}
	if got.Source == "network" && !got.Joined {
		return final, nil
	}
	if final.Key() != asked.Key() {
		if _, err := v.permit(ctx, final, true); err != nil {
			return final, err
		}
	}
	checker := v.c.o.Standby
	if got.Value.Person && v.by != permit.Person {
		checker = v.c.o.Robots // what a person may read in spite of robots.txt, a model may not
	}
	for _, t := range []check.Target{asked, final} {
		ask := preflight.Ask{Target: t, Person: v.by == permit.Person, Kept: got.Source == cache.Offline}
		if _, err := checker.Check(ctx, ask); err != nil {
			return final, v.run.fail(StagePreflight, err)
		}
	}
	return final, nil
}
