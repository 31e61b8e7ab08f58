// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"fmt"
	"index/suffixarray"
	"slices"
	"strings"
	"unicode/utf8"
)

// Numbers of the check.
const (
	// saidWords is how many words make quoted text a quotation that must stand on
	// the page; fewer are a term in quotation marks. Wide characters count as
	// a quarter of saidWords each.
	saidWords = 3
	// maxCitations bounds the citations of one reply.
	maxCitations = 40
	notOnPage    = " [not on the page]"
)

// checked is a model's answer after the check.
type checked struct {
	text      string
	citations []Citation
	warnings  []Warning
}

// check holds a model's answer against the page. Quotations that the page does not
// have are marked; quotations and copied stretches from a restricted page are
// cut to the cap; sentences without support are counted. Code blocks and table
// rows are no quotations. seen is the text that the model was given. The time is
// linear in page and answer.
func check(a Ask, seen, text string) checked {
	c := &checker{ask: a, page: newStream(a.Doc.Markdown), limit: quoteCap(a)}
	if !a.Trusted {
		c.copied = newWindows(newStream(seen).text, max(c.limit/2, 20))
	}
	var out strings.Builder
	for _, s := range segments(text) {
		if s.exempt {
			out.WriteString(s.text)
			continue
		}
		out.WriteString(c.prose(s.text))
	}
	c.unsupported = newSupport(seen).missing(text)
	return checked{text: out.String(), citations: c.citations, warnings: c.warnings()}
}

type checker struct {
	ask       Ask
	page      stream
	index     *suffixarray.Index // of page, made when first needed
	copied    windows
	limit     int
	citations []Citation

	cut, missing, links int
	unsupported         []string
}

func (c *checker) warnings() []Warning {
	var w []Warning
	if c.cut > 0 {
		w = append(w, Warning{WarnQuoteCut, fmt.Sprintf("quotations from this page are cut to %d characters", c.limit), c.cut})
	}
	if c.missing > 0 {
		w = append(w, Warning{WarnQuoteMissing, "quoted text does not stand on the page and is marked as such", c.missing})
	}
	if n := len(c.unsupported); n > 0 {
		w = append(w, Warning{WarnUnsupported, fmt.Sprintf("no passage of the page supports: %q", firstChars(c.unsupported[0], 160)), n})
	}
	return w
}

// segment is a part of an answer: prose, or code and table rows.
type segment struct {
	text   string
	exempt bool
}

// segments divides an answer by lines.
func segments(s string) []segment {
	var out []segment
	fence, start := "", 0
	for at := 0; at < len(s); {
		l, next := line(s, at)
		before := fence
		fence = fenceAfter(fence, l)
		t := strings.TrimSpace(l)
		exempt := before != "" || fence != "" || strings.HasPrefix(t, "|") && strings.HasSuffix(t, "|") && len(t) > 1
		if n := len(out); n == 0 || out[n-1].exempt != exempt {
			out = append(out, segment{exempt: exempt})
			start = at
		}
		out[len(out)-1].text = s[start:next]
		at = next
	}
	return out
}

// edit replaces a byte span of a segment.
type edit struct {
	start, end int
	with       string
}

// prose checks one stretch of prose and gives it back as it may be shown.
func (c *checker) prose(s string) string {
	s = apply(s, c.targets(s))
	var edits []edit
	quoted := quotations(s)
	for _, q := range quoted {
		edits = append(edits, c.quotation(s, q)...)
	}
	if !c.ask.Trusted {
		edits = append(edits, c.copies(s, quoted)...)
	}
	return apply(s, edits)
}

// apply makes the edits that do not overlap an earlier one.
func apply(s string, edits []edit) string {
	if len(edits) == 0 {
		return s
	}
	slices.SortStableFunc(edits, func(x, y edit) int { return x.start - y.start })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.start < at {
			continue
		}
		b.WriteString(s[at:e.start])
		b.WriteString(e.with)
		at = e.end
	}
	return b.String() + s[at:]
}

// quote is quoted text inside a segment: start and end without the marks, after
// behind the closing one.
type quote struct{ start, end, after int }

// closing gives the mark that closes a quotation opened by r, 0 for none.
func closing(r rune) rune {
	switch r {
	case '"':
		return '"'
	case '“':
		return '”'
	case '„':
		return '“'
	case '«':
		return '»'
	case '»':
		return '«'
	case '「':
		return '」'
	case '『':
		return '』'
	case '《':
		return '》'
	case '＂':
		return '＂'
	case '〝':
		return '〞'
	}
	return 0
}

// quotations finds what stands in quotation marks, paragraph by paragraph and
// outside code spans.
func quotations(s string) []quote {
	var out []quote
	var want rune
	start := 0
	span := false
	for i, r := range s {
		switch {
		case r == '\n' && (i+1 == len(s) || s[i+1] == '\n'):
			want, span = 0, false
		case r == '`':
			span = !span
		case want != 0:
			if r == want || want == '”' && r == '"' || want == '“' && r == '”' {
				out = append(out, quote{start, i, i + utf8.RuneLen(r)})
				want = 0
			}
		case !span:
			if want = closing(r); want != 0 {
				start = i + utf8.RuneLen(r)
			}
		}
	}
	return out
}

