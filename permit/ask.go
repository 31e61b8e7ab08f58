// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// put asks a person about a URL. Calls about one host wait for each other, and
// one that had to wait is weighed anew: an Always to the first may answer all.
func (b *Book) put(ctx context.Context, r Request, m matter) (matter, error) {
	if b.asker == nil {
		return unasked(m, r.Target, nil)
	}
	done, waited, err := b.turns.take(ctx, r.Target.Host())
	if err != nil {
		return matter{}, fault.From(err)
	}
	defer done()
	if waited {
		if m, err = b.weigh(ctx, r); err != nil || !m.asks {
			return m, err
		}
	}
	q := Question{Tool: check.Fetch, What: "reading " + r.Target.String(), URL: r.Target.String(), Host: r.Target.Host(),
		Rule: m.verdict.Rule, From: m.verdict.From, Reason: m.verdict.Reason}
	if m.lasting {
		q.Always = HostRule(r.Target)
	}
	yes, err := b.question(ctx, q)
	switch {
	case errors.Is(err, ErrNobody):
		return unasked(m, r.Target, err)
	case err != nil:
		return matter{}, err
	case !yes:
		return matter{}, fault.New(fault.Denied, fault.ByPerson, "a person was asked about %s and said no", r.Target)
	}
	m.verdict.Asked, m.verdict.Warning, m.verdict.Warnings = true, "", nil
	return m, nil
}

// question puts q and stores a lasting yes. Its errors are ErrNobody and faults.
func (b *Book) question(ctx context.Context, q Question) (bool, error) {
	if b.asker == nil {
		return false, ErrNobody
	}
	choice, err := b.asker.Ask(ctx, q)
	switch {
	case errors.Is(err, ErrNobody):
		return false, ErrNobody
	case err != nil && ctx.Err() != nil:
		return false, fault.From(ctx.Err())
	case err != nil:
		return false, fault.Wrap(err, fault.Unasked, fault.ByRule, "a person had to be asked, and the question could not be put")
	}
	if choice == Always && q.Always != "" {
		if err := b.memory.Remember(ctx, Remembered{Kind: Allow, Rule: q.Always, At: time.Now()}); err != nil {
			return false, broken(ctx, err, "the permission could not be remembered")
		}
	}
	return choice == Once || choice == Always, nil
}

// unasked ends a question that nobody can be asked: it passes with its warnings
// where it is soft, else it fails.
func unasked(m matter, t check.Target, cause error) (matter, error) {
	if m.soft {
		return m, nil
	}
	var e *fault.Error
	if m.cause == fault.ByProvenance {
		e = fault.Wrap(cause, fault.Unasked, m.cause,
			"%s was named neither by a person nor by anything this session has shown, and nobody can be asked here", t)
		e.Advice = "Ask the user about this URL, or start from one that a search or a page has shown."
		return matter{}, e
	}
	e = fault.Wrap(cause, fault.Unasked, m.cause, "%s wants a person asked about %s, and nobody can be asked here", named(m.verdict), t)
	if m.lasting {
		e.Advice = "Ask the user to allow this host (dipper rules allow \"" + HostRule(t) + "\"), then call again."
	} else {
		e.Advice = "Ask the user, who can fetch it on a terminal or with -y, or take the ask rule away."
	}
	return matter{}, e
}

// HostRule is the rule that covers exactly the host of t, as Always stores it.
func HostRule(t check.Target) string {
	host := t.Host()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return "domain:" + host
}

// turns lets one caller at a time have a name. The zero value is ready.
type turns struct {
	mu    sync.Mutex
	taken map[string]*turn
}

type turn struct {
	free  chan struct{} // holds one token while nobody has the name
	users int           // callers that have or want it
}

// take waits for a name. It gives the function that frees it again, and whether
// somebody else had it first.
func (s *turns) take(ctx context.Context, name string) (done func(), waited bool, err error) {
	s.mu.Lock()
	t := s.taken[name]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		if s.taken == nil {
			s.taken = map[string]*turn{}
		}
		s.taken[name] = t
	}
	t.users++
	waited = t.users > 1
	s.mu.Unlock()
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; s.leave(name, t) }, waited, nil
	case <-ctx.Done():
		s.leave(name, t)
		return nil, waited, ctx.Err()
	}
}

func (s *turns) leave(name string, t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(s.taken, name)
	}
}
