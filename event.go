// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper

import (
	"slices"
	"sync"
	"time"

	"github.com/dipper-web/dipper/fault"
)

// Stage is a step of a run. Every stage has a room, a directory, of its name.
type Stage string

// The stages, in order.
const (
	StageCheck     Stage = "check"
	StagePermit    Stage = "permit"
	StagePreflight Stage = "preflight"
	StageRetrieve  Stage = "retrieve"
	StageConvert   Stage = "convert"
	StageExtract   Stage = "extract"
)

// Stages gives all stages in order.
func Stages() []Stage {
	return []Stage{StageCheck, StagePermit, StagePreflight, StageRetrieve, StageConvert, StageExtract}
}

// Event is one thing that happened in a run. Nothing depends on events: with
// all of them removed every result is the same.
type Event struct {
	Run   string        // id of the run
	Seq   int           // from 1, without gaps within a run
	Stage Stage         // empty for the run itself
	Kind  EventKind     // what happened
	URL   string        // as asked
	Start time.Time     // when the stage began
	Took  time.Duration // for Ended
	Bytes int64         // for Progress: bytes of the body so far
	Note  string        // a few words for a person
	Fault *fault.Error  // for Ended: why the stage failed
}

// EventKind says what an event tells of.
type EventKind string

// The kinds of events.
const (
	Began    EventKind = "began"    // a run or a stage begins
	Progress EventKind = "progress" // a stage has come further
	Ended    EventKind = "ended"    // a stage or a run ended; exactly one for each stage entered
	Joined   EventKind = "joined"   // the run joined another's flight instead of the inner stages
	Noted    EventKind = "noted"    // something beside the way, such as a store that failed
)

// Recorder receives events. It is called by several goroutines at once and
// must return quickly.
type Recorder interface{ Record(Event) }

// run is one call on its way through the corridor.
type run struct {
	id       string
	url      string
	began    time.Time
	recorder Recorder

	mu     sync.Mutex
	seq    int
	stages []StageRun
	last   Stage
}

// enter begins a stage. The returned function ends it: it takes the error and a
// note, records exactly one event, and hands the error on with stage and URL.
func (r *run) enter(s Stage) func(err error, note string) error {
	start := time.Now()
	r.mu.Lock()
	r.last = s
	r.mu.Unlock()
	r.record(Event{Stage: s, Kind: Began, Start: start})
	return func(err error, note string) error {
		took := time.Since(start)
		r.mu.Lock()
		r.stages = append(r.stages, StageRun{Stage: s, DurationMs: took.Milliseconds(), Note: note})
		r.mu.Unlock()
		r.record(Event{Stage: s, Kind: Ended, Start: start, Took: took, Note: note, Fault: fault.From(err)})
		return r.fail(s, err)
	}
}

// record stamps an event with the run and hands it to the recorder.
func (r *run) record(e Event) {
	if r.recorder == nil {
		return
	}
	r.mu.Lock()
	r.seq++
	e.Run, e.Seq, e.URL = r.id, r.seq, r.url
	r.mu.Unlock()
	r.recorder.Record(e)
}

// fail gives err the stage and URL of this run; nil stays nil. An error that has
// a stage keeps it: it may come from the flight of another run, which asked for
// the same page by another spelling of its URL.
func (r *run) fail(s Stage, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok {
		s = e.Stage
	}
	return &Error{Stage: s, URL: r.url, Fault: fault.From(err)}
}

// so gives the stages that ended so far and the stage entered last. A flight that
// others wait for may go on in the name of a run that has ended.
func (r *run) so() ([]StageRun, Stage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.stages), r.last
}
