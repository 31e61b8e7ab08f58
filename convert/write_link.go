// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"
)

// linker resolves the addresses of a page and remembers them.
type linker struct {
	base, page *url.URL // what addresses are relative to; the page itself
	refs       []ref
	index      map[int32]int32 // a element → its place in refs plus 1
	images     []string        // addresses of images, "" for none
	all        []string        // absolute addresses in the order of the text
	seen       map[string]bool
	ends       []ref          // numbered addresses, for LinksEnd
	numbers    map[string]int // address and title → number
}

// ref is the target of a link.
type ref struct {
	dest, title string
	number      int // in the list at the end, 0 for not used yet
}

func newLinker(t *tree, pageURL string) *linker {
	l := &linker{index: map[int32]int32{}, seen: map[string]bool{}}
	l.page, _ = url.Parse(pageURL)
	if l.page == nil {
		l.page = &url.URL{}
	}
	l.base = l.page
	for i := range t.nodes {
		if t.nodes[i].tag != atom.Base {
			continue
		}
		if href, ok := t.attr(int32(i), keyHref); ok {
			// Only the first counts (WHATWG 4.2.3), and only one that leads to the web.
			if u, err := l.page.Parse(strings.TrimSpace(href)); err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "") {
				l.base = u
			}
			break
		}
	}
	return l
}

// resolve makes an address absolute and fit for Markdown. A place on the same
// page stays a bare fragment. It reports false for an address that leads
// nowhere a reader can go: scripts, data, files, nonsense.
func (l *linker) resolve(href string) (string, bool) {
	href = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.TrimSpace(href))
	u, err := l.base.Parse(href)
	if err != nil {
		if u, err = l.base.Parse(mendPercent(href)); err != nil {
			return "", false
		}
	}
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" {
			return "", false
		}
	case "mailto", "tel", "ftp", "sms", "xmpp", "irc", "geo", "doi", "magnet":
	case "":
		if l.base.Scheme != "" {
			return "", false
		}
	default:
		return "", false
	}
	if u.Fragment != "" && l.samePage(u) {
		return destination("#" + u.EscapedFragment()), true
	}
	return destination(u.String()), true
}

func (l *linker) samePage(u *url.URL) bool {
	return u.Scheme == l.page.Scheme && u.Host == l.page.Host && u.Path == l.page.Path && u.RawQuery == l.page.RawQuery
}

// mendPercent encodes percent signs that begin no escape.
func mendPercent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if b.WriteByte(s[i]); s[i] == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])) {
			b.WriteString("25")
		}
	}
	return b.String()
}

// destination encodes what would end a link destination (CommonMark 6.3) or a
// table cell early.
func destination(s string) string {
	if !strings.ContainsAny(s, " <>()|\\\"`*_") {
		return s
	}
	balanced := balancedParens(s)
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '(' && !balanced:
			b.WriteString("%28")
		case c == ')' && !balanced:
			b.WriteString("%29")
		case strings.IndexByte(" <>|\\\"`", c) >= 0:
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c), 16)))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func balancedParens(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 || depth > 3 {
			return false
		}
	}
	return depth == 0
}

// note remembers an address for Document.Links.
func (l *linker) note(dest string) {
	if strings.HasPrefix(dest, "http") && !l.seen[dest] && len(l.all) < maxLinks {
		l.seen[dest] = true
		l.all = append(l.all, dest)
	}
}

// anchor writes an a element.
func (w *writer) anchor(i int32, c context) {
	href, ok := w.t.attr(i, keyHref)
	if !ok {
		w.children(i, c)
		return
	}
	if w.isPermalink(i, href) {
		return
	}
	if label := w.notes.marks[i]; label != "" {
		w.para.put(rawRun, "[^"+label+"]", run{style: c.style &^ (sup | sub)})
		return
	}
	dest, ok := w.links.resolve(href)
	if !ok || w.mode == inHeading && strings.HasPrefix(dest, "#") {
		w.children(i, c)
		return
	}
	w.links.refs = append(w.links.refs, ref{dest: dest, title: w.linkTitle(i)})
	link := int32(len(w.links.refs))
	w.links.index[i] = link
	c.link = link
	if w.opt.Links == LinksNone {
		c.link = 0
	}
	before := len(w.para.runs)
	w.children(i, c)
	if len(w.para.runs) > before || w.opt.Links == LinksNone || w.t.node(i).mark&markBlock != 0 {
		w.links.note(dest)
	}
}

