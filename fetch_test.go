// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/webtest"
	"github.com/dipper-web/dipper/permit"
	"github.com/dipper-web/dipper/preflight"
	"github.com/dipper-web/dipper/retrieve"
)

// TestStories plays every story of testdata/fetch twice, the second time without
// a Recorder: nothing may depend on events.
func TestStories(t *testing.T) {
	paths, err := filepath.Glob("testdata/fetch/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no stories", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := webtest.LoadStory(t, path)
			heard := play(t, s, true)
			if t.Failed() {
				return
			}
			for i, got := range play(t, s, false) {
				if got != heard[i] {
					t.Errorf("step %d differs without a Recorder:\n%s\n%s", i+1, heard[i], got)
				}
			}
		})
	}
}

// play plays a story and gives what is the same at every showing of its answers.
func play(t *testing.T, s webtest.Story, listen bool) []string {
	t.Helper()
	h := newHouse(t)
	if !listen {
		h.opts.Recorder = nil
	}
	told := &stage{house: h, listen: listen}
	var all []string
	for i, step := range s.Steps {
		ok := t.Run(fmt.Sprintf("step %d", i+1), func(t *testing.T) {
			h.t = t
			all = append(all, told.step(t, step))
		})
		h.t = t
		if !ok {
			t.FailNow()
		}
	}
	return all
}

// known are the names that a want may use: a misspelt one would never fail.
var known = slices.Concat(answerNames(), strings.Fields(failureNames), []string{"asked", "calls", "ended"})

// stage is where a story is played.
type stage struct {
	*house
	listen bool
	set    []webtest.Line
	says   string
	next   string // the cursor of the last answer
}

// scene is what a want looks at: the answer or the failure, and what happened beside it.
type scene struct {
	*dipper.Answer
	Error *dipper.FailureDetail `json:"error,omitempty"`
	Asked []string              `json:"asked,omitempty"` // requests that reached the web
	Calls int                   `json:"calls"`           // calls of the helper model
	Ended []string              `json:"ended,omitempty"` // stages, from the events
}

func (s *stage) step(t *testing.T, step webtest.Step) string {
	for url, p := range step.Pages {
		s.web.Handle(url, p)
	}
	if step.Settings != nil {
		s.set = step.Settings
	}
	if step.Helper != nil {
		s.says = strings.TrimSpace(*step.Helper)
	}
	if s.Client == nil || step.Settings != nil || step.Helper != nil || len(step.Pages) > 0 {
		s.reopen(t)
	}
	req, err := readRequest(step.Fetch, s.next)
	s.must(err)
	ans, err := s.Fetch(t.Context(), req)
	now := scene{Answer: ans, Asked: s.web.Asked()}
	if s.model != nil {
		now.Calls = len(s.model.Prompts())
	}
	if err != nil {
		f := dipper.FailureOf(err, "")
		now.Error = &f.Error
		if f.URL != req.URL {
			t.Errorf("the failure is of %q, asked was %q", f.URL, req.URL)
		}
	}
	s.next = ""
	if ans != nil && ans.Shown != nil {
		s.next = ans.Shown.Next
	}
	if s.listen {
		s.listened(t, &now)
		for _, w := range step.Want {
			if !slices.Contains(known, w.Key) {
				t.Errorf("an answer has no %s", w.Key)
			}
		}
		webtest.Check(t, now, step.Want)
	}
	if want := step.Result; want != nil && ans != nil && strings.TrimSpace(ans.Result) != strings.TrimSpace(*want) {
		t.Errorf("result:\n%s\nwant:\n%s", ans.Result, *want)
	}
	return s.lasting(t, now)
}

// listened checks the events of the step and notes the stages that they tell of.
func (s *stage) listened(t *testing.T, now *scene) {
	events := s.ears.take()
	checkRun(t, events)
	now.Ended = ended(events)
	if now.Answer == nil {
		return
	}
	var stages []string
	for _, r := range now.Stages {
		stages = append(stages, string(r.Stage))
	}
	if strings.Join(stages, " ") != strings.Join(now.Ended, " ") {
		t.Errorf("the answer has the stages %v, the events %v", stages, now.Ended)
	}
}

// lasting is a scene without what is different each time: times, names of
// folders, and what tells of events.
func (s *stage) lasting(t *testing.T, now scene) string {
	now.Ended = nil
	if e := now.Error; e != nil && e.Cause == fault.BySelf { // says how much time is left
		e.Message, e.RetryAfterMs = "", 0
	}
	if now.Answer != nil {
		a := *now.Answer
		a.DurationMs, a.Stages = 0, nil
		if a.Page != nil {
			p := *a.Page
			p.FetchedAt = time.Time{}
			a.Page = &p
		}
		now.Answer = &a
	}
	data, err := json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), s.saved, "FOLDER")
}

// reopen opens the client anew, with the library that is there.
func (s *stage) reopen(t *testing.T) {
	t.Helper()
	set := settings{robots: preflight.Ignore, here: true}
	for _, l := range s.set {
		if err := set.line(l); err != nil {
			t.Fatalf("%s: %s: %v", l.Key, l.Value, err)
		}
	}
	s.must(set.apply(s.house, s.says))
	s.open()
}

