// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/dipper-web/dipper/fault"
)

// errOver is a body that passes its cap in a form that cannot be cut any better.
var errOver = errors.New("the body passes the cap")

// plan is how much of a body is wanted and what happens to the rest.
type plan struct {
	max    int64
	refuse bool // an announced length above max is a failure
}

// planBody chooses by what is asked and what came: a page, a small file with a cap of
// its own, or the first lines of an error.
func (h *HTTP) planBody(r Request, status int) plan {
	switch {
	case status >= 300 || status < 200:
		return plan{max: min(errorBodyLimit, h.limits.Body)}
	case r.MaxBody > 0:
		return plan{max: min(r.MaxBody, h.limits.Body)}
	}
	return plan{max: h.limits.Body, refuse: true}
}

// readBody fills page.Body with the decoded body, up to the cap. What came of a body
// that broke off, or grew past the cap, is kept, and page.Cut says why it ends there.
func (h *HTTP) readBody(ctx context.Context, r Request, p place, a *answer, w *watch, page *Page) error {
	todo := h.planBody(r, a.status)
	if todo.refuse && a.length > todo.max {
		return fault.New(fault.TooLarge, "", "%s announces a body of %d bytes; the cap is %d", origin(p.target), a.length, todo.max)
	}
	names, err := codings(a.header, h.limits.Layers)
	if err != nil {
		return fault.Wrap(err, fault.Unreadable, fault.Encoding, "the body from %s cannot be decoded: %v", origin(p.target), err)
	}
	w.phase(h.times.Idle, errIdle)
	raw := &rawBody{r: a.body, watch: w, wire: a.wire, left: h.limits.Body + encodedSlack, progress: r.Progress}
	text := decode(raw, names, h.limits.Body+encodedSlack)
	defer text.close()
	g := gather{max: todo.max, hint: a.length, large: h.large, watch: w}
	defer g.leave()
	err = reason(g.from(text), raw, text)
	page.Body, page.WireBytes = g.buf, raw.n
	a.whole = raw.whole
	return h.ended(ctx, p, a, w, raw, err, page)
}

// reason finds what ended a body behind what the decoders say about it.
func reason(err error, raw *rawBody, text *stack) error {
	switch {
	case errors.Is(err, errFull):
		return err
	case err == nil:
		return raw.err // a decoder may take a break between two frames for the end
	case raw.over || text.over():
		return errOver
	case text.short():
		return errShort
	}
	return err
}

// ended says what the end of a body means.
func (h *HTTP) ended(ctx context.Context, p place, a *answer, w *watch, raw *rawBody, err error, page *Page) error {
	came := len(page.Body) > 0
	switch {
	case err == nil:
		a.drain(w)
		return nil
	case errors.Is(err, errFull), errors.Is(err, errOver) && came:
		page.Cut = "size"
		return nil
	case errors.Is(err, errOver):
		return fault.New(fault.TooLarge, "", "the encoded body from %s passes the cap and holds no text", origin(p.target))
	case errors.Is(err, errShort) && a.untilClose && came:
		page.Cut = "reset" // the connection was closed before the encoded text came to its end
		return nil
	case errors.Is(err, errShort) && a.untilClose:
		return h.failed(ctx, p, fault.Wrap(err, fault.Unreachable, fault.Reset, "the encoded body from %s breaks off before any text came", origin(p.target)))
	case raw.err == nil && context.Cause(w.ctx) == nil:
		return fault.Wrap(err, fault.Unreadable, fault.Encoding, "the encoded body from %s is broken", origin(p.target))
	}
	if cause := context.Cause(w.ctx); cause != nil {
		err = cause
	} else if a.wire.loud.Load() {
		err = errNoise
	} else {
		err = raw.err
	}
	e := h.explain(ctx, p, err)
	page.Cut = h.cutBy(e)
	if came && page.Cut != "" {
		return nil
	}
	return h.failed(ctx, p, e)
}

// rawBody is the body before decoding: counted, watched, and bounded.
type rawBody struct {
	r        io.Reader
	watch    *watch
	wire     *wire
	n, left  int64
	progress func(int64)
	err      error // why the wire gave no more, nil for the end
	whole    bool  // the end was seen
	over     bool  // the cap was reached
}

func (b *rawBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.over = true
		return 0, errOver
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	if n > 0 {
		b.n += int64(n)
		b.left -= int64(n)
		b.wire.text.Add(int64(n))
		b.watch.touch()
		if b.progress != nil {
			b.progress(b.n)
		}
	}
	switch err {
	case nil:
	case io.EOF:
		b.whole = true
	default:
		b.err = err
	}
	return n, err
}

// errFull is a text that goes on beyond the cap.
var errFull = errors.New("the text passes the cap")

// gather collects a text up to max bytes.
type gather struct {
	max   int64
	hint  int64 // announced length, a first guess of the size
	large chan struct{}
	held  bool // one of large is ours
	watch *watch
	buf   []byte
}

// from reads to the end, or to one byte more than max, which is how a text that ends
// exactly there is told from one that goes on.
func (g *gather) from(r io.Reader) error {
	err := g.read(r)
	if len(g.buf) < cap(g.buf)/2 {
		g.buf = slices.Clone(g.buf) // the page is kept for long, its spare room is not
	}
	return err
}

func (g *gather) read(r io.Reader) error {
	first := g.hint + 1
	if first <= 1 {
		first = firstRead
	}
	g.buf = make([]byte, 0, min(first, smallBody, g.max+1))
	for empty := 0; empty < 100; {
		if len(g.buf) == cap(g.buf) {
			if err := g.grow(); err != nil {
				return err
			}
		}
		n, err := r.Read(g.buf[len(g.buf):cap(g.buf)])
		g.buf = g.buf[:len(g.buf)+n]
		switch {
		case int64(len(g.buf)) > g.max:
			g.buf = g.buf[:g.max]
			return errFull
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case n == 0:
			empty++
		default:
			empty = 0
		}
	}
	return io.ErrNoProgress
}

// grow makes room: twofold up to a small body, then, when it has its turn, at once up
// to the cap. Doubling there would leave as much garbage as text.
func (g *gather) grow() error {
	size := min(int64(cap(g.buf))*2, g.max+1)
	if size > smallBody {
		size = g.max + 1
	}
	if size > smallBody && !g.held {
		g.watch.rest()
		if err := acquire(g.watch.ctx, g.large); err != nil {
			return err
		}
		g.held = true
		g.watch.touch()
	}
	bigger := make([]byte, len(g.buf), size)
	copy(bigger, g.buf)
	g.buf = bigger
	return nil
}

func (g *gather) leave() {
	if g.held {
		<-g.large
	}
}
