// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/dipper-web/dipper"
)

// redrawEvery is the least time between two states of the live line.
const redrawEvery = 100 * time.Millisecond

// progress tells on stderr how a call goes: live on a terminal, in plain lines
// otherwise. It is a dipper.Recorder.
type progress struct {
	w       io.Writer
	quiet   bool
	live    bool
	verbose bool

	mu    sync.Mutex
	drawn time.Time
	dirty bool // the live line holds something
}

func (p *Program) progress() *progress {
	return &progress{w: p.Stderr, quiet: p.flags.quiet, live: p.Terminals.Err && !p.flags.quiet, verbose: p.flags.verbose && !p.flags.quiet}
}

// begin tells which URL is asked.
func (s *progress) begin(url string) {
	if !s.quiet {
		s.line("Fetch(%s)", url)
	}
}

// Record draws an event.
func (s *progress) Record(e dipper.Event) {
	switch {
	case e.Kind == dipper.Noted:
		if !s.quiet {
			s.line("note: %s", e.Note)
		}
	case e.Kind == dipper.Ended && e.Stage != "" && s.verbose:
		s.line("  %-9s %6.1f ms  %s", e.Stage, float64(e.Took.Microseconds())/1000, e.Note)
	case e.Kind == dipper.Progress:
		s.redraw("  receiving, %s", size(e.Bytes))
	case e.Kind == dipper.Began && e.Stage != "":
		s.redraw("  %s …", doing(e.Stage))
	}
}

func doing(s dipper.Stage) string {
	switch s {
	case dipper.StageRetrieve:
		return "receiving"
	case dipper.StagePreflight:
		return "asking whether the page may be read"
	case dipper.StageConvert:
		return "converting"
	case dipper.StageExtract:
		return "reading"
	}
	return string(s)
}

// done tells the way of the bytes: received, Markdown, handed on.
func (s *progress) done(a *dipper.Answer) {
	if s.quiet {
		return
	}
	s.clear()
	got := "Received"
	if a.Source == "cache" || a.Source == "offline" {
		got = "Kept page"
		if a.Page != nil {
			got += ", " + age(time.Since(a.Page.FetchedAt)) + " old:"
		}
	} else if a.Source == "revalidated" {
		got = "Not changed:"
	}
	way := fmt.Sprintf("%s %s (%d %s)", got, size(a.Bytes), a.Code, a.CodeText)
	switch a.Outcome {
	case dipper.OK, dipper.Partial:
		if a.Page != nil {
			way += fmt.Sprintf(" → %s Markdown", size(int64(a.Page.Chars)))
		}
		if a.Mode == dipper.ModeAnswer || a.Mode == dipper.ModeExtract {
			way += fmt.Sprintf(" → %s %s", size(int64(len(a.Result))), map[dipper.Mode]string{dipper.ModeAnswer: "answer", dipper.ModeExtract: "passages"}[a.Mode])
		}
	default:
		way += " → " + string(a.Outcome)
	}
	s.line("%s", way)
	for _, w := range a.Warnings {
		s.line("note: %s", w.Message)
	}
	if a.Usage != nil && len(a.Usage.Calls) > 0 {
		c := a.Usage.Calls[0]
		s.line("%s read %d tokens and wrote %d: $%.4f", c.Model, c.InputTokens, c.OutputTokens, a.Usage.CostUSD)
	}
}

// age writes a duration roughly.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// line writes a line that stays.
func (s *progress) line(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	fmt.Fprintf(s.w, format+"\n", args...)
}

// redraw changes the live line.
func (s *progress) redraw(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live || time.Since(s.drawn) < redrawEvery {
		return
	}
	s.wipe()
	fmt.Fprintf(s.w, format, args...)
	s.drawn, s.dirty = time.Now(), true
}

// clear wipes the live line.
func (s *progress) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
}

func (s *progress) wipe() {
	if s.dirty {
		fmt.Fprint(s.w, "\r\x1b[2K")
		s.dirty = false
	}
}

func (s *progress) close() { s.clear() }
