// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/dipper-web/dipper/fault"
)

// textual makes the document of every kind but HTML. Plain text, Markdown,
// JSON and XML are passed on byte for byte after decoding; a feed becomes a
// list of its entries.
//
// A body that Binary knows as something else is fault.Unreadable, cause type;
// under an error status it counts as no body, since the status says enough.
func textual(in Input, kind string) (Document, error) {
	if mime, _, binary := Binary(in.Type, in.Body); binary {
		if in.Status >= http.StatusBadRequest {
			in.Body, in.Type = nil, ""
			return textual(in, KindText)
		}
		return Document{}, fault.New(fault.Unreadable, fault.Type, "%s holds no text: its type is %s", in.URL, mime)
	}
	text, charset, guessed, err := decode(in.Body, in.Type, false)
	if err != nil {
		return Document{}, err
	}
	var cleaned []Removed
	if in.Options.Clean {
		text, cleaned = Clean(text)
	}
	doc := plainDocument(in, text, kind)
	if kind == KindFeed {
		if feed, ok := feedDocument(in, text); ok {
			doc = feed
		} else {
			doc.Kind = fallbackKind(text)
		}
	}
	doc.Charset = charset
	for _, r := range cleaned {
		doc.warn(r, true)
	}
	doc.warn(charsetWarning(charset), guessed)
	doc.warn(counted(CodeInstructions, InstructionLike(doc.Markdown)))
	cutText(&doc, in.Options.MaxText)
	facts := textFacts(doc)
	if !isLanguageTag(doc.Language) {
		doc.Language = scriptLanguage(facts.Text)
	}
	doc.Hollow, doc.Why = hollowText(in, facts)
	if doc.Excerpt == "" && !isProgramType(mediaType(in.Type)) {
		doc.Excerpt = excerpt(doc.Markdown)
	}
	return doc, nil
}

// plainDocument passes text on as it is, with what can be said about it.
func plainDocument(in Input, text, kind string) Document {
	doc := Document{Markdown: text, Kind: kind}
	switch kind {
	case KindMarkdown:
		describeMarkdown(&doc, in)
	case KindJSON:
		doc.Outline = jsonOutline(text)
	}
	if kind != KindMarkdown {
		doc.Links = bareLinks(text)
	}
	return doc
}

func fallbackKind(text string) string {
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return KindJSON
	}
	return KindXML
}

func charsetWarning(charset string) Removed {
	return Removed{Code: CodeCharset, Count: 1, Message: fmt.Sprintf("the character set was guessed from the bytes: %s", charset)}
}

// cutText cuts Markdown at a character border and keeps the outline and the
// anchors in step.
func cutText(doc *Document, limit int) {
	if limit <= 0 {
		limit = DefaultMaxText
	}
	if len(doc.Markdown) <= limit {
		return
	}
	whole := len(doc.Markdown)
	for limit > 0 && !utf8.RuneStart(doc.Markdown[limit]) {
		limit--
	}
	doc.Markdown, doc.Truncated = doc.Markdown[:limit], true
	kept := doc.Outline[:0]
	for _, s := range doc.Outline {
		if s.Start < limit {
			s.End = min(s.End, limit)
			kept = append(kept, s)
		}
	}
	doc.Outline = kept
	doc.warn(Removed{Code: CodeTruncated, Count: 1, Message: fmt.Sprintf("the text was cut after %d of %d bytes", limit, whole)}, true)
}

// factsWindow bounds the text that the search for hollow pages reads, in bytes.
const factsWindow = 16 << 10

// textFacts describes a document that has no elements.
func textFacts(doc Document) pageFacts {
	text := strings.TrimSpace(doc.Markdown)
	head := text[:min(len(text), factsWindow)]
	return pageFacts{Title: doc.Title, Text: strings.ToValidUTF8(head, ""), TextChars: utf8.RuneCountInString(text), Links: len(doc.Links)}
}

// isProgramType reports whether a type holds rules or code, which say nothing
// about why a page failed.
func isProgramType(mt string) bool {
	return mt == "text/css" || strings.HasSuffix(mt, "javascript") || strings.HasSuffix(mt, "ecmascript") || mt == "application/wasm"
}
