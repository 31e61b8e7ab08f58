// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

// remember notes the anchors of an element: the next block that is written is
// where they lead.
func (w *writer) remember(i int32) {
	if len(w.anchors)+len(w.ids) >= maxAnchors || w.t.nodes[i].nattr == 0 {
		return
	}
	if id := w.t.get(i, keyID); id != "" && len(id) <= 200 {
		w.ids = append(w.ids, id)
	}
	if name := w.t.get(i, keyName); name != "" && w.t.is(i, atom.A) && len(name) <= 200 {
		w.ids = append(w.ids, name)
	}
}

// land gives the anchors that waited their place: the current line.
func (w *writer) land() {
	for _, id := range w.ids {
		if _, ok := w.anchors[id]; !ok {
			w.anchors[id] = min(w.lineStart, len(w.out))
		}
	}
	w.ids = w.ids[:0]
}

// heading writes a heading and notes a section.
func (w *writer) heading(i int32, level int, c context) {
	if w.mode != inParagraph {
		w.gap()
		if w.mode == inCell {
			c.style |= strong
		}
		w.children(i, c)
		w.gap()
		return
	}
	w.flush()
	id := w.headingID(i)
	w.collect(i, c, inHeading)
	if !w.para.settle() {
		w.para.reset()
		return
	}
	w.section(id, level)
}

// section writes the gathered line as a heading.
func (w *writer) section(id string, level int) {
	w.leaf()
	if len(w.sections) < maxSections {
		title := strings.Join(strings.Fields(w.para.plain()), " ")
		w.sections = append(w.sections, Section{ID: id, Title: clip(title, 200), Level: level, Start: min(w.lineStart, len(w.out))})
	}
	w.out = append(w.out, strings.Repeat("#", level)+" "...)
	w.out = w.render(w.out, inHeading)
	w.para.reset()
}

// headingID finds the page's own anchor of a heading: on it, in it, just before
// it, or on the section that it opens.
func (w *writer) headingID(i int32) string {
	if id := w.t.get(i, keyID); id != "" {
		return id
	}
	id := ""
	w.t.any(i, nearby, func(j int32) bool {
		if w.t.nodes[j].kind == elementNode {
			if id = w.t.get(j, keyID); id == "" && w.t.is(j, atom.A) {
				id = w.t.get(j, keyName)
			}
		}
		return id != ""
	})
	if id == "" && len(w.ids) > 0 {
		id = w.ids[len(w.ids)-1]
	}
	if len(id) > 200 {
		return ""
	}
	return id
}

// finishOutline gives every section its end, its path and an id of its own.
func finishOutline(sections []Section, length int) []Section {
	used := map[string]bool{}
	for _, s := range sections {
		used[s.ID] = true
	}
	taken, tries := map[string]bool{}, map[string]int{}
	var above []int
	for k := range sections {
		s := &sections[k]
		for len(above) > 0 && sections[above[len(above)-1]].Level >= s.Level {
			sections[above[len(above)-1]].End = s.Start
			above = above[:len(above)-1]
		}
		for _, a := range above {
			s.Path = append(s.Path, sections[a].Title)
		}
		s.Path = append(s.Path, s.Title)
		above = append(above, k)
		if s.ID == "" || taken[s.ID] {
			s.ID = freeID(slug(s.Title), used, taken, tries)
		}
		taken[s.ID] = true
	}
	for _, a := range above {
		sections[a].End = length
	}
	return sections
}

// freeID numbers an id until nothing else has it; tries remembers how far each
// id has been numbered.
func freeID(base string, used, taken map[string]bool, tries map[string]int) string {
	id := base
	for used[id] || taken[id] {
		tries[base]++
		id = base + "-" + strconv.Itoa(tries[base]+1)
	}
	return id
}

// clip shortens a text to about n bytes at a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return strings.TrimSpace(s[:n]) + "…"
}
