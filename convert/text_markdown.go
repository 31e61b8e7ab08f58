// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"net/url"
	"regexp"
	"strings"
	"time"
)

// maxFrontMatter bounds the block of settings at the head of Markdown.
const maxFrontMatter = 16 << 10

// describeMarkdown reads title, outline, links and the settings at the head of
// Markdown that the server sent. The text itself stays as it is.
func describeMarkdown(doc *Document, in Input) {
	switch mediaType(in.Type) {
	case "text/markdown", "text/x-markdown", "text/vnd.daringfireball.markdown":
		doc.Native = true
	}
	doc.Outline = outlineOf(doc.Markdown)
	settings := frontMatter(doc.Markdown)
	doc.Title = settings["title"]
	doc.Byline = settings["author"]
	doc.Language = settings["lang"]
	doc.Published = settledDate(settings["date"])
	for _, s := range doc.Outline {
		if doc.Title != "" {
			break
		}
		doc.Title = s.Title
	}
	doc.Title, _ = Clean(doc.Title)
	doc.Byline, _ = Clean(doc.Byline)
	doc.Links = markdownLinks(doc.Markdown, in.URL)
}

// frontMatterEnd is the offset behind a block of settings between lines of
// three dashes at the very beginning, 0 for none.
func frontMatterEnd(text string) int {
	if !strings.HasPrefix(text, "---\n") && !strings.HasPrefix(text, "---\r\n") {
		return 0
	}
	head := text[:min(len(text), maxFrontMatter)]
	for _, end := range []string{"\n---\n", "\n---\r\n", "\n...\n"} {
		if i := strings.Index(head[3:], end); i >= 0 {
			return 3 + i + len(end)
		}
	}
	return 0
}

var settingLine = regexp.MustCompile(`^(title|author|date|lang|language):[ \t]*(\S.*)$`)

// frontMatter reads the settings that a document has a place for: one line
// each, with or without quotes. It is not a YAML parser on purpose.
func frontMatter(text string) map[string]string {
	settings := map[string]string{}
	for line := range strings.Lines(text[:frontMatterEnd(text)]) {
		m := settingLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || strings.ContainsAny(m[2][:1], "|>[{&*") {
			continue
		}
		value := m[2]
		if q := value[0]; (q == '"' || q == '\'') && len(value) > 1 && value[len(value)-1] == q {
			value = value[1 : len(value)-1]
		}
		key := strings.Replace(m[1], "language", "lang", 1)
		if settings[key] == "" {
			settings[key] = strings.TrimSpace(value)
		}
	}
	return settings
}

// settledDate is the day of a date that begins like one of RFC 3339, "" for
// anything else.
func settledDate(s string) string {
	if len(s) >= 10 {
		if t, err := time.Parse(time.DateOnly, s[:10]); err == nil && (len(s) == 10 || s[10] == ' ' || s[10] == 'T') {
			return t.Format(time.DateOnly)
		}
	}
	return ""
}

// Links of a text that is passed on, at most.
const maxTextLinks = 5000

var (
	inlineLink = regexp.MustCompile(`\]\(\s*<?([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)>?`)
	definition = regexp.MustCompile(`(?m)^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*<?([^\s<>]+)>?`)
	bareLink   = regexp.MustCompile(`https?:(?:\\?/){2}[^\s<>"'\x60\\^{}|\[\]\x00-\x1F]+(?:\\/[^\s<>"'\x60\\^{}|\[\]\x00-\x1F]*)*`)
)

// markdownLinks lists the addresses of Markdown, absolute, without duplicates:
// of links and definitions first, then those that stand bare in the text.
func markdownLinks(text, base string) []string {
	root, err := url.Parse(base)
	if err != nil {
		root = &url.URL{}
	}
	var list linkList
	for _, pattern := range []*regexp.Regexp{inlineLink, definition} {
		for _, m := range pattern.FindAllStringSubmatch(text, maxTextLinks) {
			if ref, err := root.Parse(m[1]); err == nil {
				list.add(ref)
			}
		}
	}
	list.addBare(text)
	return list.links
}

// bareLinks lists the http and https addresses that stand in a text.
func bareLinks(text string) []string {
	var list linkList
	list.addBare(text)
	return list.links
}

// A linkList keeps addresses in order, each once.
type linkList struct {
	links []string
	seen  map[string]bool
}

func (l *linkList) add(u *url.URL) {
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(l.links) >= maxTextLinks {
		return
	}
	link := u.String()
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	if !l.seen[link] {
		l.seen[link] = true
		l.links = append(l.links, link)
	}
}

func (l *linkList) addBare(text string) {
	if !strings.Contains(text, "http") {
		return
	}
	for _, raw := range bareLink.FindAllString(text, maxTextLinks) {
		raw = strings.TrimRight(strings.ReplaceAll(raw, `\/`, "/"), ".,;:!?*_")
		for strings.HasSuffix(raw, ")") && strings.Count(raw, ")") > strings.Count(raw, "(") {
			raw = strings.TrimSuffix(raw, ")")
		}
		if u, err := url.Parse(raw); err == nil {
			l.add(u)
		}
	}
}
