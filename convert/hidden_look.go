// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

// look is what an element inherits that decides whether its text can be seen.
type look struct {
	ink, paper colour  // text and background
	size       float64 // of the font in px
}

// firstLook is the look of a page without styles: black on white. Where style
// sheets are in play the background is not known until something names it.
func firstLook(t *tree) look {
	l := look{ink: black, size: 16}
	if !hasStyleSheet(t) {
		l.paper = white
	}
	return l
}

func hasStyleSheet(t *tree) bool {
	for i := range t.nodes {
		switch t.nodes[i].tag {
		case atom.Style:
			return true
		case atom.Link:
			if strings.Contains(strings.ToLower(t.get(int32(i), keyRel)), "stylesheet") {
				return true
			}
		}
	}
	return false
}

// The thresholds of visibility.
const (
	faintest  = 0.05  // opacity below which text cannot be read
	smallest  = 2.0   // px of a font below which it is a trace of dots
	closest   = 12    // difference of each colour channel below which ink is paper
	farthest  = -500  // px or more to the left or above: off any screen
	dotExtent = 1.0   // px of a box that shows nothing
	remoteVW  = -90.0 // the same in percent of the screen or the element
)

// declarations are the properties of one element that can hide it. Later ones
// overwrite earlier ones, unless those are important.
type declarations struct {
	values    [propCount]string
	important [propCount]bool
	any       bool
}

type prop int

const (
	propDisplay prop = iota
	propVisibility
	propContentVisibility
	propOpacity
	propFilter
	propFontSize
	propColor
	propFill
	propBackground
	propBlend
	propPosition
	propLeft
	propTop
	propRight
	propBottom
	propIndent
	propMarginLeft
	propMarginTop
	propTransform
	propClip
	propClipPath
	propWidth
	propHeight
	propMaxWidth
	propMaxHeight
	propOverflow
	propCount
)

func propOf(name string) (prop, bool) {
	switch name {
	case "display":
		return propDisplay, true
	case "visibility":
		return propVisibility, true
	case "content-visibility":
		return propContentVisibility, true
	case "opacity":
		return propOpacity, true
	case "filter", "-webkit-filter":
		return propFilter, true
	case "font-size", "font":
		return propFontSize, true
	case "color":
		return propColor, true
	case "-webkit-text-fill-color":
		return propFill, true
	case "background", "background-color":
		return propBackground, true
	case "mix-blend-mode":
		return propBlend, true
	case "position":
		return propPosition, true
	case "left", "inset-inline-start":
		return propLeft, true
	case "top", "inset-block-start", "inset":
		return propTop, true
	case "right":
		return propRight, true
	case "bottom":
		return propBottom, true
	case "text-indent":
		return propIndent, true
	case "margin-left", "margin-inline-start":
		return propMarginLeft, true
	case "margin-top":
		return propMarginTop, true
	case "transform", "translate", "scale":
		return propTransform, true
	case "clip":
		return propClip, true
	case "clip-path", "-webkit-clip-path":
		return propClipPath, true
	case "width":
		return propWidth, true
	case "height":
		return propHeight, true
	case "max-width":
		return propMaxWidth, true
	case "max-height":
		return propMaxHeight, true
	case "overflow", "overflow-x", "overflow-y":
		return propOverflow, true
	}
	return 0, false
}

func (d *declarations) empty() bool { return !d.any }

func (d *declarations) set(p prop, value string, important bool) {
	if d.important[p] && !important {
		return
	}
	d.values[p], d.important[p], d.any = value, important, true
}

// attributes takes the presentational attributes of old pages into account;
// they are weaker than any style.
func (d *declarations) attributes(t *tree, i int32) {
	if v, ok := t.attr(i, keyColor); ok && d.values[propColor] == "" {
		d.set(propColor, strings.ToLower(v), false)
	}
	if v, ok := t.attr(i, keyBgColor); ok && d.values[propBackground] == "" {
		d.set(propBackground, strings.ToLower(v), false)
	}
}

// parse reads the text of a style attribute or of a rule's block.
func (d *declarations) parse(style string) {
	if strings.ContainsAny(style, "\\/") {
		style = plainCSS(style)
	}
	for decl := range strings.SplitSeq(style, ";") {
		name, value, ok := strings.Cut(decl, ":")
		if !ok {
			continue
		}
		p, known := propOf(strings.ToLower(strings.TrimSpace(name)))
		if !known {
			continue
		}
		value = strings.ToLower(strings.TrimSpace(value))
		value, important := cutImportant(value)
		if p == propFontSize && strings.ToLower(strings.TrimSpace(name)) == "font" {
			value = fontShorthandSize(value)
		}
		if value != "" {
			d.set(p, value, important)
		}
	}
}

func cutImportant(v string) (string, bool) {
	bang := strings.LastIndexByte(v, '!')
	if bang < 0 || strings.TrimSpace(v[bang+1:]) != "important" {
		return v, false
	}
	return strings.TrimSpace(v[:bang]), true
}

// fontShorthandSize finds the size in a font shorthand, "" for none.
func fontShorthandSize(v string) string {
	for _, w := range strings.Fields(v) {
		w, _, _ = strings.Cut(w, "/")
		if _, ok := length(w, 16); ok && strings.Trim(w, "0123456789") != "" || w == "0" {
			return w
		}
	}
	return ""
}

