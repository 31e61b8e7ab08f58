// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/convert"
	"github.com/dipper-web/dipper/fault"
)

// output is stdout. It remembers the first error, so that a result that did not
// get through never counts as handed over.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(b)
	o.err = err
	return n, err
}

// failure is what became of the writes. A reader that went away, such as head,
// had enough: that is no failure.
func (o *output) failure() error {
	if o.err == nil || errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	e := fault.Wrap(o.err, fault.Internal, "", "the result could not be written to stdout: %s", reason(o.err))
	e.Advice = "See where stdout leads, or write to a file with -o where the command has it."
	return e
}

// reason is why the system refused something, without the words of the call.
func reason(err error) string {
	var n syscall.Errno
	var p *fs.PathError
	switch {
	case errors.As(err, &n):
		return n.Error()
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return err.Error()
}

// print writes to stdout; Run tells of errors.
func (p *Program) print(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// writeJSON writes one document, UTF-8, without escaping what needs none.
func (p *Program) writeJSON(v any) {
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	e.Encode(v) // what we encode always has a JSON form; Run tells of errors of writing
}

// table writes rows in columns. Each row is one harmless line, wherever it goes:
// tables are for people, and programs have --json.
func (p *Program) table(rows [][]string) {
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		for i, cell := range r {
			r[i] = plain(cell)
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(r, "\t"), "\t"))
	}
	w.Flush() // to p.out, which remembers errors
}

// note tells a person something beside the result.
func (p *Program) note(format string, args ...any) {
	if !p.flags.quiet {
		fmt.Fprintf(p.Stderr, "note: %s\n", plain(fmt.Sprintf(format, args...)))
	}
}

// fail tells of an error and gives its exit code.
func (p *Program) fail(err error) int {
	f, doc := fault.From(err), dipper.FailureOf(err, "")
	switch {
	case p.wantsJSON() && p.out.err == nil:
		p.writeJSON(doc)
	case f.Kind == fault.Canceled:
		fmt.Fprintln(p.Stderr, "dipper: stopped")
	default:
		p.tellFailure(doc, err)
	}
	return fault.Of(f.Kind).Exit
}

// tellFailure says what happened, to which URL, and what to do next.
func (p *Program) tellFailure(doc dipper.Failure, err error) {
	message := doc.Error.Message
	if doc.URL != "" && !strings.Contains(message, doc.URL) {
		message = withoutPassword(doc.URL) + ": " + message
	}
	fmt.Fprintf(p.Stderr, "dipper: %s\n  %s\n", plain(message), plain(doc.Error.Advice))
	if doc.Error.Excerpt != "" {
		fmt.Fprintf(p.Stderr, "\n%s\n", indent(harmless(doc.Error.Excerpt)))
	}
	if p.flags.verbose {
		fmt.Fprintf(p.Stderr, "  for a report: %s\n", plain(err.Error()))
	}
}

// userInfo is the part of a URL that may hold a password.
var userInfo = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://)[^/?#]*@`)

// withoutPassword hides user and password of a URL: such a URL is refused, and
// what is shown ends in logs.
func withoutPassword(url string) string { return userInfo.ReplaceAllString(url, "${1}…@") }

// harmless takes what steers a terminal out of a text; its lines stay.
func harmless(s string) string {
	clean, _ := convert.Clean(s)
	return clean
}

// plain makes one harmless line of a text.
func plain(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(harmless(s))
}

func indent(s string) string { return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ") }

// size writes a number of bytes as people do.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_950:
		return trimZero(float64(n)/1000) + " KB"
	}
	return trimZero(float64(n)/1_000_000) + " MB"
}

func trimZero(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") }
