// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"
)

// maxMeta bounds a title, a name or a date taken from a page, in bytes.
const maxMeta = 500

// metadata is what the head of a page and its data say about it.
type metadata struct {
	named map[string]string // meta elements by name, property or itemprop, in lower case
	data  []linkedData      // JSON-LD objects
	title string            // of the title element
	lang  string
	canon string
}

// describe fills in what a page says about itself: title, author, language,
// date, site, canonical address.
func describe(doc *Document, t *tree, links *linker) {
	m := readMeta(t)
	doc.Title = clip(oneLine(first(titleOf(t, m), m.named["og:title"], m.named["twitter:title"], m.title)), maxMeta)
	doc.Byline = clip(oneLine(m.byline()), maxMeta)
	doc.Site = clip(oneLine(first(m.named["og:site_name"], m.named["application-name"], m.site())), maxMeta)
	doc.Language = language(t, m)
	if m.canon != "" {
		if dest, ok := links.resolve(m.canon); ok && strings.HasPrefix(dest, "http") {
			doc.Canonical = dest
		}
	}
	var sure bool
	if doc.Published, sure = published(t, m); !sure {
		doc.warn(Removed{Code: CodeDate, Count: 1,
			Message: "the page shows several dates and does not say which one is its own"}, true)
	}
}

func first(values ...string) string {
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func readMeta(t *tree) metadata {
	m := metadata{named: map[string]string{}}
	for i := range t.nodes {
		n := int32(i)
		switch t.nodes[i].tag {
		case atom.Meta:
			for _, key := range []attrKey{keyProperty, keyName, keyItemProp, keyHTTPEquiv} {
				name := strings.ToLower(strings.TrimSpace(t.get(n, key)))
				if value := strings.TrimSpace(t.get(n, keyContent)); name != "" && value != "" && m.named[name] == "" && len(m.named) < 500 {
					m.named[name] = value
				}
			}
		case atom.Title:
			if m.title == "" && !t.hasAncestor(n, atom.Svg) {
				m.title = t.rawText(n, 4*maxMeta)
			}
		case atom.Link:
			if m.canon == "" && hasWord(t.get(n, keyRel), "canonical") {
				m.canon = t.get(n, keyHref)
			}
		case atom.Script:
			if strings.Contains(strings.ToLower(t.get(n, keyType)), "ld+json") && t.nodes[i].first != none {
				m.data = append(m.data, parseLinked(t.content(t.nodes[i].first))...)
			}
		}
	}
	m.lang = t.get(rootNode, keyLang)
	return m
}

// titleOf chooses between the first heading and the title element. A page with
// one h1 is called by it; the title element often adds the site's name.
func titleOf(t *tree, m metadata) string {
	h1, count := "", 0
	t.any(bodyNode, len(t.nodes), func(i int32) bool {
		if t.is(i, atom.H1) && !isSiteName(t, i) {
			if text := headingText(t, i); text != "" {
				h1 = first(h1, text)
				count++
			}
		}
		return count > 1
	})
	title := oneLine(m.title)
	switch {
	case title == "":
		return h1
	case count == 1 && (strings.Contains(letters(title), letters(h1)) || len(h1) > 12 && strings.Contains(letters(h1), letters(title))):
		return h1
	}
	return title
}

// headingText gives the words of a heading without the sign of a link to its
// own place.
func headingText(t *tree, i int32) string {
	text := strings.TrimSpace(t.shownText(i, 2*maxMeta))
	t.any(i, nearby, func(j int32) bool {
		href := t.get(j, keyHref)
		if !t.is(j, atom.A) || !strings.HasPrefix(href, "#") {
			return false
		}
		switch sign := strings.TrimSpace(t.shownText(j, 64)); {
		case !isPlaceSign(sign):
		case t.nodes[i].first == j:
			text = strings.TrimSpace(strings.TrimPrefix(text, sign))
		default:
			text = strings.TrimSpace(strings.TrimSuffix(text, sign))
		}
		return false
	})
	return text
}

// byline finds the author's name.
func (m *metadata) byline() string {
	for _, d := range m.data {
		if a := d.author(); a != "" && d.isWork() {
			return a
		}
	}
	for _, name := range []string{"author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author", "sailthru.author"} {
		if v := m.named[name]; v != "" && !strings.HasPrefix(v, "http") && !strings.HasPrefix(v, "/") {
			return strings.TrimPrefix(v, "@")
		}
	}
	return ""
}

func (m *metadata) site() string {
	for _, d := range m.data {
		if d.isWork() && d.publisher() != "" {
			return d.publisher()
		}
	}
	for _, d := range m.data {
		if d.is("WebSite") && d.text("name") != "" {
			return d.text("name")
		}
	}
	return ""
}

// language gives the declared language of a page, or a guess from its script
// where the script belongs to one language.
func language(t *tree, m metadata) string {
	for _, tag := range []string{m.lang, t.get(bodyNode, keyLang), m.named["content-language"], m.named["og:locale"], m.named["language"]} {
		tag, _, _ = strings.Cut(strings.ReplaceAll(strings.TrimSpace(tag), "_", "-"), ",")
		if isLanguageTag(tag) {
			return tag
		}
	}
	return scriptLanguage(t.shownText(bodyNode, 4000))
}

// isLanguageTag checks the shape of a tag of BCP 47.
func isLanguageTag(tag string) bool {
	if len(tag) < 2 || len(tag) > 35 {
		return false
	}
	for k, part := range strings.Split(tag, "-") {
		if len(part) == 0 || len(part) > 8 || k == 0 && len(part) > 3 {
			return false
		}
		for _, r := range part {
			if r > 0x7f || !isWordRune(r) || k == 0 && unicode.IsDigit(r) {
				return false
			}
		}
	}
	return true
}

// scriptLanguage guesses a language from the script of a text. Scripts that
// several large languages share give none.
func scriptLanguage(text string) string {
	scripts := []struct {
		table    *unicode.RangeTable
		language string
	}{
		{unicode.Hiragana, "ja"}, {unicode.Katakana, "ja"}, {unicode.Hangul, "ko"}, {unicode.Han, "zh"}, {unicode.Thai, "th"},
		{unicode.Greek, "el"}, {unicode.Hebrew, "he"}, {unicode.Georgian, "ka"}, {unicode.Armenian, "hy"}, {unicode.Tamil, "ta"},
		{unicode.Telugu, "te"}, {unicode.Kannada, "kn"}, {unicode.Malayalam, "ml"}, {unicode.Khmer, "km"}, {unicode.Lao, "lo"},
	}
	counts, all := make([]int, len(scripts)), 0
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		all++
		if r < 0x370 {
			continue
		}
		for k, s := range scripts {
			if unicode.Is(s.table, r) {
				counts[k]++
				break
			}
		}
	}
	if all < 20 {
		return ""
	}
	kana := counts[0] + counts[1]
	if kana*20 > all { // Japanese mixes kana with Han
		return "ja"
	}
	for k, s := range scripts[2:] {
		if counts[k+2]*2 > all {
			return s.language
		}
	}
	return ""
}
