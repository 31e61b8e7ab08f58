// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sizes for the choice of parts of a page that is too long for a model.
const (
	// partSize is how large one part of a section is, in bytes: large enough to
	// be understood by itself.
	partSize = 4000
	// opening is how much of the beginning is always among the parts, in
	// characters: it says what the page is.
	opening = 4000
)

// part is a run of atoms that is given to a model as a whole.
type part struct {
	start, end int // byte offsets
	chars      int
	score      float64
}

// look chooses what of a page a model sees: the whole page, or the parts that fit
// the prompt in the order of the page, at most limit characters of text.
func look(a Ask, limit int) view {
	md := a.Doc.Markdown
	total := utf8.RuneCountInString(md)
	if total <= limit {
		return view{text: md, shown: total, total: total}
	}
	p := parse(a.Doc, partSize)
	q := newQuery(a.Prompt, a.Doc.Title)
	from, to := p.span(a.Section)
	var r *ranking
	if !q.vague() {
		r = rank(p, q)
	}
	parts := p.parts(r)
	sectioned := from > 0 || to < len(md)
	chars := 0
	var taken []part
	take := func(k part) {
		k, room := fit(md, k, limit-chars)
		if room {
			chars += k.chars + utf8.RuneCountInString(gap) + 2
			taken = append(taken, k)
		}
	}
	for _, k := range importance(parts, from, to, sectioned) {
		take(k)
	}
	slices.SortFunc(taken, func(x, y part) int { return cmp.Compare(x.start, y.start) })
	return assemble(md, taken, total)
}

// parts joins the atoms of each section to parts of about partSize.
func (p *parsed) parts(r *ranking) []part {
	var out []part
	section := int32(-2)
	for i, a := range p.atoms {
		if n := len(out); n == 0 || a.section != section || a.end-out[n-1].start > partSize {
			out = append(out, part{start: a.start})
			section = a.section
		}
		k := &out[len(out)-1]
		k.end = a.end
		if r != nil {
			k.score = max(k.score, r.scores[i])
		}
	}
	for i := range out {
		if i+1 < len(out) {
			out[i].end = out[i+1].start // the blanks between go with the part before
		} else {
			out[i].end = len(p.text)
		}
		out[i].chars = utf8.RuneCountInString(p.text[out[i].start:out[i].end])
	}
	if len(out) > 0 && out[0].start > 0 {
		out[0].chars += utf8.RuneCountInString(p.text[:out[0].start])
		out[0].start = 0
	}
	return out
}

// importance orders parts: the section asked for, the opening, then by score, and
// by place where the score says nothing.
func importance(parts []part, from, to int, sectioned bool) []part {
	order := slices.Clone(parts)
	class := func(k part) int {
		switch {
		case sectioned && k.start < to && k.end > from:
			return 0
		case k.start < opening:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(x, y part) int {
		if c := cmp.Compare(class(x), class(y)); c != 0 {
			return c
		}
		if class(x) < 2 {
			return cmp.Compare(x.start, y.start)
		}
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.start, y.start))
	})
	return order
}

// fit cuts a part to the room that is left; parts that would be mere scraps are left out.
func fit(md string, k part, room int) (part, bool) {
	const scrap = 200 // characters
	room -= utf8.RuneCountInString(gap) + 2
	if k.chars <= room {
		return k, true
	}
	if room < scrap {
		return k, false
	}
	text := firstChars(md[k.start:k.end], room)
	k.end, k.chars = k.start+len(text), room
	return k, true
}

// assemble writes the parts one after the other, with a mark where something is left out.
func assemble(md string, parts []part, total int) view {
	var b strings.Builder
	v := view{total: total}
	at := 0
	for _, k := range parts {
		if k.start > at {
			b.WriteString("\n" + gap + "\n")
		}
		b.WriteString(md[k.start:k.end])
		v.shown += k.chars
		at = k.end
	}
	if at < len(md) {
		b.WriteString("\n" + gap)
	}
	v.text = b.String()
	return v
}
