// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"math"
	"slices"
)

// feed widens the query by the words that the best atoms have in common.
func (r *ranking) feed() bool {
	order := make([]int, 0, len(r.scores))
	for i, s := range r.scores {
		if s > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.scores[b], r.scores[a]) })
	df := make([]float64, len(r.lex.vocab))
	for _, ids := range r.words {
		for _, id := range ids {
			for _, t := range r.lex.terms[id] {
				df[t]++
			}
		}
	}
	weight := map[int32]float64{}
	for _, i := range order[:min(len(order), feedAtoms)] {
		seen := map[int32]bool{}
		for _, id := range r.words[i] {
			for _, t := range r.lex.terms[id] {
				if !seen[t] {
					seen[t] = true
					weight[t] += r.scores[i]
				}
			}
		}
	}
	type cand struct {
		t int32
		w float64
	}
	var cs []cand
	n := float64(len(r.atoms))
	for t, w := range weight {
		name := r.lex.vocab[t]
		if _, known := r.q.index[name]; known || stopTerms[name] || len(name) < 3 || df[t] < 2 || among(name, stopWords) {
			continue
		}
		cs = append(cs, cand{t, w * math.Log(1+n/df[t])})
	}
	slices.SortFunc(cs, func(a, b cand) int { return cmp.Or(cmp.Compare(b.w, a.w), cmp.Compare(a.t, b.t)) })
	if len(cs) == 0 {
		return false
	}
	for _, c := range cs[:min(len(cs), feedTerms)] {
		r.q.add(r.lex.vocab[c.t], -1, feedbackWeight*c.w/cs[0].w)
	}
	return true
}
