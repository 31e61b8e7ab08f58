// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed thesaurus.txt
var thesaurusText string

//go:embed glossary.txt
var glossaryText string

// thesaurus holds words of technical writing that stand for one another: general
// vocabulary, no names.
type thesaurus struct {
	fellows map[string][]string // stem → stems of the same group
	phrases map[string][]string // phrase of a prompt → stems
	foreign map[string][]string // Chinese or Japanese word → English stems
	longest int                 // runes of the longest foreign word
}

var wordLists = sync.OnceValue(func() *thesaurus {
	t := &thesaurus{fellows: map[string][]string{}, phrases: map[string][]string{}, foreign: map[string][]string{}}
	for l := range entries(thesaurusText) {
		t.group(strings.Fields(l))
	}
	for l := range entries(glossaryText) {
		f := strings.Fields(l)
		for _, w := range f[1:] {
			t.foreign[f[0]] = append(t.foreign[f[0]], stem(w))
		}
		t.longest = max(t.longest, utf8.RuneCountInString(f[0]))
	}
	return t
})

// entries gives the lines of a word list that are not blank and not comments.
func entries(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for l := range strings.Lines(s) {
			if l = strings.TrimSpace(l); l != "" && l[0] != '#' && !yield(l) {
				return
			}
		}
	}
}

func (t *thesaurus) group(members []string) {
	var single []string
	for _, m := range members {
		if !strings.Contains(m, "_") {
			single = append(single, stem(m))
		}
	}
	for _, m := range members {
		if strings.Contains(m, "_") {
			p := strings.ReplaceAll(m, "_", " ")
			t.phrases[p] = append(t.phrases[p], single...)
			continue
		}
		s := stem(m)
		for _, other := range single {
			if other != s {
				t.fellows[s] = append(t.fellows[s], other)
			}
		}
	}
}

// meanings adds to a query the words of other languages and the phrases that its
// prompt holds, and to each of its terms those of the same meaning.
func (q *query) meanings(prompt string) {
	t := wordLists()
	for i := range q.variants {
		v := q.variants[i]
		for _, f := range t.fellows[v.term] {
			q.add(f, v.concept, v.weight*fellowWeight)
		}
	}
	spoken := spoken(prompt)
	for p, ts := range t.phrases {
		if strings.Contains(spoken, " "+p+" ") {
			q.concept(ts, phraseWeight)
		}
	}
}

// translate adds the English fellows of the words in a run of wide characters,
// the longest words first.
func (q *query) translate(run string) {
	t := wordLists()
	r := []rune(run)
	for i := 0; i < len(r); {
		n := min(t.longest, len(r)-i)
		for n > 0 && t.foreign[string(r[i:i+n])] == nil {
			n--
		}
		if n == 0 {
			i++
			continue
		}
		q.concept(t.foreign[string(r[i:i+n])], foreignWeight)
		i += n
	}
}

// concept adds terms as one concept; terms that the query has already stay where they are.
func (q *query) concept(terms []string, weight float64) {
	c := -1
	for _, t := range terms {
		q.add(t, c, weight)
		if c < 0 {
			c = q.variants[q.index[t]].concept
		}
	}
}

// spoken gives the words of a prompt in lower case, one blank between them and
// around them.
func spoken(prompt string) string {
	var b strings.Builder
	b.WriteByte(' ')
	eachWord(clip(prompt, maxPrompt), func(w string, wide bool) {
		if !wide {
			b.WriteString(strings.ToLower(strings.ReplaceAll(w, "’", "'")))
			b.WriteByte(' ')
		}
	})
	return b.String()
}