// quotation checks one quotation: it must stand on the page, and a restricted
// page gives at most the cap.
func (c *checker) quotation(s string, q quote) []edit {
	body := s[q.start:q.end]
	words := bare(newStream(body).text)
	var out []edit
	if !c.ask.Trusted && utf8.RuneCountInString(body) > c.limit {
		out = append(out, edit{q.start, q.end, shorten(body, c.limit)})
		c.cut++
	}
	at, found := c.find(words)
	switch {
	case found:
		c.cite(at, at+len(words))
	case many(words):
		c.missing++
		out = append(out, edit{q.after, q.after, notOnPage})
	}
	return out
}

// many reports whether a stream is a quotation rather than a term.
func many(words string) bool {
	wide := 0
	for _, r := range words {
		if cjk(r) {
			wide++
		}
	}
	return strings.Count(strings.TrimSpace(words), " ")+1+wide/4 >= saidWords
}

// find looks for a stream's words on the page.
func (c *checker) find(words string) (int, bool) {
	if strings.TrimSpace(words) == "" {
		return 0, false
	}
	if c.index == nil {
		c.index = suffixarray.New([]byte(c.page.text))
	}
	if at := c.index.Lookup([]byte(words), 1); len(at) > 0 {
		return at[0], true
	}
	return 0, false
}

// bare takes the blanks away that a stream has beside wide characters at its ends:
// there is no end of a word.
func bare(words string) string {
	inner := strings.Trim(words, " ")
	first, _ := utf8.DecodeRuneInString(inner)
	last, _ := utf8.DecodeLastRuneInString(inner)
	if cjk(first) {
		words = strings.TrimLeft(words, " ")
	}
	if cjk(last) {
		words = strings.TrimRight(words, " ")
	}
	return words
}

// cite records where found words stand on the page.
func (c *checker) cite(i, j int) {
	start, end := c.page.span(i, j)
	if len(c.citations) >= maxCitations || end <= start {
		return
	}
	md := c.ask.Doc.Markdown
	if !c.ask.Trusted {
		end = start + len(firstChars(md[start:end], c.limit))
	}
	if !many(c.page.text[i:j]) || slices.ContainsFunc(c.citations, func(x Citation) bool { return x.Start == start && x.End == end }) {
		return
	}
	c.citations = append(c.citations, Citation{Quote: md[start:end], Section: sectionAt(c.ask.Doc, start).ID, Start: start, End: end})
}

// shorten cuts s to at most n characters, the ellipsis counted, at a blank where
// one is near.
func shorten(s string, n int) string {
	head := firstChars(s, n-1)
	if i := strings.LastIndexAny(head, " \n"); i > len(head)*2/3 {
		head = head[:i]
	}
	return strings.TrimRight(head, " \n") + "…"
}

// copies cuts stretches outside quotation marks that the page has word for word
// and that are longer than the cap.
func (c *checker) copies(s string, quoted []quote) []edit {
	var out []edit
	words := newStream(s)
	for _, run := range c.copied.shared(words.text) {
		start, end := words.span(run[0], run[1])
		for start < end && !utf8.RuneStart(s[start]) {
			start++
		}
		for _, piece := range outside(start, end, quoted) {
			if utf8.RuneCountInString(s[piece[0]:piece[1]]) > c.limit {
				out = append(out, edit{piece[0], piece[1], shorten(s[piece[0]:piece[1]], c.limit)})
				c.cut++
			}
		}
	}
	return out
}

// outside gives the parts of a span that are in no quotation. Quotations are in
// order.
func outside(start, end int, quoted []quote) [][2]int {
	var out [][2]int
	i, _ := slices.BinarySearchFunc(quoted, start, func(q quote, at int) int { return q.after - at })
	for ; i < len(quoted) && quoted[i].start < end; i++ {
		if quoted[i].start > start {
			out = append(out, [2]int{start, min(end, quoted[i].start)})
		}
		start = max(start, quoted[i].after)
	}
	if start < end {
		out = append(out, [2]int{start, end})
	}
	return out
}

// targets takes the targets of links and images away that the page does not have:
// an address made up by a model can carry text of the page to a stranger.
func (c *checker) targets(s string) []edit {
	var out []edit
	for i := strings.Index(s, "]("); i >= 0; {
		n := linkEnd(clip(s[i+1:], maxTarget))
		if n > 2 {
			target, _, _ := strings.Cut(strings.Trim(s[i+2:i+n], " <>"), " ")
			if target = strings.Trim(target, "<>"); target != "" && !strings.HasPrefix(target, "#") && !c.hasTarget(target) {
				out = append(out, edit{i + 1, i + 1 + n, ""})
				c.links++
			}
		}
		next := strings.Index(s[i+1:], "](")
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return out
}

func (c *checker) hasTarget(target string) bool {
	const tries = 200 // addresses looked for; more in one answer are not believed
	return c.links < tries && strings.Contains(c.ask.Doc.Markdown, target) || target == c.ask.Doc.URL
}
