// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import "math"

// hit says how often a variant of the query stands in an atom.
type hit struct {
	variant int32
	n       float32
}

// ranking holds the scores of a document's atoms for one query.
type ranking struct {
	*parsed
	q      *query
	hits   [][]hit   // by atom
	size   []float64 // words by atom
	idf    []float64 // by variant
	scores []float64 // by atom
	heads  [][]hit   // by section: hits of its title
	lex    *lexicon
	words  [][]int32 // by atom: its words
	total  float64   // weight of all concepts that the page has
}

// rank scores every atom of a document.
func rank(p *parsed, q *query) *ranking {
	r := &ranking{parsed: p, q: q}
	r.count()
	r.weigh()
	r.score()
	if r.feed() {
		r.match()
		r.weigh()
		r.score()
	}
	return r
}

// lexicon gives every word of the page its terms, once.
type lexicon struct {
	ids   map[string]int32
	terms [][]int32 // by word: numbers of its terms
	names map[string]int32
	vocab []string // by number of a term
}

func (l *lexicon) word(w string, wide bool) int32 {
	if id, ok := l.ids[w]; ok {
		return id
	}
	var ts []int32
	for _, t := range forms(w, wide) {
		n, ok := l.names[t]
		if !ok {
			n = int32(len(l.vocab))
			l.names[t] = n
			l.vocab = append(l.vocab, t)
		}
		ts = append(ts, n)
	}
	id := int32(len(l.terms))
	l.ids[w] = id
	l.terms = append(l.terms, ts)
	return id
}

// count finds the query's variants in all atoms and headings.
func (r *ranking) count() {
	lex := &lexicon{ids: map[string]int32{}, names: map[string]int32{}}
	words := make([][]int32, len(r.atoms))
	r.lex, r.words = lex, words
	for i, a := range r.atoms {
		var ids []int32
		eachWord(r.text[a.start:a.end], func(w string, wide bool) { ids = append(ids, lex.word(w, wide)) })
		words[i] = ids
	}
	r.q.widen(lex.vocab)
	r.match()
}

// match finds the query's variants among the words that were read.
func (r *ranking) match() {
	lex, words := r.lex, r.words
	byTerm := make([]int32, len(lex.vocab))
	for n, t := range lex.vocab {
		byTerm[n] = -1
		if v, ok := r.q.index[t]; ok {
			byTerm[n] = int32(v)
		}
	}
	r.hits, r.size = make([][]hit, len(r.atoms)), make([]float64, len(r.atoms))
	for i, ids := range words {
		n := 0
		for _, id := range ids {
			ts := lex.terms[id]
			n += max(1, len(ts))
			for _, t := range ts {
				if v := byTerm[t]; v >= 0 {
					r.hits[i] = addHit(r.hits[i], v, 1)
				}
			}
		}
		r.size[i] = float64(n)
	}
	r.heads = make([][]hit, len(r.sections))
	for i, s := range r.sections {
		eachWord(clip(s.Title, maxHeading), func(w string, wide bool) {
			for _, t := range forms(w, wide) {
				if v, ok := r.q.index[t]; ok {
					r.heads[i] = addHit(r.heads[i], int32(v), 1)
				}
			}
		})
	}
}

func addHit(h []hit, v int32, n float32) []hit {
	for i := range h {
		if h[i].variant == v {
			h[i].n += n
			return h
		}
	}
	return append(h, hit{v, n})
}

// weigh computes how rare each variant is among the atoms.
func (r *ranking) weigh() {
	df := make([]float64, len(r.q.variants))
	for _, hs := range r.hits {
		for _, h := range hs {
			df[h.variant]++
		}
	}
	n := float64(len(r.hits))
	r.idf = make([]float64, len(df))
	best := make([]float64, r.q.concepts)
	for v, d := range df {
		if d == 0 {
			continue
		}
		r.idf[v] = math.Log(1+(n-d+0.5)/(d+0.5)) * r.q.variants[v].weight
		c := r.q.variants[v].concept
		best[c] = max(best[c], r.idf[v])
	}
	for _, b := range best {
		r.total += b
	}
}

// score gives each atom the weight of the concepts that stand in it, in its
// neighbours, in the headings above it and in what introduces it.
func (r *ranking) score() {
	r.scores = make([]float64, len(r.atoms))
	if r.total == 0 {
		return
	}
	mean := 0.0
	for i := range r.size {
		mean += r.size[i] + r.around(i, func([]hit, float64) {})
	}
	mean = max(1, mean/float64(len(r.size)))
	path := r.paths()
	tf := make([]float64, len(r.q.variants))
	best := make([]float64, r.q.concepts)
	var seen []int32
	for i := range r.atoms {
		a := &r.atoms[i]
		if a.kind == heading {
			continue
		}
		seen = seen[:0]
		put := func(hs []hit, w float64) {
			for _, h := range hs {
				if tf[h.variant] == 0 {
					seen = append(seen, h.variant)
				}
				tf[h.variant] += w * float64(h.n)
			}
		}
		put(r.hits[i], 1)
		size := r.size[i] + r.around(i, put)
		if a.lead >= 0 {
			put(r.hits[a.lead], leadWeight)
			size += leadWeight * r.size[a.lead]
		}
		if a.section >= 0 {
			put(r.heads[a.section], headWeight)
			put(path[a.section], pathWeight)
		}
		if len(seen) == 0 {
			continue
		}
		r.scores[i] = r.combine(seen, tf, best, saturation*(1-lengthShare+lengthShare*max(size, leastSize)/mean)) * prior(a.kind) * r.suits(i)
	}
}

func prior(k kind) float64 {
	if k == code {
		return codePrior
	}
	return 1
}

// around adds the hits of the neighbours in the same section, and gives their
// size by the same weights.
func (r *ranking) around(i int, put func([]hit, float64)) (size float64) {
	a := &r.atoms[i]
	for _, dir := range [2]int{-1, 1} {
		w := nearWeight
		for d := 1; d <= nearReach; d++ {
			j := i + dir*d
			if j < 0 || j >= len(r.atoms) || r.atoms[j].section != a.section {
				break
			}
			if r.atoms[j].kind != heading && int32(j) != a.lead {
				put(r.hits[j], w)
				size += w * r.size[j]
			}
			w *= nearDecay
		}
	}
	return size
}

// paths gives each section the hits of the titles above it.
func (r *ranking) paths() [][]hit {
	out := make([][]hit, len(r.sections))
	var open []int
	for i, s := range r.sections {
		for len(open) > 0 && r.sections[open[len(open)-1]].Level >= s.Level {
			open = open[:len(open)-1]
		}
		if k := len(open); k > 0 {
			up := open[k-1]
			for _, hs := range [2][]hit{out[up], r.heads[up]} {
				for _, h := range hs {
					out[i] = addHit(out[i], h.variant, 1)
				}
			}
		}
		open = append(open, i)
	}
	return out
}

// combine turns the frequencies of one atom into its score and clears them.
func (r *ranking) combine(seen []int32, tf, best []float64, norm float64) float64 {
	for _, v := range seen {
		s := r.idf[v] * tf[v] * (saturation + 1) / (tf[v] + norm)
		c := r.q.variants[v].concept
		best[c] = max(best[c], s)
	}
	sum, have := 0.0, 0.0
	for _, v := range seen {
		tf[v] = 0
		c := r.q.variants[v].concept
		if best[c] > 0 {
			have += r.idf[v]
		}
		sum += best[c]
		best[c] = 0
	}
	return sum * math.Pow(min(1, have/r.total), coverage)
}
