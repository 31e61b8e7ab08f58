// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/dipper-web/dipper/permit"
)

// maxTyped bounds one typed line; the answers are words.
const maxTyped = 4096

// person asks whoever sits at the terminal.
type person struct {
	in   io.Reader
	out  io.Writer
	show *progress

	mu    sync.Mutex // one question at a time
	typed chan string
}

// atTerminal is who sits at the terminal, nil where nobody does: a question needs a
// terminal to be read from and one to be written to.
func (p *Program) atTerminal(show *progress) *person {
	if !p.Terminals.In || !p.Terminals.Err {
		return nil
	}
	return &person{in: p.Stdin, out: p.Stderr, show: show}
}

// asker is the person as permit knows one.
func (p *Program) asker(show *progress) permit.Asker {
	if a := p.atTerminal(show); a != nil {
		return a
	}
	return nil
}

// Ask puts a question of permit and waits for the answer, no longer than ctx.
func (a *person) Ask(ctx context.Context, q permit.Question) (permit.Choice, error) {
	what := "read " + q.URL
	if q.URL == "" {
		what = "search; " + strings.Join(q.Engines, ", ") + " will see the query"
	}
	text := fmt.Sprintf("Dipper wants to %s\n  %s\n", plain(what), plain(q.Reason))
	keys := "  [y] yes, once  [n] no: "
	if q.Always != "" {
		keys = "  [y] yes, once  [a] always for " + plain(q.Host) + "  [n] no: "
	}
	return a.put(ctx, text, keys, q.Always != "")
}

// put shows text and asks with keys until one of them is typed.
func (a *person) put(ctx context.Context, text, keys string, always bool) (permit.Choice, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.show.hold(true)
	defer a.show.hold(false)
	fmt.Fprint(a.out, text)
	for {
		fmt.Fprint(a.out, keys)
		line, err := a.line(ctx)
		if err != nil {
			fmt.Fprintln(a.out)
			return permit.No, err
		}
		if c, ok := choice(line, always); ok {
			return c, nil
		}
	}
}

// line waits for a typed line. A read from a terminal cannot be taken back, so
// it goes on without a caller that was canceled, and its line is the next one's.
func (a *person) line(ctx context.Context) (string, error) {
	if a.typed == nil {
		a.typed = make(chan string)
		go func(typed chan<- string) {
			defer close(typed)
			lines := bufio.NewScanner(a.in)
			lines.Buffer(make([]byte, 0, 256), maxTyped)
			for lines.Scan() {
				typed <- lines.Text()
			}
		}(a.typed)
	}
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line, ok := <-a.typed:
		if !ok {
			return "", permit.ErrNobody
		}
		return line, nil
	}
}

// choice understands what was typed. An empty line is no answer: a key pressed
// too often must neither allow nor deny.
func choice(line string, always bool) (permit.Choice, bool) {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes", "once":
		return permit.Once, true
	case "a", "always":
		return permit.Always, always
	case "n", "no":
		return permit.No, true
	}
	return permit.No, false
}
