// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"time"

	"github.com/dipper-web/dipper"
)

// done tells the way of the bytes: received, Markdown, handed on.
func (s *progress) done(a *dipper.Answer) {
	s.line("%s", way(a))
	for _, w := range a.Warnings {
		if w.Code != "truncated" || a.Shown == nil || a.Shown.Next == "" { // a hint with the cursor says it better
			s.line("note: %s", w.Message)
		}
	}
	if a.Usage == nil {
		return
	}
	for _, c := range a.Usage.Calls {
		cost := ""
		if c.CostUSD > 0 {
			cost = fmt.Sprintf(": $%.4f", c.CostUSD)
		}
		s.line("%s read %d tokens and wrote %d%s", c.Model, c.InputTokens, c.OutputTokens, cost)
	}
}

// way is the line "Received 293.5 KB (200 OK) → 171 KB Markdown → 1.4 KB answer".
func way(a *dipper.Answer) string {
	got := "Received"
	switch {
	case (a.Source == "cache" || a.Source == "offline") && a.Page != nil:
		got = "Kept page, " + age(time.Since(a.Page.FetchedAt)) + " old:"
	case a.Source == "cache" || a.Source == "offline":
		got = "Kept page:"
	case a.Source == "revalidated":
		got = "Not changed:"
	}
	line := fmt.Sprintf("%s %s (%d %s)", got, size(a.Bytes), a.Code, a.CodeText)
	if a.Outcome != dipper.OK && a.Outcome != dipper.Partial {
		return line + " → " + string(a.Outcome)
	}
	if a.Page != nil && a.Mode != dipper.ModeRaw {
		line += fmt.Sprintf(" → %s Markdown", size(int64(a.Page.Chars)))
	}
	switch whole := a.Page != nil && a.Shown != nil && a.Shown.Chars >= a.Page.Chars; {
	case a.Path == "helper":
		line += fmt.Sprintf(" → %s answer", size(int64(len(a.Result))))
	case a.Path == "passages":
		line += fmt.Sprintf(" → %s passages", size(int64(len(a.Result))))
	case a.Path == "document" && !whole:
		line += fmt.Sprintf(" → %s shown", size(int64(len(a.Result))))
	}
	return line
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
