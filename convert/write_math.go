// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// mathElement writes mathematics as TeX between dollars. The TeX comes from the
// page: the annotation of MathML (KaTeX, Wikipedia), the script of MathJax 2,
// the alternative text of an image; MathML alone is turned into TeX.
func (w *writer) mathElement(i int32, tag atom.Atom, c context) bool {
	class := w.t.get(i, keyClass)
	switch {
	case tag == atom.Math:
		tex, ok := texOf(w.t, i)
		if !ok {
			tex = mathText(w.t, i)
		}
		w.math(tex, w.t.isWord(i, keyDisplay, "block") || w.isDisplay(i), c)
	case tag == atom.Script:
		w.math(w.t.rawText(i, maxFormula), strings.Contains(w.t.get(i, keyType), "display"), c)
	case class == "":
		return w.mathContainer(i, c)
	case hasWord(class, "katex-html", "MathJax_Preview", "MathJax", "MathJax_Display", "MathJax_SVG", "MathJax_CHTML", "mjx-chtml"):
		// The typeset copy of what also stands as TeX or MathML beside it.
		return tag != atom.Body && !w.hasOnlyCopy(i)
	case tag == atom.Img:
		return w.mathImage(i, class, c)
	default:
		return w.mathContainer(i, c)
	}
	return true
}

// mathContainer writes MathJax 3 containers that carry their TeX along.
func (w *writer) mathContainer(i int32, c context) bool {
	tex, ok := w.t.attr(i, keyDataLatex)
	if !ok || w.t.name(i) != "mjx-container" {
		return false
	}
	w.math(tex, w.t.isWord(i, keyDisplay, "true"), c)
	return true
}

// hasOnlyCopy reports whether a typeset formula holds the only MathML of it.
func (w *writer) hasOnlyCopy(i int32) bool {
	if !w.t.any(i, nearby, func(j int32) bool { return w.t.is(j, atom.Math) }) {
		return false
	}
	for next := w.t.nodes[i].next; next != none; next = w.t.nodes[next].next {
		if w.t.nodes[next].kind == elementNode {
			return !isTeX(w.t, next)
		}
	}
	return true
}

// isDisplay reports whether a formula stands on a line of its own.
func (w *writer) isDisplay(i int32) bool {
	for range 4 {
		if i = w.t.nodes[i].parent; i == none {
			return false
		}
		if hasWord(w.t.get(i, keyClass), "katex-display", "MathJax_Display", "mwe-math-mathml-display", "math-display") {
			return true
		}
	}
	return false
}

// math writes one formula.
func (w *writer) math(tex string, display bool, c context) {
	tex = tidyTeX(tex)
	if tex == "" {
		return
	}
	sign := "$"
	if display {
		sign = "$$"
	}
	w.para.put(rawRun, sign+tex+sign, run{style: c.style &^ code, link: w.live(c.link)})
}

// tidyTeX puts a formula on one line and makes sure that nothing in it can be
// read as the end of the formula, a link, or an element.
func tidyTeX(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if inner, ok := strings.CutPrefix(s, `{\displaystyle `); ok && strings.HasSuffix(inner, "}") {
		s = strings.TrimSpace(inner[:len(inner)-1])
	}
	for _, p := range [][2]string{{"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}} {
		if len(s) > len(p[0])+len(p[1]) && strings.HasPrefix(s, p[0]) && strings.HasSuffix(s, p[1]) {
			s = strings.TrimSpace(s[len(p[0]) : len(s)-len(p[1])])
		}
	}
	if len(s) > maxFormula {
		return ""
	}
	var b strings.Builder
	for k := range len(s) {
		b.WriteByte(s[k])
		if k+1 < len(s) && (s[k] == '<' && opensTag(s[k+1]) || s[k] == ']' && s[k+1] == '(') {
			b.WriteByte(' ')
		}
	}
	return strings.ReplaceAll(b.String(), "`", "'")
}

// texOf finds the TeX that a math element carries.
func texOf(t *tree, i int32) (string, bool) {
	tex, found := "", false
	t.scan(i, 20*nearby, 0, func(j int32) bool {
		if t.nodes[j].kind == elementNode && t.name(j) == "annotation" && strings.Contains(strings.ToLower(t.get(j, keyEncoding)), "tex") {
			tex, found = t.rawText(j, maxFormula+1), true
		}
		return found
	})
	if !found {
		tex, found = t.attr(i, keyAltText)
	}
	return tex, found
}

// mathImage writes an image whose alternative text is TeX.
func (w *writer) mathImage(i int32, class string, c context) bool {
	if !isMathImage(w.t, i) {
		return false
	}
	if w.besideMath(i) {
		return true
	}
	w.math(w.t.get(i, keyAlt), strings.Contains(class, "display"), c)
	return true
}

func isMathImage(t *tree, i int32) bool {
	if !t.is(i, atom.Img) || t.get(i, keyAlt) == "" {
		return false
	}
	for f := range strings.FieldsSeq(strings.ToLower(t.get(i, keyClass))) {
		if f == "math" || f == "tex" || f == "latex" || strings.HasPrefix(f, "mwe-math-fallback") {
			return true
		}
	}
	return false
}

// besideMath reports whether the same formula has been written from MathML that
// stands before its image.
func (w *writer) besideMath(i int32) bool {
	alt := letters(tidyTeX(w.t.get(i, keyAlt)))
	for ch := w.t.nodes[w.t.nodes[i].parent].first; ch != none && ch != i; ch = w.t.nodes[ch].next {
		if w.t.any(ch, 8, func(j int32) bool {
			if !w.t.is(j, atom.Math) {
				return false
			}
			tex, _ := texOf(w.t, j)
			return letters(tidyTeX(tex)) == alt
		}) {
			return true
		}
	}
	return false
}

// mathText turns MathML without TeX into TeX.
func mathText(t *tree, i int32) string {
	var b strings.Builder
	writeMath(t, i, &b)
	return b.String()
}

func writeMath(t *tree, i int32, b *strings.Builder) {
	if b.Len() > maxFormula {
		return
	}
	n := t.node(i)
	if n.kind == textNode {
		b.WriteString(strings.TrimSpace(t.content(i)))
		return
	}
	var parts []int32
	for ch := n.first; ch != none; ch = t.nodes[ch].next {
		if t.nodes[ch].kind == elementNode {
			parts = append(parts, ch)
		}
	}
	shape := ""
	switch t.name(i) {
	case "annotation", "annotation-xml":
		return
	case "mfrac":
		shape = `\frac{1}{2}`
	case "msup", "mover":
		shape = "{1}^{2}"
	case "msub", "munder":
		shape = "{1}_{2}"
	case "msubsup", "munderover":
		shape = "{1}_{2}^{3}"
	case "msqrt":
		b.WriteString(`\sqrt{`)
		defer b.WriteString("}")
	case "mroot":
		shape = `\sqrt[2]{1}`
	case "mtr":
		defer b.WriteString(` \\ `)
	case "mtd":
		defer b.WriteString(" ")
	case "mtext":
		b.WriteString(" " + t.rawText(i, 256) + " ")
		return
	}
	if shape != "" && len(parts) > 1 {
		for k := range len(shape) {
			if c := shape[k]; c >= '1' && c <= '3' && int(c-'1') < len(parts) {
				writeMath(t, parts[c-'1'], b)
			} else {
				b.WriteByte(c)
			}
		}
		return
	}
	for ch := n.first; ch != none; ch = t.nodes[ch].next {
		writeMath(t, ch, b)
	}
}
