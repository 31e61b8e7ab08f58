// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// isBoilerplate reports whether a part is a menu, a site's head or foot, a
// banner or the like. Elements and roles are believed; names of classes only
// with a second witness, since they lie: paragraphs called header, headings
// called anchor.
func (c *chooser) isBoilerplate(i int32) bool {
	s := c.stats[i]
	switch c.t.nodes[i].tag {
	case atom.Nav:
		return !c.isContents(i, s)
	case atom.Footer:
		return !c.within(i) || s.density() > dense
	case atom.Header:
		return !c.within(i) && !c.holdsHeading(i)
	case atom.Aside:
		return c.isAside(i, s)
	case atom.Dialog:
		return !c.holdsHeading(i) && s.letters < shortTitle
	}
	switch strings.ToLower(strings.TrimSpace(c.t.get(i, keyRole))) {
	case "navigation", "search", "menubar", "menu", "toolbar":
		return !c.isContents(i, s)
	case "banner":
		return !c.holdsHeading(i)
	case "contentinfo":
		return !c.within(i)
	case "complementary":
		return c.isAside(i, s)
	case "alertdialog", "dialog":
		return s.letters < 2*shortTitle
	}
	return c.isNamedSo(i, s)
}

// isContents reports whether a nav holds so much running text that it is no menu.
func (c *chooser) isContents(_ int32, s stat) bool {
	return s.own() > 2*shortTitle && s.density() < halfDense
}

// within reports whether a part stands inside an article or the main element.
func (c *chooser) within(i int32) bool {
	for p := c.t.nodes[i].parent; p != none; p = c.t.nodes[p].parent {
		if c.isMain(p) || c.t.is(p, atom.Article) || c.t.is(p, atom.Blockquote) || c.t.is(p, atom.Figure) {
			return true
		}
	}
	return false
}

func (c *chooser) holdsHeading(i int32) bool { return c.holds[i]&holdsTitle != 0 }

// isAside tells a side column from a note that belongs to the text.
func (c *chooser) isAside(i int32, s stat) bool {
	within := c.within(i)
	for _, word := range nameWords(c.t, i) {
		switch word {
		case "footnote", "footnotes": // the notes are listed beside the text that refers to them
			return false
		}
		if !within {
			continue
		}
		switch word {
		case "note", "admonition", "callout", "tip", "warning", "info", "hint", "alert", "caution", "pullquote", "sidenote", "marginnote", "example":
			return false
		}
	}
	return !within || s.density() > halfDense
}

// isNamedSo goes by the words in class and id of a container.
func (c *chooser) isNamedSo(i int32, s stat) bool {
	switch tag := c.t.nodes[i].tag; tag {
	case atom.Div, atom.Section, atom.Ul, atom.Ol, atom.Form, atom.Table, atom.Td, atom.A, atom.Span, atom.P, 0:
		if tag == atom.P || tag == atom.Span || tag == atom.A {
			return c.isSkipLink(i, s) || hasWord(c.t.get(i, keyClass), "mw-editsection", "viewcode-back", "viewcode-link")
		}
	default:
		return false
	}
	if c.isHeadRow(i, s) {
		return true
	}
	for k, word := range nameWords(c.t, i) {
		switch word {
		case "cookie", "cookies", "cookiebar", "gdpr", "onetrust", "cookiebot", "consent", "cookieconsent":
			return s.letters < 2*smallPage && !c.holdsHeading(i)
		case "nav", "navbar", "navigation", "menu", "breadcrumb", "breadcrumbs", "sidebar", "sidenav", "topbar", "toolbar", "pagination", "pager",
			"share", "sharing", "social", "related", "recommended", "recommendations", "footer", "masthead", "sphinxsidebar", "toc", "tags",
			"navbox", "catlinks", "lang", "languages", "printfooter", "docnav", "navheader", "navfooter", "picker":
			if isLinks(s) {
				return true
			}
		case "newsletter", "subscribe", "signup", "promo", "advert", "advertisement", "ads", "sponsor", "sponsored", "paywall", "popup", "modal":
			if s.letters < shortTitle && !c.holdsHeading(i) && s.links > 0 {
				return true
			}
		case "header":
			if k == 0 && s.density() > dense && s.letters < shortTitle && !c.holdsHeading(i) {
				return true
			}
		}
	}
	return false
}

// lettersPerLink is how much a menu says beside each of its links: a number, a
// version, a mark.
const lettersPerLink = 12

// isLinks reports whether a part holds links and little else: words in links,
// or nothing but links on pictures.
func isLinks(s stat) bool {
	return s.density() > halfDense && s.own() < shortTitle || s.density() > dense && s.own() < lettersPerLink*s.links ||
		s.letters == 0 && s.links > 0
}

// isHeadRow reports whether a table is the head of a site from before there
// were elements for it: the first thing on the page, and links alone.
func (c *chooser) isHeadRow(i int32, s stat) bool {
	if !c.t.is(i, atom.Table) || c.t.nodes[i].parent != bodyNode || s.links < 3 || s.own() > 0 || s.letters > shortTitle || s.blocks > 3 {
		return false
	}
	for ch := c.t.nodes[bodyNode].first; ch != i; ch = c.t.nodes[ch].next {
		if c.stats[ch].letters > 0 {
			return false
		}
	}
	return true
}

// isSkipLink reports whether a link only leads past a menu.
func (c *chooser) isSkipLink(i int32, s stat) bool {
	if !c.t.is(i, atom.A) || s.letters > 60 || !strings.HasPrefix(c.t.get(i, keyHref), "#") {
		return false
	}
	for _, word := range nameWords(c.t, i) {
		if word == "skip" || word == "skiplink" || word == "skipnav" {
			return true
		}
	}
	text := strings.ToLower(c.t.shownText(i, 100))
	return strings.HasPrefix(text, "skip to ") || strings.HasPrefix(text, "jump to content")
}

// maxNameWords bounds the words read from class and id.
const maxNameWords = 24

// nameWords gives the words in id and class in lower case: "site-nav_top" is
// site, nav, top.
func nameWords(t *tree, i int32) []string {
	name := t.get(i, keyID) + " " + t.get(i, keyClass)
	if len(name) < 3 {
		return nil
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	return words[:min(len(words), maxNameWords)]
}