// compute gives the look of an element under a parent's look, and the reason
// why it is not seen.
func (d *declarations) compute(l look) (look, why) {
	v := &d.values
	if s := v[propFontSize]; s != "" {
		l.size = fontSize(s, l.size)
	}
	ink, paper := d.colours(&l)
	switch {
	case v[propDisplay] == "none", v[propContentVisibility] == "hidden",
		v[propVisibility] == "hidden", v[propVisibility] == "collapse":
		return l, byDisplay
	case l.size < smallest:
		return l, bySize
	case faint(v[propOpacity]), faintFilter(v[propFilter]), ink.known && ink.alpha < faintest,
		ink.near(paper), blended(v[propBlend], ink, paper):
		return l, byInk
	case d.offScreen(l.size):
		return l, byPlace
	case clipped(v[propClip], v[propClipPath]):
		return l, byClip
	case d.noExtent(l.size):
		return l, bySize
	}
	return l, ""
}

// colours computes text and background of an element.
func (d *declarations) colours(l *look) (ink, paper colour) {
	if b := d.values[propBackground]; b != "" {
		l.paper = background(b, l.paper)
	}
	if c := d.values[propColor]; c != "" && c != "inherit" && c != "currentcolor" {
		l.ink = parseColour(c)
	}
	ink = l.ink
	if f := d.values[propFill]; f != "" && f != "currentcolor" {
		ink = parseColour(f)
		// A gradient behind clear letters shows through them.
		if b := d.values[propBackground]; ink.alpha < faintest && (strings.Contains(b, "gradient") || strings.Contains(b, "url(")) {
			ink = colour{}
		}
	}
	return ink, l.paper
}

// blended reports whether a blend mode swallows light ink on light paper.
func blended(mode string, ink, paper colour) bool {
	return (mode == "lighten" || mode == "screen") && ink.near(white) && (!paper.known || paper.near(white)) ||
		(mode == "darken" || mode == "multiply") && ink.near(white)
}

func faint(v string) bool {
	f, ok := number(v)
	return ok && f < faintest
}

func faintFilter(v string) bool {
	_, arg, ok := strings.Cut(v, "opacity(")
	if !ok {
		return false
	}
	arg, _, _ = strings.Cut(arg, ")")
	return faint(arg)
}

// number reads "0.5" or "50%".
func number(v string) (float64, bool) {
	v = strings.TrimSpace(v)
	percent := strings.HasSuffix(v, "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(v, "%")), 64)
	if percent {
		f /= 100
	}
	return f, err == nil
}

func (d *declarations) offScreen(em float64) bool {
	v := &d.values
	if far(v[propIndent], em) || far(v[propMarginLeft], em) || far(v[propMarginTop], em) || farTransform(v[propTransform], em) {
		return true
	}
	if p := v[propPosition]; p != "absolute" && p != "fixed" && p != "relative" && p != "sticky" {
		return false
	}
	if far(v[propLeft], em) || far(v[propTop], em) || far(v[propRight], em) || far(v[propBottom], em) {
		return true
	}
	return farAway(v[propLeft], em) || farAway(v[propTop], em)
}

// far reports whether a length leads out of the screen to the left or the top.
func far(v string, em float64) bool {
	if n, ok := strings.CutSuffix(v, "%"); ok {
		f, ok := number(n)
		return ok && f <= remoteVW
	}
	f, ok := length(v, em)
	return ok && f <= farthest
}

// farAway reports whether a length leads out of any screen to the right or the
// bottom.
func farAway(v string, em float64) bool {
	f, ok := length(v, em)
	return ok && f >= -10*farthest
}

func farTransform(v string, em float64) bool {
	if strings.Contains(v, "scale(0)") || strings.Contains(v, "scale(0,") || strings.Contains(v, "scalex(0)") || strings.Contains(v, "scaley(0)") {
		return true
	}
	for _, call := range []string{"translate(", "translatex(", "translatey(", "translate3d("} {
		_, args, ok := strings.Cut(v, call)
		if !ok {
			continue
		}
		args, _, _ = strings.Cut(args, ")")
		for a := range strings.SplitSeq(args, ",") {
			// A shift by the element's own size is an animation's first frame.
			if f, ok := length(strings.TrimSpace(a), em); ok && f <= farthest {
				return true
			}
		}
	}
	return false
}

func clipped(clip, path string) bool {
	if args, ok := strings.CutPrefix(clip, "rect("); ok {
		args = strings.NewReplacer(",", " ", ")", " ", "px", "").Replace(args)
		f := strings.Fields(args)
		return len(f) == 4 && allTiny(f)
	}
	if args, ok := strings.CutPrefix(path, "inset("); ok {
		first, _, _ := strings.Cut(strings.TrimSuffix(args, ")"), " ")
		f, ok := number(first)
		return ok && strings.HasSuffix(first, "%") && f >= 0.5
	}
	return strings.HasPrefix(path, "circle(0") || strings.HasPrefix(path, "polygon(0 0, 0 0") || strings.HasPrefix(path, "polygon(0px 0px, 0px 0px")
}

func allTiny(values []string) bool {
	for _, v := range values {
		if f, ok := number(v); !ok || f > dotExtent || f < 0 {
			return false
		}
	}
	return true
}

// noExtent reports whether a box is too small to show anything and cuts what
// would stand out.
func (d *declarations) noExtent(em float64) bool {
	v := &d.values
	if o := v[propOverflow]; !strings.Contains(o, "hidden") && !strings.Contains(o, "clip") {
		return false
	}
	for _, p := range []prop{propWidth, propHeight, propMaxWidth, propMaxHeight} {
		if f, ok := length(v[p], em); ok && f <= dotExtent {
			return true
		}
	}
	return false
}
