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

// person asks whoever sits at the terminal.
type person struct {
	in   io.Reader
	out  io.Writer
	show *progress

	mu   sync.Mutex // one question at a time
	once sync.Once
	read chan string
}

// asker is the person at the terminal, nil where nobody is: questions need a
// terminal to be read from and one to be written to.
func (p *Program) asker(show *progress) permit.Asker {
	if !p.Terminals.In || !p.Terminals.Err {
		return nil
	}
	return &person{in: p.Stdin, out: p.Stderr, show: show}
}

// Ask puts the question and waits for the answer, no longer than ctx.
func (a *person) Ask(ctx context.Context, q permit.Question) (permit.Choice, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.once.Do(a.start)
	a.show.clear()
	what := q.URL
	if what == "" {
		what = "a search that " + strings.Join(q.Engines, ", ") + " will see"
	}
	fmt.Fprintf(a.out, "Dipper wants to read %s\n  %s\n", what, q.Reason)
	for {
		fmt.Fprint(a.out, question(q))
		select {
		case <-ctx.Done():
			fmt.Fprintln(a.out)
			return permit.No, ctx.Err()
		case line, ok := <-a.read:
			if !ok {
				fmt.Fprintln(a.out)
				return permit.No, permit.ErrNobody
			}
			if c, ok := choice(line, q.Always != ""); ok {
				return c, nil
			}
		}
	}
}

func question(q permit.Question) string {
	if q.Always == "" {
		return "  [y] yes, once  [n] no: "
	}
	return "  [y] yes, once  [a] always for " + q.Host + "  [n] no: "
}

// choice understands what was typed.
func choice(line string, always bool) (permit.Choice, bool) {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes", "once":
		return permit.Once, true
	case "a", "always":
		return permit.Always, always
	case "n", "no", "":
		return permit.No, true
	}
	return permit.No, false
}

// start reads lines for as long as the process lives: a read from a terminal
// cannot be taken back, so it must not hold up a canceled call.
func (a *person) start() {
	a.read = make(chan string)
	go func() {
		defer close(a.read)
		lines := bufio.NewScanner(a.in)
		for lines.Scan() {
			a.read <- lines.Text()
		}
	}()
}
