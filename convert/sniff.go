// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// Numbers of the look at bytes.
const (
	// sniffWindow is what the WHATWG MIME Sniffing Standard reads of a resource.
	sniffWindow = 1445
	// dirtyShare is the share of binary bytes, one in this many, from which
	// bytes are no text although their type says so. Broken pages hold a few.
	dirtyShare = 16
	// maxJSONCheck bounds the bytes of a body that is checked for being JSON
	// against its declared type.
	maxJSONCheck = 1 << 20
)

// kindOf says what a text body is made of: one of the Kind constants. The
// declared type counts, except where bytes and type clearly contradict: JSON
// sent as HTML, a feed or a page sent as plain XML, anything sent without a
// type or as octet-stream.
func kindOf(contentType string, body []byte, rawURL string) string {
	mt := mediaType(contentType)
	switch {
	case mt == "text/html":
		if wholeJSON(body) {
			return jsonKind(body)
		}
		return KindHTML
	case mt == "application/xhtml+xml":
		return KindHTML
	case mt == "text/markdown", mt == "text/x-markdown", mt == "text/vnd.daringfireball.markdown":
		return KindMarkdown
	case mt == "application/rss+xml", mt == "application/atom+xml", mt == "application/feed+json", mt == "application/rdf+xml" && looksFeed(body):
		return KindFeed
	case isJSONType(mt):
		return jsonKind(body)
	case mt == "application/xml", mt == "text/xml", strings.HasSuffix(mt, "+xml"):
		return xmlKind(body)
	case mt == "text/plain":
		return plainKind(rawURL)
	case strings.HasPrefix(mt, "text/"):
		return KindText
	}
	return sniffKind(body, rawURL)
}

func isJSONType(mt string) bool {
	switch mt {
	case "application/json", "text/json", "application/x-json", "application/json5", "application/x-ndjson", "application/jsonl", "application/manifest+json":
		return true
	}
	return strings.HasSuffix(mt, "+json")
}

// plainKind knows Markdown by its name: hosts of source code send it as plain text.
func plainKind(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return KindText
	}
	switch strings.ToLower(path.Ext(u.Path)) {
	case ".md", ".markdown", ".mdown", ".mkd", ".mdx":
		return KindMarkdown
	}
	return KindText
}

// sniffKind looks at the bytes of a body that has no telling type.
func sniffKind(body []byte, rawURL string) string {
	start := textStart(body)
	switch {
	case bytes.HasPrefix(start, []byte("<?xml")):
		return xmlKind(body)
	case looksHTML(start):
		return KindHTML
	case looksFeed(body):
		return KindFeed
	case wholeJSON(body):
		return jsonKind(body)
	}
	return plainKind(rawURL)
}

func jsonKind(body []byte) string {
	head := body[:min(len(body), sniffWindow)]
	if bytes.Contains(head, []byte("jsonfeed.org/version/")) {
		return KindFeed
	}
	return KindJSON
}

// xmlKind tells feeds and pages from other XML by the first element.
func xmlKind(body []byte) string {
	switch root := rootElement(body); {
	case root == "html":
		return KindHTML
	case looksFeed(body):
		return KindFeed
	}
	return KindXML
}

// looksFeed reports whether the first element is the root of RSS or Atom.
func looksFeed(body []byte) bool {
	switch rootElement(body) {
	case "rss", "feed":
		return true
	case "rdf":
		return bytes.Contains(body[:min(len(body), sniffWindow)], []byte("purl.org/rss/"))
	}
	return false
}

