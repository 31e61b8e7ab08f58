// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

// What a hit counts, by how it was found. 1 is a word of the prompt itself. The
// numbers were chosen by trial on questions about documentation; recall changes
// little when one of them moves by a third.
const (
	titleWeight       = 0.5  // a word of the page's title: it is about the page as a whole and leads to no place on it
	partWeight        = 0.6  // a part of an identifier, beside the whole
	letterWeight      = 0.3  // a single letter
	softWeight        = 0.4  // a word of talk about pages
	grammarWeight     = 0.1  // a pair of wide characters that hold grammar alone
	halfGrammarWeight = 0.5  // a pair of which one does
	compoundWeight    = 0.8  // two neighbours written as one word
	relatedWeight     = 0.5  // a term of the page with the same beginning
	fellowWeight      = 0.45 // a word of the same meaning
	phraseWeight      = 0.7  // the words that a phrase of the prompt stands for
	foreignWeight     = 0.9  // the English fellow of a Chinese or Japanese word
	feedbackWeight    = 0.4  // a word that the best atoms of a first ranking share
)

// The numbers of the ranking.
const (
	sharedLetters = 5   // letters that related terms have in common at least
	sharedTenths  = 7   // tenths of the longer one that they have in common at least
	saturation    = 1   // BM25: how soon more hits of one term count no more
	lengthShare   = 0.7 // BM25: how much length counts
	leastSize     = 12  // words that an atom counts for at least: a stub is no better for being short
	nearWeight    = 0.4 // a hit in the neighbouring atom; each one further away counts decay of it
	nearDecay     = 0.6
	nearReach     = 4    // how many neighbours on each side count
	headWeight    = 1    // a hit in the section's title
	pathWeight    = 0.4  // a hit in a title above it
	leadWeight    = 0.8  // a hit in what introduces the atom
	coverage      = 0.4  // how much it counts that many of the prompt's concepts are there: an exponent
	crowding      = 0.9  // how soon a section that has much already is worth less
	codePrior     = 0.8  // code answers less often than prose and costs more
	numberPrior   = 1.15 // an atom with a number, where one is asked for
	denialPrior   = 1.15 // an atom that says no, where the prompt can be answered so
	afterShare    = 0.5  // the share of an atom's score from which the sentence after it comes along
	feedAtoms     = 4    // how many atoms of the first ranking give words
	feedTerms     = 5    // how many words they give
)