// settings are those of a story; see line.
type settings struct {
	permit                             permit.Options
	trusted, block                     []string
	robots, restricted, private        string
	helper                             string
	inferred, here, closed, homeless   bool
	fresh, timeout, modelTimeout, idle time.Duration
}

// line reads one setting.
func (s *settings) line(l webtest.Line) (err error) {
	texts := map[string]*string{"default": &s.permit.Default, "provenance": &s.permit.Provenance, "robots": &s.robots,
		"restricted": &s.restricted, "private-pages": &s.private, "helper": &s.helper}
	lists := map[string]*[]string{"trusted": &s.trusted, "block": &s.block}
	times := map[string]*time.Duration{"fresh": &s.fresh, "timeout": &s.timeout, "model-timeout": &s.modelTimeout, "idle-timeout": &s.idle}
	rules := map[string]*[]permit.Sourced{"allow": &s.permit.Allow, "ask": &s.permit.Ask, "deny": &s.permit.Deny}
	switch {
	case texts[l.Key] != nil:
		*texts[l.Key] = l.Value
	case lists[l.Key] != nil:
		*lists[l.Key] = append(*lists[l.Key], l.Value)
	case times[l.Key] != nil:
		*times[l.Key], err = time.ParseDuration(l.Value)
	case rules[l.Key] != nil:
		var r check.Rule
		r, err = check.ParseRule(l.Value)
		*rules[l.Key] = append(*rules[l.Key], permit.Sourced{Rule: r, From: "config.yaml"})
	case l.Key == "helper-from":
		s.inferred = l.Value == "environment"
	case l.Key == "helper-at":
		s.here = l.Value == "here"
	case l.Key == "loopback":
		s.closed = l.Value == "closed"
	case l.Key == "folder":
		s.homeless = l.Value == "none"
	default:
		err = fmt.Errorf("no such setting")
	}
	return err
}

// apply sets a house up.
func (s *settings) apply(h *house, says string) (err error) {
	h.rules, h.guard.Allow = s.permit, loopback
	if s.closed {
		h.guard.Allow = nil
	}
	if h.rules.Provenance == "" {
		h.rules.Provenance = permit.ProvenanceOff
	}
	if h.rules.Trusted, err = permit.NewTrusted(s.trusted, nil, true); err != nil {
		return err
	}
	h.opts.Standby, err = preflight.NewList(s.block, func(string) ([]byte, error) { return nil, os.ErrNotExist })
	if err != nil {
		return err
	}
	h.opts.Robots = preflight.All(h.opts.Standby, preflight.NewRobots(preflight.RobotsOptions{Mode: s.robots, Fetch: h.robots}))
	h.opts.Restricted, h.opts.PrivatePages, h.opts.Fresh = s.restricted, s.private, s.fresh
	h.opts.Timeout, h.opts.ModelTimeout, h.rooms.Timeouts.Idle = s.timeout, s.modelTimeout, s.idle
	if h.opts.Keep = folder(h.saved); s.homeless {
		h.opts.Keep = nil
	}
	h.model, h.opts.Helper = nil, nil
	switch {
	case s.helper == "fails":
		h.model = webtest.Fails()
	case s.helper == "hangs":
		h.model = webtest.Hangs()
	case says != "":
		h.model = webtest.Says(says)
	}
	if h.model != nil {
		h.opts.Helper = &dipper.Helper{Model: h.model, Inferred: s.inferred, Local: s.here}
	}
	return nil
}

// robots reads a robots.txt as the program does.
func (h *house) robots(ctx context.Context, t check.Target) (preflight.File, error) {
	p, err := h.wire.Get(ctx, retrieve.Request{Target: t, MaxBody: preflight.MaxRobots})
	return preflight.File{Status: p.Status, Body: p.Body}, err
}

// readRequest reads the request of a step. A person names the URL unless it says
// "by: model"; "cursor: next" is the cursor of the answer before.
func readRequest(lines []webtest.Line, next string) (dipper.Request, error) {
	r := dipper.Request{NamedBy: permit.Person}
	texts := map[string]*string{"url": &r.URL, "prompt": &r.Prompt, "mode": (*string)(&r.Mode), "section": &r.Section, "cursor": &r.Cursor,
		"find": &r.Find, "links": &r.Links, "by": (*string)(&r.NamedBy), "session": &r.Session}
	flags := map[string]*bool{"full": &r.Full, "images": &r.Images, "refresh": &r.Refresh, "offline": &r.Offline, "for-model": &r.ForModel, "yes": &r.Yes}
	for _, l := range lines {
		switch {
		case texts[l.Key] != nil:
			*texts[l.Key] = l.Value
		case flags[l.Key] != nil:
			*flags[l.Key] = l.Value == "yes"
		case l.Key == "budget":
			n, err := strconv.Atoi(l.Value)
			if err != nil {
				return r, err
			}
			r.Budget = n
		default:
			return r, fmt.Errorf("no such field: %s", l.Key)
		}
	}
	if r.Cursor == "next" {
		if next == "" {
			return r, fmt.Errorf("the answer before has no cursor")
		}
		r.Cursor = next
	}
	return r, nil
}