// rootElement is the local name of the first element in lower case, "" where
// none stands in the part that is looked at.
func rootElement(body []byte) string {
	rest := textStart(body)
	rest = rest[:min(len(rest), 4*sniffWindow)]
	for bytes.HasPrefix(rest, []byte("<")) {
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			rest = after(rest, "-->")
		case bytes.HasPrefix(rest, []byte("<?")):
			rest = after(rest, "?>")
		case bytes.HasPrefix(rest, []byte("<!")):
			rest = afterDoctype(rest)
		default:
			name := rest[1:]
			if end := bytes.IndexAny(name, " \t\r\n/>"); end >= 0 {
				name = name[:end]
			}
			if i := bytes.IndexByte(name, ':'); i >= 0 {
				name = name[i+1:]
			}
			return strings.ToLower(string(name))
		}
		rest = bytes.TrimLeft(rest, " \t\r\n")
	}
	return ""
}

func after(b []byte, end string) []byte {
	_, rest, _ := bytes.Cut(b, []byte(end))
	return rest
}

// afterDoctype skips a document type with its internal subset, unread.
func afterDoctype(b []byte) []byte {
	if i, j := bytes.IndexByte(b, '['), bytes.IndexByte(b, '>'); i >= 0 && i < j {
		return after(b, "]>")
	}
	return after(b, ">")
}

// textStart is the body without a byte order mark and leading blanks; UTF-16
// is narrowed first, so that the signatures below match.
func textStart(body []byte) []byte {
	if name := markCharset(body); strings.HasPrefix(name, "utf-16") || name == "" && looksUTF16(body) {
		body = bytes.ReplaceAll(stripMark(body[:min(len(body), 8*sniffWindow)]), []byte{0}, nil)
	}
	return bytes.TrimLeft(stripMark(body), " \t\r\n\f")
}

// htmlStarts are the signatures of the MIME Sniffing Standard, section 7.1,
// and a few more that open pages without a document type.
func htmlStarts() []string {
	return []string{"<!doctype html", "<html", "<head", "<script", "<iframe", "<h1", "<div", "<font", "<table", "<a", "<style",
		"<title", "<b", "<body", "<br", "<p", "<meta", "<link", "<main", "<article", "<section", "<header", "<h2", "<ul", "<ol"}
}

// looksHTML reports whether text opens like a page.
func looksHTML(start []byte) bool {
	for bytes.HasPrefix(start, []byte("<!--")) {
		start = bytes.TrimLeft(after(start, "-->"), " \t\r\n\f")
	}
	head := strings.ToLower(string(start[:min(len(start), 24)]))
	for _, s := range htmlStarts() {
		if rest, ok := strings.CutPrefix(head, s); ok && (rest == "" || strings.ContainsRune(" \t\r\n\f>/", rune(rest[0]))) {
			return true
		}
	}
	return false
}

// wholeJSON reports whether a body that is not said to be JSON is an object or
// array of JSON from its first to its last byte.
func wholeJSON(body []byte) bool {
	start := textStart(body)
	if len(start) < 2 || start[0] != '{' && start[0] != '[' || len(body) > maxJSONCheck {
		return false
	}
	return json.Valid(bytes.TrimSpace(start))
}

// looksText reports whether bytes can be text: hardly any of them is one that
// text never holds. Bytes over 0x7F may belong to any encoding; the bytes of
// UTF-16 are judged by the characters they make.
func looksText(contentType string, body []byte) bool {
	if looksUTF16(body) || saysUTF16(contentType, body) {
		return true
	}
	head := body[:min(len(body), sniffWindow)]
	return dirtyBytes(head)*dirtyShare <= len(head)
}

// dirtyBytes counts the binary data bytes of the MIME Sniffing Standard.
func dirtyBytes(b []byte) (n int) {
	for _, c := range b {
		if c <= 0x08 || c == 0x0B || within(c, 0x0E, 0x1A) || within(c, 0x1C, 0x1F) {
			n++
		}
	}
	return n
}

// cleanText is looksText without any tolerance: nothing binary, and UTF-8.
func cleanText(body []byte) bool {
	head := body[:min(len(body), sniffWindow)]
	for len(head) > 0 && len(head) < len(body) && !utf8.RuneStart(body[len(head)]) {
		head = head[:len(head)-1] // the window tore a character
	}
	return dirtyBytes(head) == 0 && utf8.Valid(head)
}
