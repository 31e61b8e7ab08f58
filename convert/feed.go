// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
)

// Limits of a feed: what a reader looks at is the newest entries, and a whole
// archive sent as a feed would drown them.
const (
	maxEntries = 500
	maxSummary = 64 << 10 // bytes of HTML in one entry that are converted
)

// feedDocument writes RSS, Atom and JSON feeds as Markdown: the title, then a
// heading with link, date, author and text for each entry. ok is false when the
// text is no feed after all.
func feedDocument(in Input, text string) (doc Document, ok bool) {
	feed, err := gofeed.NewParser().ParseString(withoutDeclaration(text))
	if err != nil || feed == nil {
		return Document{}, false
	}
	w := feedWriter{base: feedBase(in.URL, feed.Link)}
	w.head(feed)
	for i, item := range feed.Items {
		if i == maxEntries {
			fmt.Fprintf(&w.out, "\n%d more entries are left out.\n", len(feed.Items)-maxEntries)
			w.removed = withWarning(w.removed, Removed{Code: CodeTruncated, Count: len(feed.Items) - maxEntries,
				Message: fmt.Sprintf("the first %d of %d entries of the feed are shown", maxEntries, len(feed.Items))})
			break
		}
		w.entry(item)
	}
	markdown, counts := cleanInvisible(w.out.String())
	doc = Document{Kind: KindFeed, Markdown: markdown, Title: oneLine(feed.Title), Language: feed.Language,
		Links: w.links.links, Outline: outlineOf(markdown), Removed: w.removed}
	for _, r := range invisibleWarnings(counts) {
		doc.warn(r, true)
	}
	if len(feed.Authors) > 0 {
		doc.Byline = oneLine(feed.Authors[0].Name)
	}
	doc.Published = first(feedDay(feed.Updated, feed.UpdatedParsed), feedDay(feed.Published, feed.PublishedParsed))
	return doc, true
}

// feedDay is the day of a date as the feed writes it; the parser of feeds reads
// more forms, but moves them to another zone.
func feedDay(written string, parsed *time.Time) string {
	if day := parseDate(written); day != "" || parsed == nil {
		return day
	}
	return parsed.Format(time.DateOnly)
}

// withoutDeclaration drops the XML declaration: the text is UTF-8 by now, and
// a parser that believed the declaration would decode it a second time.
func withoutDeclaration(text string) string {
	rest := strings.TrimLeft(text, " \t\r\n")
	if strings.HasPrefix(rest, "<?xml") {
		if _, body, ok := strings.Cut(rest, "?>"); ok {
			return body
		}
	}
	return text
}

func feedBase(page, site string) *url.URL {
	for _, raw := range []string{page, site} {
		if u, err := url.Parse(raw); err == nil && u.IsAbs() {
			return u
		}
	}
	return &url.URL{}
}

// A feedWriter writes one feed as Markdown.
type feedWriter struct {
	base    *url.URL
	out     strings.Builder
	links   linkList
	removed []Removed
}

func (w *feedWriter) head(feed *gofeed.Feed) {
	title := oneLine(feed.Title)
	if title == "" {
		title = "Feed"
	}
	fmt.Fprintf(&w.out, "# %s\n", escapeLine(title))
	if link := w.address(feed.Link); link != "" {
		fmt.Fprintf(&w.out, "\n<%s>\n", link)
	}
	w.text(feed.Description)
}

func (w *feedWriter) entry(item *gofeed.Item) {
	title := escapeLine(oneLine(visibleText(item.Title)))
	link := w.address(item.Link)
	if title == "" {
		title = "Entry"
	}
	if link != "" {
		title = fmt.Sprintf("[%s](%s)", title, link)
	}
	fmt.Fprintf(&w.out, "\n## %s\n", title)
	if line := entryLine(item); line != "" {
		fmt.Fprintf(&w.out, "\n%s\n", line)
	}
	if strings.TrimSpace(item.Description) != "" {
		w.text(item.Description)
	} else {
		w.text(item.Content)
	}
	for _, e := range item.Enclosures {
		if link := w.address(e.URL); link != "" {
			fmt.Fprintf(&w.out, "\n[%s](%s)\n", escapeLine(oneLine("Enclosure "+e.Type)), link)
		}
	}
}

// entryLine is date and author as the feed writes them.
func entryLine(item *gofeed.Item) string {
	var parts []string
	date := item.Published
	if date == "" {
		date = item.Updated
	}
	if date = oneLine(date); date != "" {
		parts = append(parts, escapeLine(date))
	}
	for _, a := range item.Authors {
		if name := oneLine(a.Name); name != "" {
			parts = append(parts, escapeLine(name))
		}
	}
	return strings.Join(parts, " · ")
}

// text writes the HTML or plain text of an entry as Markdown of its own.
func (w *feedWriter) text(s string) {
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	if len(s) > maxSummary {
		s = strings.ToValidUTF8(s[:maxSummary], "") + " …"
	}
	doc, err := Markdown(Input{Body: []byte("<!doctype html><body><article>" + s + "</article>"), Type: "text/html; charset=utf-8",
		URL: w.base.String(), Options: Options{Full: true}})
	body := strings.TrimSpace(doc.Markdown)
	if err != nil || body == "" {
		body = escapeLine(strings.Join(strings.Fields(visibleText(s)), " "))
	}
	for _, r := range doc.Removed {
		w.note(r)
	}
	for _, link := range doc.Links {
		if u, err := url.Parse(link); err == nil {
			w.links.add(u)
		}
	}
	fmt.Fprintf(&w.out, "\n%s\n", demoted(body))
}

// note adds up the warnings of the entries. What makes a page short is no news
// about an entry.
func (w *feedWriter) note(r Removed) {
	if r.Code == CodeBoilerplate || r.Code == CodeInstructions {
		return
	}
	w.removed = withWarning(w.removed, r)
}

// address is a link made absolute and remembered, "" for one that no reader
// may follow.
func (w *feedWriter) address(raw string) string {
	ref, err := w.base.Parse(strings.TrimSpace(raw))
	if err != nil || ref.Scheme != "http" && ref.Scheme != "https" || ref.Host == "" {
		return ""
	}
	w.links.add(ref)
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20").Replace(ref.String())
}

// demoted puts the headings of an entry below the heading of the entry itself.
func demoted(markdown string) string {
	sections := outlineOf(markdown)
	for i := len(sections) - 1; i >= 0; i-- {
		if at := sections[i].Start; strings.HasPrefix(markdown[at:], "#") {
			more := min(2, 6-sections[i].Level)
			markdown = markdown[:at] + strings.Repeat("#", more) + markdown[at:]
		}
	}
	return markdown
}

// oneLine is text cleaned and on one line.
func oneLine(s string) string {
	s, _ = cleanInvisible(s)
	return strings.Join(strings.Fields(s), " ")
}

// escapeLine writes plain text as Markdown that shows it.
func escapeLine(s string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "#", `\#`).Replace(s)
}
