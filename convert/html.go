// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"maps"
	"strings"
)

// page turns HTML into a document: read the tree, mark what is hidden, choose
// the main content, write.
func page(in Input) (Document, error) {
	text, charset, guessed, err := decode(in.Body, in.Type, true)
	if err != nil {
		return Document{}, err
	}
	t := parse(text)
	hidden := hide(t, readSheet(t))
	stats := measure(t)
	links := newLinker(t, in.URL)
	doc := Document{Kind: KindHTML, Charset: charset}
	describe(&doc, t, links)
	if !in.Options.Full {
		choose(t, stats)
	}
	w := newWriter(t, in.Options, links)
	w.ownText = int(stats[bodyNode].letters)
	doc.fill(w, string(w.write(bodyNode)))
	doc.warn(hiddenWarning(hidden))
	doc.warn(leftOutWarning(t, stats))
	for _, r := range invisibleWarnings(t.invisible) {
		doc.warn(r, true)
	}
	doc.warn(charsetWarning(charset), guessed)
	facts := factsOf(t, stats, &doc)
	if facts.MetaRefresh != "" {
		doc.warn(Removed{Code: CodeMetaRefresh, Count: 1, Message: "the page sends its reader on to " + facts.MetaRefresh}, true)
	}
	doc.Hollow, doc.Why = hollow(in, facts)
	if doc.Hollow == Shell || doc.Hollow == Empty {
		doc.fromState(t, in.Options)
	}
	if doc.Hollow == Empty && strings.TrimSpace(doc.Markdown) != "" {
		doc.Hollow, doc.Why = "", "" // what there is is shown, however little it says
	}
	doc.warn(counted(CodeInstructions, InstructionLike(doc.Markdown)))
	doc.Excerpt = excerpt(doc.Markdown)
	return doc, nil
}

// fill puts what a writer has written into the document and cleans it piece by
// piece, so that the places of sections and anchors stay right.
func (d *Document) fill(w *writer, out string) {
	cuts := newCuts(w, len(out))
	var removed []Removed
	d.Markdown, removed = cuts.clean(out)
	for _, r := range removed {
		d.warn(r, true)
	}
	for k := range w.sections {
		w.sections[k].Start = cuts.moved(w.sections[k].Start)
	}
	for id, at := range w.anchors {
		w.anchors[id] = cuts.moved(at)
	}
	d.Outline = finishOutline(w.sections, len(d.Markdown))
	d.Anchors = w.anchors
	d.Links = w.links.all
	cutText(d, w.opt.MaxText)
	if d.Truncated {
		maps.DeleteFunc(d.Anchors, func(_ string, at int) bool { return at >= len(d.Markdown) })
	}
	if (w.cut || w.t.cut) && !d.Truncated {
		d.Truncated = true
		d.warn(Removed{Code: CodeTruncated, Count: 1,
			Message: fmt.Sprintf("the page is larger than what is read of one page; the text ends after %d bytes", len(d.Markdown))}, true)
	}
}

// factsOf gathers what the search for hollow pages looks at.
func factsOf(t *tree, stats []stat, doc *Document) pageFacts {
	f := pageFacts{Title: doc.Title, Text: t.textWithin(bodyNode, factsWindow, len(t.nodes)), ScriptBytes: t.scriptBytes,
		Links: int(stats[bodyNode].links)}
	for i := range t.nodes {
		f.add(t, int32(i), stats)
	}
	return f
}
