// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dipper-web/dipper"
)

const (
	// redrawEvery is the time between two states of the live line: fast enough to
	// look alive, slow enough for a remote terminal.
	redrawEvery = 100 * time.Millisecond
	// quietStart is how long a call goes without a live line: most are done before.
	quietStart = 300 * time.Millisecond
	// usualWidth is the width of a terminal that does not tell its own.
	usualWidth = 80
)

// progress tells on stderr how a call goes: live on a terminal, in plain lines
// otherwise. It is a dipper.Recorder.
type progress struct {
	w       io.Writer
	quiet   bool
	verbose bool
	width   func() int

	mu    sync.Mutex
	doing string    // what the live line tells, empty: nothing
	began time.Time // of the call
	held  bool      // a question stands on the terminal
	dirty bool      // the live line is drawn
	stop  chan struct{}
	ended chan struct{}
}

// progress starts the live line where there can be one; close ends it.
func (p *Program) progress() *progress {
	s := &progress{w: p.Stderr, quiet: p.flags.quiet, verbose: p.flags.verbose && !p.flags.quiet, width: p.Terminals.Width}
	if dumb := p.getenv("TERM"); p.Terminals.Err && !s.quiet && dumb != "dumb" {
		s.stop, s.ended = make(chan struct{}), make(chan struct{})
		go s.live()
	}
	return s
}

// close wipes the live line and ends it.
func (s *progress) close() {
	if s.stop != nil {
		close(s.stop)
		<-s.ended
		s.stop = nil
	}
	s.hold(true)
}

func (s *progress) live() {
	defer close(s.ended)
	t := time.NewTicker(redrawEvery)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case now := <-t.C:
			s.draw(now)
		}
	}
}

// draw shows what is being done, and for how long.
func (s *progress) draw(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held || s.doing == "" || now.Sub(s.began) < quietStart {
		return
	}
	line := fmt.Sprintf("  %s · %.1f s", s.doing, now.Sub(s.began).Seconds())
	columns := usualWidth
	if s.width != nil && s.width() > 0 {
		columns = s.width()
	}
	s.wipe()
	fmt.Fprint(s.w, cutLine(line, columns-1)) // a full line would wrap, and could not be wiped
	s.dirty = true
}

// cutLine shortens a line to a number of columns.
func cutLine(s string, columns int) string {
	if columns < 1 {
		return ""
	}
	if utf8.RuneCountInString(s) <= columns {
		return s
	}
	return string([]rune(s)[:columns-1]) + "…"
}

// begin tells which URL is asked.
func (s *progress) begin(url string) {
	s.mu.Lock()
	s.began, s.doing = time.Now(), "checking"
	s.mu.Unlock()
	s.line("Fetch(%s)", withoutPassword(url))
}

// Record draws an event.
func (s *progress) Record(e dipper.Event) {
	switch {
	case e.Kind == dipper.Noted:
		s.line("note: %s", e.Note)
	case e.Kind == dipper.Ended && e.Stage != "" && s.verbose:
		s.line("  %-9s %6.1f ms  %s", e.Stage, float64(e.Took.Microseconds())/1000, e.Note)
	case e.Kind == dipper.Progress:
		s.set("receiving, " + size(e.Bytes))
	case e.Kind == dipper.Began && e.Stage != "":
		s.set(doing(e.Stage))
	}
}

func doing(s dipper.Stage) string {
	switch s {
	case dipper.StageCheck:
		return "checking"
	case dipper.StagePermit:
		return "asking the rules"
	case dipper.StagePreflight:
		return "asking whether the page may be read"
	case dipper.StageRetrieve:
		return "waiting for the site"
	case dipper.StageConvert:
		return "converting"
	case dipper.StageExtract:
		return "reading"
	}
	return string(s)
}

func (s *progress) set(doing string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing = doing
}

// hold wipes the live line and keeps it away, for a question, until hold(false).
func (s *progress) hold(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	s.held = on
}

// line writes a line that stays.
func (s *progress) line(format string, args ...any) {
	if s.quiet {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	fmt.Fprintln(s.w, plain(fmt.Sprintf(format, args...)))
}

func (s *progress) wipe() {
	if s.dirty {
		fmt.Fprint(s.w, "\r\x1b[2K")
		s.dirty = false
	}
}
