// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// variant is one term by which a concept of the prompt is found, with the weight
// that a hit of it has.
type variant struct {
	term    string
	concept int
	weight  float64
}

// query is a prompt as terms. Concepts are what it asks about; a concept is
// found by any of its variants.
type query struct {
	variants []variant
	concepts int
	index    map[string]int // term → place in variants
	number   bool           // asks for a quantity
	yesno    bool           // can be answered by no
	named    bool           // some concept is more than talk about the page
}

// Limits of a query.
const (
	// maxPrompt is how much of a prompt is read for its terms, in bytes.
	maxPrompt = 8000
	// maxConcepts bounds the concepts, so that ranking stays linear in the page.
	maxConcepts = 64
)

// newQuery reads the terms of a prompt. title holds words that are about the
// page as a whole; they count less because they lead to no place on it.
func newQuery(prompt, title string) *query {
	q := &query{index: map[string]int{}}
	var words, foreign []string
	eachWord(clip(prompt, maxPrompt), func(w string, wide bool) {
		switch {
		case q.concepts >= maxConcepts:
		case wide:
			q.wide(w)
			foreign = append(foreign, w)
		case !among(w, stopWords):
			q.word(w)
			words = append(words, w)
		}
	})
	q.compounds(words)
	for _, w := range foreign {
		q.translate(w)
	}
	q.meanings(prompt)
	q.sort(prompt)
	eachWord(title, func(w string, wide bool) {
		for _, t := range forms(w, wide) {
			if i, ok := q.index[t]; ok {
				q.variants[i].weight = min(q.variants[i].weight, titleWeight)
			}
		}
	})
	return q
}

func (q *query) word(w string) {
	for i, t := range forms(w, false) {
		weight := 1.0
		switch {
		case i > 0:
			if stopTerms[t] {
				continue
			}
			weight = partWeight
		case len(t) == 1 && !digit(t[0]):
			weight = letterWeight
		case among(w, softWords):
			weight = softWeight
		default:
			q.named = true
		}
		q.add(t, -1, weight)
	}
}

func (q *query) wide(w string) {
	for _, t := range pairs(w) {
		weight := wideWeight(t)
		if among(t, wideSoft) {
			weight = min(weight, softWeight)
		}
		q.named = q.named || weight == 1
		q.add(t, -1, weight)
	}
}

// wideWeight weighs a pair of wide characters: those that hold grammar alone
// lead nowhere.
func wideWeight(t string) float64 {
	n, empty := 0, 0
	for _, r := range t {
		n++
		if unicode.Is(unicode.Hiragana, r) || strings.ContainsRune(wideStop, r) {
			empty++
		}
	}
	switch empty {
	case 0:
		return 1
	case n:
		return grammarWeight
	}
	return halfGrammarWeight
}

// compounds adds neighbours written as one word: "time out" finds "timeout".
func (q *query) compounds(words []string) {
	for i := 1; i < len(words); i++ {
		a, b := strings.ToLower(words[i-1]), strings.ToLower(words[i])
		if len(a)+len(b) <= maxWord && len(a) > 1 && len(b) > 1 {
			q.add(stem(a+b), -1, compoundWeight)
		}
	}
}

// add puts a term into concept c; -1 opens a new one. A term is in one concept only.
func (q *query) add(t string, c int, weight float64) {
	if i, ok := q.index[t]; ok {
		if c < 0 {
			q.variants[i].weight = max(q.variants[i].weight, weight)
		}
		return
	}
	if c < 0 {
		if q.concepts == maxConcepts*2 {
			return
		}
		c = q.concepts
		q.concepts++
	}
	q.index[t] = len(q.variants)
	q.variants = append(q.variants, variant{t, c, weight})
}

// widen adds terms of the page that share a long beginning with a term of the
// prompt ("negated" and "negation"), as weaker variants.
func (q *query) widen(vocabulary []string) {
	n := len(q.variants)
	for _, t := range vocabulary {
		if len(t) < sharedLetters || t[0] >= utf8.RuneSelf {
			continue
		}
		if _, known := q.index[t]; known {
			continue
		}
		for i := range n {
			v := q.variants[i]
			if related(v.term, t) {
				q.add(t, v.concept, v.weight*relatedWeight)
				break
			}
		}
	}
}

// related reports whether two stems have most of their letters in common, from
// the beginning.
func related(a, b string) bool {
	if len(a) < sharedLetters || len(b) < sharedLetters || a[0] != b[0] {
		return false
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= sharedLetters && n*10 >= max(len(a), len(b))*sharedTenths && utf8.ValidString(a[:n])
}

// among reports whether w is in a sorted list, whatever its case; what follows
// an apostrophe does not count.
func among(w string, list []string) bool {
	w = strings.ToLower(w)
	if i := strings.IndexAny(w, "'’"); i >= 0 {
		w = w[:i]
	}
	_, found := slices.BinarySearch(list, w)
	return found
}

// vague reports whether the prompt names nothing: it asks for the page as a whole.
func (q *query) vague() bool { return !q.named }
