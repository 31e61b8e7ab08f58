// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import "strings"

// sort finds out what sort of answer a prompt asks for.
func (q *query) sort(prompt string) {
	s := spoken(clip(prompt, maxPrompt))
	for _, p := range [...]string{" how many ", " how much ", " how long ", " how often ", " how deep ", " how wide ", " how big ", " how large ", " how old ", " how far ", " how high ",
		" what value ", " which value ", " what size ", " what number ", " maximum ", " minimum ", " limit ", " since which ", " which version ", " what version ", " which release ", " when "} {
		q.number = q.number || strings.Contains(s, p)
	}
	for _, p := range [...]string{"多少", "几", "多长", "多大", "多久", "何", "いくつ", "どれくらい", "版本", "いつ"} {
		q.number = q.number || strings.Contains(prompt, p)
	}
	for _, p := range [...]string{" can ", " may ", " is ", " are ", " does ", " do ", " will ", " should ", " could "} {
		q.yesno = q.yesno || strings.HasPrefix(s, p) || strings.Contains(s, p+"i ") || strings.Contains(s, p+"it ")
	}
	for _, p := range [...]string{"吗", "嗎", "能不能", "行不行", "可以", "ますか", "できる", "れる?"} {
		q.yesno = q.yesno || strings.Contains(prompt, p)
	}
}

// suits raises atoms of the sort that the prompt asks for: numbers, or a no.
func (r *ranking) suits(i int) float64 {
	f, t := 1.0, r.text[r.atoms[i].start:r.atoms[i].end]
	if r.q.number && strings.ContainsAny(t, "0123456789") {
		f *= numberPrior
	}
	if r.q.yesno && denies(t) {
		f *= denialPrior
	}
	return f
}

var denials = sortedWords(`not no never cannot nor none without only must isn aren doesn don won can't cannot shouldn unsupported deprecated impossible illegal invalid neither unless`)

// denies reports whether a text says no, or names a condition.
func denies(t string) bool {
	if strings.ContainsAny(t, "不无無没沒未") || strings.Contains(t, "ない") || strings.Contains(t, "ません") {
		return true
	}
	found := false
	eachWord(t, func(w string, wide bool) { found = found || !wide && among(w, denials) })
	return found
}
