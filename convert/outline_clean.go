// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"slices"
	"strings"
)

// cuts are the places in a text that must be found again after it has been
// cleaned: the lines where sections and anchors stand.
type cuts struct {
	old, new []int
}

func newCuts(w *writer, length int) *cuts {
	c := &cuts{old: []int{0}}
	for _, s := range w.sections {
		c.old = append(c.old, s.Start)
	}
	for _, at := range w.anchors {
		c.old = append(c.old, at)
	}
	slices.Sort(c.old)
	c.old = slices.Compact(c.old)
	for k := len(c.old) - 1; k > 0 && c.old[k] > length; k-- {
		c.old[k] = length
	}
	return c
}

// clean cleans the text between the places and notes where they moved to.
func (c *cuts) clean(s string) (string, []Removed) {
	c.new = slices.Clone(c.old)
	cleaned, removed := Clean(s)
	if cleaned == s {
		return s, removed
	}
	var b strings.Builder
	for k, from := range c.old {
		to := len(s)
		if k+1 < len(c.old) {
			to = c.old[k+1]
		}
		c.new[k] = b.Len()
		piece, _ := Clean(s[from:to])
		b.WriteString(piece)
	}
	return b.String(), removed
}

// moved gives the new place of an old one.
func (c *cuts) moved(at int) int {
	k, ok := slices.BinarySearch(c.old, at)
	if !ok {
		k = max(0, k-1)
	}
	return c.new[k]
}
