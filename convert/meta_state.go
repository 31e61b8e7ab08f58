// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// minState is how many letters the data of a page must hold to be given in
// place of a page whose elements are empty.
const minState = 20

// fromState gives the text that an application ships as data beside an empty
// page: the article of JSON-LD, the state of Next, Nuxt and their kin. A page
// with such text is not hollow.
func (d *Document) fromState(t *tree, o Options) {
	m := readMeta(t)
	text := articleBody(m.data)
	if text == "" {
		text = stateText(t)
	}
	if countLetters(text) < minState {
		return
	}
	w := newWriter(t, o, newLinker(t, ""))
	if d.Title != "" {
		w.para.text(d.Title, run{})
		w.section("", 1)
		w.para.reset()
	}
	for piece := range strings.SplitSeq(text, "\n\n") {
		if piece != d.Title {
			w.para.text(piece, run{})
			w.flush()
		}
	}
	w.children(bodyNode, context{})
	w.flush()
	w.land()
	d.Truncated = false
	d.Removed = slices.DeleteFunc(d.Removed, func(r Removed) bool { return r.Code == CodeTruncated || r.Code == CodeMarks }) // of the text that this one replaces
	d.fill(w, string(w.out)+"\n")
	d.Hollow, d.Why = "", ""
}

// articleBody gives the text of the work that JSON-LD describes.
func articleBody(data []linkedData) string {
	best := ""
	for _, d := range data {
		for _, key := range []string{"articleBody", "reviewBody", "text"} {
			if v := wordsOf(d.text(key)); d.isWork() && len(v) > len(best) {
				best = v
			}
		}
	}
	return best
}

// stateText gathers the sentences in the state of an application.
func stateText(t *tree) string {
	var s stateReader
	for i := range t.nodes {
		n := int32(i)
		if t.nodes[i].tag != atom.Script || t.nodes[i].first == none || !isState(t, n) {
			continue
		}
		text := t.content(t.nodes[i].first)
		text = strings.TrimRight(text[max(0, strings.IndexAny(text, "{[")):], "; \n\t")
		var v any
		if len(text) <= maxState && json.Unmarshal([]byte(text), &v) == nil {
			s.read(v, "", 0)
		}
	}
	return strings.Join(s.pieces, "\n\n")
}

// isState reports whether a script holds the state of an application.
func isState(t *tree, i int32) bool {
	id, kind := t.get(i, keyID), strings.ToLower(t.get(i, keyType))
	return strings.HasPrefix(id, "__") || strings.Contains(kind, "json") && !strings.Contains(kind, "ld+json") && !strings.Contains(kind, "importmap")
}

// stateReader collects strings that are prose from JSON.
type stateReader struct {
	pieces []string
	size   int
	seen   map[string]bool
}

// maxPieces bounds the text taken from a state.
const maxPieces = 2000

func (s *stateReader) read(v any, key string, depth int) {
	if depth > maxStateDepth || len(s.pieces) >= maxPieces || s.size > maxState {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range proseFirst(v) {
			s.read(v[k], k, depth+1)
		}
	case []any:
		for _, e := range v {
			s.read(e, key, depth+1)
		}
	case string:
		s.add(v, key)
	}
}

// proseFirst orders the keys of an object as a page would show them: title,
// then summary, then text, then the rest by name.
func proseFirst(m map[string]any) []string {
	order := []string{"title", "headline", "name", "subtitle", "summary", "excerpt", "description", "body", "content", "text", "html", "markdown"}
	var keys []string
	for _, k := range order {
		if _, ok := m[k]; ok {
			keys = append(keys, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(order, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// add keeps a string that reads like prose: of words with blanks between, or in
// a script without them. Addresses, identifiers, style and code are not.
func (s *stateReader) add(v, key string) {
	text := wordsOf(v)
	isTitle := key == "title" || key == "headline"
	if s.seen[text] || text == "" || !isTitle && !isProse(text) || isTitle && countLetters(text) < 2 {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[text] = true
	s.pieces = append(s.pieces, text)
	s.size += len(text)
}

func isProse(s string) bool {
	n := countLetters(s)
	if n < 12 || strings.HasPrefix(s, "http") || strings.ContainsAny(s, "{}") || strings.Contains(s, "function(") || n*2 < len(s)/2 {
		return false
	}
	blanks := strings.Count(s, " ") + strings.Count(s, "\n")
	return blanks >= 2 && blanks*25 > len(s) || n > len([]rune(s))
}

// wordsOf takes the elements out of a string that may hold HTML.
func wordsOf(s string) string {
	if !strings.Contains(s, "<") {
		return strings.TrimSpace(s)
	}
	inner := parse(s[:min(len(s), maxFrame)])
	hide(inner, nil)
	return inner.shownText(bodyNode, maxFrame)
}
