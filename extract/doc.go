// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package extract puts a question to one document.
//
// There are two readers behind one door. Passages needs no model: it divides the
// document into atoms (sentences, list items, table rows, code blocks), ranks
// them against the prompt, and shows the best within a budget, with the headings
// above them. Reader.Answer lets a small model write the answer: the page stands
// in the prompt between tags of a random name, and what the model says is held
// against the page by code before anybody sees it.
//
// Both give citations that are exact: Doc.Markdown[Start:End] == Quote.
//
//	parse.go                      a document as atoms
//	terms.go query.go             words as terms, a prompt as concepts
//	thesaurus.go stopwords.go     words of the same meaning, words of none
//	rank.go feedback.go suits.go  scores; weights.go holds the numbers
//	passages.go                   the choice within a budget
//	look.go prompt.go reader.go   what a model sees, and is told
//	check_reply.go stream.go support.go clean.go   what it may say
//	part.go                       sections and texts that are asked for by name
package extract
