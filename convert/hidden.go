// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// Hidden text is text that the page does not show: its author meant it for
// somebody else, a script or a reader that is a machine. It is taken out and
// counted. Text that a reader can unfold (details, tabs, hidden=until-found)
// is not hidden.

// why says by what an element is hidden; "" is shown.
type why string

const (
	byAttribute  why = "hidden attribute"
	byDisplay    why = "display or visibility"
	bySize       why = "size"
	byPlace      why = "place off the screen"
	byInk        why = "invisible ink"
	byClip       why = "clipping"
	byAria       why = "aria-hidden"
	byInert      why = "closed or inert element"
	byNature     why = "" // elements that never show their content: nobody misses it
	unlabelled   why = "fold without a name"
	minFoldLabel     = 3 // letters that a summary must have to be found by a reader
)

// hide marks every node that is not shown. sheet may be nil.
func hide(t *tree, sheet *sheet) map[why]int {
	h := &hider{t: t, sheet: sheet, looks: []look{firstLook(t)}, lookAt: make([]int32, len(t.nodes)), whys: map[int32]why{}}
	for i := range t.nodes {
		h.visit(int32(i))
	}
	h.spareWholePage()
	return h.count()
}

// hider walks a tree in document order, parents first, and keeps the computed
// look (colours, sizes) of elements whose own style differs from the parent's.
type hider struct {
	t      *tree
	sheet  *sheet
	looks  []look
	lookAt []int32       // node → its look
	whys   map[int32]why // outermost hidden elements
}

func (h *hider) visit(i int32) {
	n := h.t.node(i)
	if n.parent == none {
		return
	}
	h.lookAt[i] = h.lookAt[n.parent]
	if h.t.nodes[n.parent].mark&markHidden != 0 {
		n.mark |= markHidden
		return
	}
	if n.kind != elementNode {
		if h.t.is(n.parent, atom.Details) && h.unfindable(n.parent) && !isBlankText(h.t.content(i)) && n.kind == textNode {
			n.mark |= markHidden | markCounted
			h.whys[i] = unlabelled
		}
		return
	}
	if never(h.t, i) {
		n.mark |= markHidden
		return
	}
	if w := h.reason(i); w != "" {
		n.mark |= markHidden | markCounted
		h.whys[i] = w
	}
}

// never reports whether an element has no content that a page shows.
func never(t *tree, i int32) bool {
	switch t.nodes[i].tag {
	case atom.Head, atom.Script:
		return !isTeX(t, i)
	case atom.Style, atom.Title, atom.Meta, atom.Link, atom.Base, atom.Noscript, atom.Noframes, atom.Noembed,
		atom.Svg, atom.Canvas, atom.Map, atom.Area, atom.Select, atom.Datalist, atom.Textarea, atom.Option,
		atom.Optgroup, atom.Progress, atom.Meter, atom.Rp, atom.Param, atom.Source, atom.Track, atom.Col, atom.Colgroup:
		return true
	case atom.Template:
		return !t.has(i, keyShadow)
	}
	return false
}

// isTeX reports whether a script element holds mathematics (MathJax 2).
func isTeX(t *tree, i int32) bool {
	return t.is(i, atom.Script) && strings.HasPrefix(t.get(i, keyType), "math/tex")
}

// reason finds out by what an element is hidden.
func (h *hider) reason(i int32) why {
	t := h.t
	if i == bodyNode {
		h.restyle(i)
		return "" // a page that is hidden as a whole is waiting for its script
	}
	if w := h.restyle(i); w != "" {
		return w
	}
	switch t.nodes[i].tag {
	case atom.Dialog:
		if !t.has(i, keyOpen) {
			return byInert
		}
	case atom.Input:
		if t.isWord(i, keyType, "hidden") {
			return byAttribute
		}
	case atom.Img:
		if isDot(t, i) {
			return bySize
		}
	}
	if v, ok := t.attr(i, keyHidden); ok && !strings.EqualFold(v, "until-found") && !isTabPanel(t, i) {
		return byAttribute
	}
	if t.isWord(i, keyAriaHidden, "true") && !isMathImage(t, i) {
		return byAria
	}
	if p := t.nodes[i].parent; t.is(p, atom.Details) && t.nodes[i].tag != atom.Summary && h.unfindable(p) {
		return unlabelled
	}
	return ""
}