// linkTitle gives the title of a link where it says more than its text.
func (w *writer) linkTitle(i int32) string {
	title := strings.Join(strings.Fields(w.t.get(i, keyTitle)), " ")
	if title == "" || len(title) > 300 {
		return ""
	}
	a, b := letters(title), letters(w.t.shownText(i, 400))
	if a == "" || b == "" || strings.Contains(a, b) || strings.Contains(b, a) {
		return ""
	}
	return title
}

// letters folds a text to its letters and digits, to compare two texts.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if isWordRune(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// isPermalink reports whether a link in a heading or a term only leads to its
// own place: a sign shown on hover, not a part of the text.
func (w *writer) isPermalink(i int32, href string) bool {
	if !strings.Contains(href, "#") {
		return false
	}
	text := strings.TrimSpace(w.t.shownText(i, 64))
	if text == "" || isPlaceSign(text) {
		if text != "" && !hasWord(w.t.get(i, keyClass), "headerlink", "anchor", "hash-link", "permalink", "header-anchor", "headinglink", "heading-link", "anchor-link", "anchorjs-link", "self-link") {
			return w.mode == inHeading || w.t.hasAncestor(i, atom.Dt)
		}
		return w.t.node(i).mark&markText == 0 || text != ""
	}
	return len(text) <= 4 && hasWord(w.t.get(i, keyClass), "headerlink", "hash-link", "permalink", "header-anchor")
}

// isPlaceSign reports whether the text of a link is one of the signs for a link
// to its own place.
func isPlaceSign(text string) bool {
	switch text {
	case "¶", "#", "§", "🔗", "⚓", "∞", "link", "Link", "anchor":
		return true
	}
	return false
}

// hasWord reports whether a class attribute holds one of the words.
func hasWord(class string, words ...string) bool {
	if class == "" {
		return false
	}
	for f := range strings.FieldsSeq(class) {
		for _, word := range words {
			if strings.EqualFold(f, word) {
				return true
			}
		}
	}
	return false
}

// openLink opens the link of run k.
func (e *emitter) openLink(k, _ int) {
	r := e.p.runs[k]
	target := &e.w.links.refs[r.link-1]
	e.dst = append(e.dst, '[')
	end := "](" + target.dest
	if target.title != "" {
		end += ` "` + quotedTitle(target.title, e.mode) + `"`
	}
	end += ")"
	if e.w.opt.Links == LinksEnd {
		end = "][" + strconv.Itoa(e.w.links.number(target)) + "]"
	}
	e.open = append(e.open, opened{link: r.link, close: end})
}

// autolink writes a link whose text is its address in the short form.
func (e *emitter) autolink(k int) bool {
	r := e.p.runs[k]
	if r.link == 0 || r.kind != plainRun || r.style != 0 || e.linkOpen(r.link) || int(e.linkTo[k]) != k+1 || e.w.opt.Links == LinksEnd {
		return false
	}
	target := e.w.links.refs[r.link-1]
	if target.title != "" || target.dest != e.p.at(k) || !strings.Contains(target.dest, "://") {
		return false
	}
	e.dst = append(e.dst, "<"+target.dest+">"...)
	return true
}

func quotedTitle(s string, m mode) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
	if m == inCell {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	return s
}

// number gives a link its place in the list at the end; the same address gets
// the same number.
func (l *linker) number(target *ref) int {
	if target.number > 0 {
		return target.number
	}
	key := target.dest + "\x00" + target.title
	if l.numbers == nil {
		l.numbers = map[string]int{}
	}
	if l.numbers[key] == 0 {
		l.numbers[key] = len(l.numbers) + 1
		l.ends = append(l.ends, *target)
	}
	target.number = l.numbers[key]
	return target.number
}

// linkList writes the numbered addresses at the end of the document.
func (w *writer) linkList() {
	for k, target := range w.links.ends {
		w.begin(k > 0)
		w.out = append(w.out, "["+strconv.Itoa(k+1)+"]: "+target.dest...)
		if target.title != "" {
			w.out = append(w.out, ` "`+quotedTitle(target.title, inParagraph)+`"`...)
		}
	}
}
