// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"
	"time"

	"golang.org/x/net/html/atom"
)

// published finds the day of a page, as an RFC 3339 full-date. It takes only what the page itself marks as its date and never reads one out of
// running text. sure is false where a page shows several dates and marks none:
// an index, a forum.
func published(t *tree, m metadata) (date string, sure bool) {
	for _, d := range m.data {
		if d.isWork() {
			if date := parseDate(d.text("datePublished")); date != "" {
				return date, true
			}
		}
	}
	for _, name := range []string{"article:published_time", "og:published_time", "datepublished", "citation_publication_date", "citation_date",
		"dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date", "dcterms.date", "date", "pubdate", "publishdate", "publish-date",
		"parsely-pub-date", "sailthru.date", "article.published"} {
		if date := parseDate(m.named[name]); date != "" {
			return date, true
		}
	}
	for _, d := range m.data {
		if d.is("WebPage", "ItemPage", "AboutPage", "FAQPage") {
			if date := parseDate(d.text("datePublished")); date != "" {
				return date, true
			}
		}
	}
	return timeElements(t)
}

// maxTimes bounds the time elements that are looked at.
const maxTimes = 200

// timeElements looks at the time elements of the page: one that is marked as
// the date of publication, or the only one in the head of the only article.
func timeElements(t *tree) (date string, sure bool) {
	var dates []string
	marked, seen := "", 0
	articles := 0
	t.any(bodyNode, len(t.nodes), func(i int32) bool {
		if t.is(i, atom.Article) {
			articles++
		}
		if !t.is(i, atom.Time) || outOfText(t, i) {
			return false
		}
		d := parseDate(first(t.get(i, keyDateTime), t.shownText(i, 64)))
		if d == "" {
			return false
		}
		seen++
		if marked == "" && (hasWord(t.get(i, keyItemProp), "datePublished") || t.has(i, keyOther) && strings.Contains(other(t, i), "pubdate") ||
			hasWord(t.get(i, keyClass), "published", "dt-published", "entry-date")) {
			marked = d
		}
		if len(dates) == 0 || dates[len(dates)-1] != d {
			dates = append(dates, d)
		}
		return seen >= maxTimes
	})
	switch {
	case marked != "" && articles <= 1:
		return marked, true
	case len(dates) == 1 && articles <= 1:
		return dates[0], true
	case len(dates) > 1 && articles == 1:
		if d := headDate(t); d != "" {
			return d, true
		}
	}
	return "", len(dates) < 2
}

// outOfText reports whether an element stands where dates of other pages do.
func outOfText(t *tree, i int32) bool {
	for p := t.nodes[i].parent; p != none; p = t.nodes[p].parent {
		switch t.nodes[p].tag {
		case atom.Aside, atom.Nav, atom.Footer:
			return true
		}
	}
	return false
}

// headDate gives the date in the header of the only article.
func headDate(t *tree) string {
	date := ""
	t.any(bodyNode, len(t.nodes), func(i int32) bool {
		if t.is(i, atom.Time) && t.hasAncestor(i, atom.Header) && t.hasAncestor(i, atom.Article) {
			date = parseDate(first(t.get(i, keyDateTime), t.shownText(i, 64)))
		}
		return date != ""
	})
	return date
}

func other(t *tree, i int32) string {
	v, _ := t.attr(i, keyOther)
	return v
}

// parseDate gives the day of a date that is written for machines, or written
// out with the name of the month. It is the day in the zone that the date names,
// never shifted to another. Dates like 03/04/2026 mean two days and are not read.
func parseDate(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 8 || len(s) > 40 {
		return ""
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
		"2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02 15:04",
		"Mon, 2 Jan 2006 15:04:05 MST", "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04 -0700", "2 Jan 2006 15:04:05 -0700", time.RFC850,
		time.DateOnly, "2006/01/02", "2006/1/2", "20060102", "2 January 2006", "January 2, 2006", "2 Jan 2006", "Jan 2, 2006", "Jan. 2, 2006",
		"Monday, January 2, 2006", "Monday, 2 January 2006", "Mon, 2 Jan 2006", "2006年1月2日", "2006.01.02"} {
		if t, err := time.Parse(layout, s); err == nil && plausible(t) {
			return t.Format(time.DateOnly)
		}
	}
	return ""
}

// plausible keeps out placeholders; the web is younger than 1990, papers on it
// are not.
func plausible(t time.Time) bool { return t.Year() >= 1900 && t.Year() <= 2200 && t.Unix() != 0 }
