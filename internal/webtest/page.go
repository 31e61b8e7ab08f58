// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package webtest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Page is one page of the false web.
type Page struct {
	Status int // 0: 200
	Header http.Header
	Body   string
	Delay  time.Duration // before the answer
	Break  bool          // the connection breaks where the body should go on
	Hang   bool          // nothing more comes where the body should go on
}

// ParsePage reads a page of a story: header lines, an empty line, the body. Some
// header names are stage directions and are not sent: Status; Delay; Break and
// Hang (yes); Repeat, which writes the line of the body that holds {{n}} so many
// times with the number in it; Escapes (yes), which reads \u200b and the like in
// the body; File, which takes away the newline at the end.
func ParsePage(text string) (Page, error) {
	head, body, _ := strings.Cut(text, "\n\n")
	p := Page{Header: http.Header{}, Body: body}
	lines, err := ParseLines(head)
	if err != nil {
		return p, err
	}
	for _, l := range lines {
		if err := p.direct(l.Key, l.Value); err != nil {
			return p, fmt.Errorf("%s: %s: %w", l.Key, l.Value, err)
		}
	}
	return p, nil
}

// direct follows one header line.
func (p *Page) direct(key, value string) (err error) {
	switch key {
	case "Status":
		p.Status, err = strconv.Atoi(value)
	case "Delay":
		p.Delay, err = time.ParseDuration(value)
	case "Break":
		p.Break = true
	case "Hang":
		p.Hang = true
	case "File":
		p.Body = strings.TrimSuffix(p.Body, "\n")
	case "Escapes":
		p.Body, err = unescape(p.Body)
	case "Repeat":
		var n int
		n, err = strconv.Atoi(value)
		p.Body = repeat(p.Body, n)
	default:
		p.Header.Add(key, value)
	}
	return err
}

// repeat writes every line that holds {{n}} n times.
func repeat(body string, n int) string {
	var b strings.Builder
	for l := range strings.Lines(body) {
		if !strings.Contains(l, "{{n}}") {
			b.WriteString(l)
			continue
		}
		for i := range n {
			b.WriteString(strings.ReplaceAll(l, "{{n}}", strconv.Itoa(i+1)))
		}
	}
	return b.String()
}

// unescape reads the escapes of Go strings, line by line.
func unescape(body string) (string, error) {
	var b strings.Builder
	for l := range strings.Lines(body) {
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.TrimSuffix(l, "\n"), `"`, `\"`) + `"`)
		if err != nil {
			return "", err
		}
		b.WriteString(text + "\n")
	}
	return b.String(), nil
}

// ServeHTTP answers with the page; a conditional request that names the page's
// ETag or Last-Modified gets 304.
func (p Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !sleep(r.Context(), p.Delay) {
		return
	}
	for k, v := range p.Header {
		w.Header()[k] = v
	}
	etag, since := p.Header.Get("ETag"), p.Header.Get("Last-Modified")
	if etag != "" && r.Header.Get("If-None-Match") == etag || since != "" && r.Header.Get("If-Modified-Since") == since {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if p.Header["Content-Type"] == nil {
		w.Header()["Content-Type"] = nil // as in the story: none, not a guessed one
	}
	if p.Break {
		w.Header().Set("Content-Length", strconv.Itoa(len(p.Body)+100))
	}
	if p.Status != 0 {
		w.WriteHeader(p.Status)
	}
	w.Write([]byte(p.Body)) // a client that hung up is the client's affair
	if !p.Break && !p.Hang {
		return
	}
	http.NewResponseController(w).Flush()
	if p.Hang {
		<-r.Context().Done()
	}
	panic(http.ErrAbortHandler)
}

// sleep waits, and reports whether ctx is still alive then.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
