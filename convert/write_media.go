// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

func (w *writer) mediaElement(i int32, tag atom.Atom, c context) bool {
	switch tag {
	case atom.Img, atom.Image:
		if !isMathImage(w.t, i) {
			w.picture(i, c)
			return true
		}
	case atom.Iframe, atom.Frame:
		w.frame(i, c)
		return true
	case atom.Video, atom.Audio:
		w.media(i, tag.String(), c)
		return true
	}
	return false
}

// picture adds an image to the paragraph. Where no address is shown, and in a
// link that would have none to show, it is its alternative text, escaped like
// any other text and set off from the words beside it; an image without
// alternative text leaves no trace there.
func (w *writer) picture(i int32, c context) {
	alt := strings.Join(strings.Fields(w.t.get(i, keyAlt)), " ")
	src := ""
	if w.opt.Images {
		src = w.imageSource(i)
		if alt == "" && !w.ownImage(src) {
			return // nothing to read, and its address may carry anything
		}
	}
	set := run{style: c.style &^ (w.mute | code), link: w.live(c.link), span: c.span}
	switch {
	case src != "", w.opt.Images && set.link == 0 && alt != "":
		w.links.images = append(w.links.images, src)
		set.ref = int32(len(w.links.images) - 1)
		w.para.put(imageRun, alt, set)
	case alt != "":
		w.para.caption(alt, set)
	}
}

func (w *writer) ownImage(src string) bool {
	u, err := url.Parse(src)
	return err == nil && src != "" && (u.Host == w.links.page.Host || u.Host == w.links.base.Host)
}

// imageSource chooses the address of the best image that a browser could load:
// a script of the page often puts it in place of a stand-in.
func (w *writer) imageSource(i int32) string {
	for _, key := range []attrKey{keyDataSrc, keyDataOriginal, keyDataLazySrc, keySrc} {
		if dest, ok := w.imageAddress(w.t.get(i, key)); ok {
			return dest
		}
	}
	for _, key := range []attrKey{keySrcset, keyDataSrcset} {
		if dest, ok := w.imageAddress(largest(w.t.get(i, key))); ok {
			return dest
		}
	}
	if p := w.t.nodes[i].parent; w.t.is(p, atom.Picture) {
		for ch := w.t.nodes[p].first; ch != none; ch = w.t.nodes[ch].next {
			if dest, ok := w.imageAddress(largest(w.t.get(ch, keySrcset))); ok && w.t.is(ch, atom.Source) {
				return dest
			}
		}
	}
	return ""
}

func (w *writer) imageAddress(src string) (string, bool) {
	if src = strings.TrimSpace(src); src == "" || src[0] == '#' {
		return "", false
	}
	dest, ok := w.links.resolve(src)
	if !ok || strings.HasPrefix(dest, "mailto:") {
		return "", false
	}
	return dest, true
}

// largest picks the candidate with the largest descriptor of a srcset.
func largest(srcset string) string {
	best, size := "", -1.0
	for part := range strings.SplitSeq(srcset, ", ") {
		f := strings.Fields(strings.Trim(part, ", \n\t"))
		if len(f) == 0 || strings.HasPrefix(f[0], "data:") {
			continue
		}
		s := 1.0
		if len(f) > 1 {
			s, _ = strconv.ParseFloat(strings.TrimRight(f[1], "wx"), 64)
		}
		if s > size {
			best, size = f[0], s
		}
	}
	return best
}

// image writes an image run. Its address is empty where the page has none that
// a reader could use.
func (e *emitter) image(k int) {
	e.dst = append(e.dst, "!["...)
	e.dst = e.marks.write(e.dst, e.p, k, e.mode, false)
	e.dst = append(e.dst, "]("+e.w.links.images[e.p.runs[k].ref]+")"...)
}

// frame writes a page inside the page: a link to it, or its text where the
// page carries it along and has little text of its own.
func (w *writer) frame(i int32, c context) {
	src := strings.TrimSpace(w.t.get(i, keySrc))
	if doc, ok := w.t.attr(i, keySrcdoc); ok {
		w.innerPage(doc, c)
		return
	}
	dest, ok := w.links.resolve(src)
	if src == "" || !ok || isDot(w.t, i) || strings.HasPrefix(dest, "#") {
		return
	}
	label := strings.Join(strings.Fields(w.t.get(i, keyTitle)), " ")
	if label == "" {
		u, err := url.Parse(dest)
		if err != nil || isTracker(u.Host) {
			return
		}
		label = u.Host
	}
	w.link(label, dest, c)
}

// link adds a link of our own making.
func (w *writer) link(label, dest string, c context) {
	if w.opt.Links == LinksNone {
		w.text(label, c)
		return
	}
	w.links.refs = append(w.links.refs, ref{dest: dest})
	c.link = int32(len(w.links.refs))
	w.text(label, c)
	w.links.note(dest)
}

func isTracker(host string) bool {
	for _, name := range []string{"googletagmanager.com", "doubleclick.net", "facebook.com", "googlesyndication.com", "adservice.", "recaptcha", "hotjar.com"} {
		if strings.Contains(host, name) {
			return true
		}
	}
	return false
}

// innerPage writes the text of an inline frame. It counts as content only
// where it is a good part of the page: beside a page with text of its own it
// is an advertisement or a trap.
func (w *writer) innerPage(doc string, c context) {
	if w.framed {
		return
	}
	inner := parse(doc)
	hide(inner, readSheet(inner))
	measure(inner)
	if countLetters(inner.shownText(bodyNode, maxFrame))*2 < w.ownText {
		return
	}
	w.gap()
	outer, notes := w.t, w.notes
	w.t, w.notes, w.framed = inner, findNotes(inner), true
	w.children(bodyNode, c)
	w.gap()
	w.t, w.notes, w.framed = outer, notes, false
}

// media writes a link to a video or a recording.
func (w *writer) media(i int32, label string, c context) {
	src := w.t.get(i, keySrc)
	for ch := w.t.nodes[i].first; src == "" && ch != none; ch = w.t.nodes[ch].next {
		if w.t.is(ch, atom.Source) {
			src = w.t.get(ch, keySrc)
		}
	}
	dest, ok := w.links.resolve(src)
	if src == "" || !ok {
		return
	}
	if title := strings.TrimSpace(w.t.get(i, keyAriaLabel) + w.t.get(i, keyTitle)); title != "" && len(title) < 200 && w.opt.Full {
		label = title
	}
	w.gap()
	w.link(label, dest, c)
	w.gap()
}
