// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Numbers of the search for support.
const (
	// passageAtoms is the size of what must support a sentence, in atoms: a paragraph
	// or two with what leads to it.
	passageAtoms = 12
	// leastSupport is the share of a sentence's key terms that one passage must
	// have; the rest may be the answer's own words.
	leastSupport = 0.4
	// leastTerms is the number of key terms below which a sentence says too little
	// to be judged, unless it has a number or a name.
	leastTerms = 4
)

// support finds passages of a page by the terms they hold.
type support struct {
	passages int
	holders  map[string][]int32 // term → passages, in order
	wide     bool               // the page is in a script without blanks
}

// newSupport reads a page. Passages overlap by half.
func newSupport(markdown string) *support {
	p := parse(Doc{Markdown: markdown}, partSize)
	s := &support{holders: map[string][]int32{}}
	half := passageAtoms / 2
	balance := 0
	for i, a := range p.atoms {
		n := int32(i / half)
		for _, t := range keys(p.text[a.start:a.end]) {
			s.hold(t.term, n-1)
			s.hold(t.term, n)
			if t.wide {
				balance++
			} else {
				balance--
			}
		}
		s.passages = int(n) + 1
	}
	s.wide = balance > 0
	return s
}

func (s *support) hold(term string, passage int32) {
	h := s.holders[term]
	for k := len(h) - 1; k >= 0 && k >= len(h)-2; k-- {
		if h[k] == passage {
			return
		}
	}
	if passage >= 0 {
		s.holders[term] = append(h, passage)
	}
}

// key is a term that a claim rests on.
type key struct {
	term string
	hard bool // a number, a name or an identifier: it must stand on the page
	wide bool
}

// keys gives the terms of a text. Capital letters make a name only inside a sentence.
func keys(s string) []key {
	var out []key
	first := true
	eachWord(s, func(w string, wide bool) {
		if wide {
			for _, t := range pairs(w) {
				if wideWeight(t) == 1 {
					out = append(out, key{term: t, wide: true})
				}
			}
			return
		}
		begin := first
		first = false
		if among(w, stopWords) {
			return
		}
		f := forms(w, false)
		if len(f) == 0 {
			return
		}
		number := strings.ContainsAny(w, "0123456789")
		r, _ := utf8.DecodeRuneInString(w)
		hard := number || len(f) > 1 && strings.ContainsAny(w, "._") || !begin && unicode.IsUpper(r)
		out = append(out, key{term: f[0], hard: hard})
		for _, t := range f[1:] {
			out = append(out, key{term: t})
		}
	})
	return out
}

// missing gives the sentences of an answer that no passage supports.
func (s *support) missing(answer string) []string {
	var out []string
	count := make([]int32, s.passages+1)
	for _, seg := range segments(answer) {
		if seg.exempt {
			continue
		}
		for l := range strings.Lines(seg.text) {
			l = strings.TrimLeft(l, " \t>")
			if l = l[itemMarker(l):]; isHeading(l) {
				continue
			}
			for part := range eachSentence(l) {
				if t := strings.TrimSpace(part); !s.supports(t, count) {
					out = append(out, t)
				}
			}
		}
	}
	return out
}

// supports looks for one passage that has enough of a sentence's terms. count is
// scratch space, all zero.
func (s *support) supports(sentence string, count []int32) bool {
	terms := map[string]bool{}
	soft, hard := 0, 0
	for _, k := range keys(sentence) {
		if _, known := terms[k.term]; known || k.wide && !s.wide || !k.wide && !k.hard && s.wide {
			continue // words of another language than the page's say nothing
		}
		if k.hard {
			hard++
			if s.holders[k.term] == nil {
				return false
			}
		} else {
			soft++
		}
		terms[k.term] = k.hard
	}
	if hard == 0 && soft < leastTerms || hard+soft == 0 {
		return true
	}
	best := int32(0)
	var touched []int32
	for t, isHard := range terms {
		w := int32(1)
		if isHard {
			w = 2
		}
		for _, p := range s.holders[t] {
			if count[p] == 0 {
				touched = append(touched, p)
			}
			count[p] += w
			best = max(best, count[p])
		}
	}
	for _, p := range touched {
		count[p] = 0
	}
	return float64(best) >= leastSupport*float64(soft+2*hard)
}