// unfindable reports whether a closed details element has a summary that tells
// a reader nothing, so that nobody would unfold it.
func (h *hider) unfindable(details int32) bool {
	if h.t.has(details, keyOpen) {
		return false
	}
	for c := h.t.nodes[details].first; c != none; c = h.t.nodes[c].next {
		if h.t.is(c, atom.Summary) {
			return countLetters(h.t.rawText(c, 256)) < minFoldLabel
		}
	}
	return false // browsers name it "Details"
}

// isTabPanel reports whether a reader can bring the element out by a tab.
func isTabPanel(t *tree, i int32) bool { return t.isWord(i, keyRole, "tabpanel") }

// isDot reports whether an image has a size that nobody sees.
func isDot(t *tree, i int32) bool {
	for _, key := range []attrKey{keyWidth, keyHeight} {
		if v := strings.TrimSuffix(strings.TrimSpace(t.get(i, key)), "px"); v == "0" || v == "1" {
			return true
		}
	}
	return false
}

// restyle computes the look of an element with a style of its own and says
// whether it hides the element.
func (h *hider) restyle(i int32) why {
	t := h.t
	parent := h.lookAt[t.nodes[i].parent]
	var d declarations
	if h.sheet != nil {
		h.sheet.apply(t, i, &d)
	}
	d.attributes(t, i)
	if style, ok := t.attr(i, keyStyle); ok {
		d.parse(style)
	}
	if d.empty() {
		return ""
	}
	look, w := d.compute(h.looks[parent])
	if w == byDisplay && isTabPanel(t, i) {
		w = ""
	}
	if look != h.looks[parent] {
		h.looks = append(h.looks, look)
		h.lookAt[i] = int32(len(h.looks) - 1)
	}
	return w
}

// spareWholePage takes back aria-hidden and display marks that would hide
// nearly the whole page: a page covered by a consent dialog marks its content
// as hidden from readers, and one that waits for its script hides everything.
func (h *hider) spareWholePage() {
	if len(h.whys) == 0 {
		return
	}
	size := make([]int32, len(h.t.nodes)) // letters in what each node would show
	for i := int32(len(size) - 1); i > bodyNode; i-- {
		n := h.t.node(i)
		if n.kind == textNode {
			size[i] = int32(countLetters(h.t.content(i)))
		}
		if n.kind != elementNode || !never(h.t, i) {
			size[n.parent] += size[i]
		}
	}
	total := size[bodyNode]
	for i, w := range h.whys {
		whole := size[i] > total/10*9 && w != byInk || size[i] > total/3 && w == byAria
		if whole && size[i] > minPage {
			h.show(i)
		}
	}
}

// minPage is how many letters make a text that could be the content of a page.
const minPage = 400

// show takes the mark back from an element and what is inside it.
func (h *hider) show(i int32) {
	delete(h.whys, i)
	h.t.walk(i, func(j int32) bool {
		if j != i && never(h.t, j) {
			return false
		}
		h.t.nodes[j].mark &^= markHidden | markCounted
		if j != i && h.t.nodes[j].kind == elementNode {
			if w := h.reason(j); w != "" {
				h.whys[j] = w
				h.t.walk(j, func(k int32) bool { h.t.nodes[k].mark |= markHidden; return true })
				h.t.nodes[j].mark |= markCounted
				return false
			}
		}
		return true
	})
}

// count tells how many elements with words in them were hidden, by reason.
func (h *hider) count() map[why]int {
	out := map[why]int{}
	for i, w := range h.whys {
		if countLetters(h.t.rawText(i, 4096)) > 0 || h.t.get(i, keyAlt) != "" {
			out[w]++
		}
	}
	return out
}

// hiddenWarning puts the count into one warning of the contract.
func hiddenWarning(counts map[why]int) (Removed, bool) {
	total, parts := 0, []string{}
	for w, n := range counts {
		total += n
		parts = append(parts, fmt.Sprintf("%s %d", w, n))
	}
	slices.Sort(parts)
	return Removed{Code: CodeHidden, Count: total,
		Message: "text that the page does not show was left out (" + strings.Join(parts, ", ") + ")"}, total > 0
}
