// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

const (
	// maxSheet bounds the style sheets that are read, in bytes: what hides text
	// on purpose is short, and design systems fill megabytes.
	maxSheet = 2 << 20
	// maxRules bounds the rules that are kept, and maxRuleText one of them.
	maxRules    = 5000
	maxRuleText = 4 << 10
	// maxAtRules bounds the nesting of @media and the like.
	maxAtRules = 3
	// maxRuleTries bounds the rules that are tried on one element.
	maxRuleTries = 32
)

// sheet holds the rules of a page's own style elements that can hide text, as
// far as their selectors are simple: one element by tag, id, classes and
// attributes. Rules that depend on a state, a place or a size are not applied:
// what they hide, a reader may bring out.
type sheet struct {
	byClass map[string][]*rule
	byID    map[string][]*rule
	byTag   map[string][]*rule
	others  []*rule         // by attribute alone
	shown   map[string]bool // classes and ids that some rule shows again: switches
	rules   int
}

type rule struct {
	compound
	values declarations
	order  int
}

// compound is a compound selector (Selectors 4.2).
type compound struct {
	tag, id string
	classes []string
	attrs   []string // "name" or "name=value"
}

// readSheet reads the style elements of a page; nil where there are none.
func readSheet(t *tree) *sheet {
	s := &sheet{byClass: map[string][]*rule{}, byID: map[string][]*rule{}, byTag: map[string][]*rule{}, shown: map[string]bool{}}
	left := maxSheet
	for i := range t.nodes {
		if n := int32(i); t.nodes[i].tag == atom.Style && t.nodes[i].first != none && left > 0 && !t.hasAncestor(n, atom.Svg) {
			text := t.content(t.nodes[i].first)
			text = text[:min(len(text), left)]
			left -= len(text)
			if strings.Contains(text, "/*") {
				text = withoutComments(text)
			}
			s.read(text, 0)
		}
	}
	if s.rules == 0 {
		return nil
	}
	s.dropSwitches()
	return s
}

func withoutComments(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "/*")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		if _, s, ok = strings.Cut(rest, "*/"); !ok {
			return b.String()
		}
	}
}

// read goes through the rules of a style sheet.
func (s *sheet) read(css string, depth int) {
	for css != "" {
		head, rest, ok := strings.Cut(css, "{")
		if !ok {
			return
		}
		head = strings.TrimSpace(head)
		if k := strings.LastIndexByte(head, ';'); k >= 0 && !strings.HasPrefix(head, "@media") {
			head = strings.TrimSpace(head[k+1:]) // after @import, @charset
		}
		if strings.HasPrefix(head, "@") {
			body, after := cutBlock(rest)
			if appliesAlways(head) && depth < maxAtRules {
				s.read(body, depth+1)
			}
			css = after
			continue
		}
		body, after, _ := strings.Cut(rest, "}")
		if k := strings.IndexByte(body, '{'); k >= 0 { // nested rules are not read
			body, after = cutBlock(rest)
			body = body[:k]
		}
		s.add(head, body)
		css = strings.TrimLeft(after, "} \n\t\r")
	}
}

// cutBlock splits after the brace that closes the block that has been opened.
func cutBlock(s string) (body, after string) {
	depth := 1
	for k := range len(s) {
		switch s[k] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[:k], s[k+1:]
			}
		}
	}
	return s, ""
}

// appliesAlways reports whether the rules in an at-rule hold on every screen.
func appliesAlways(head string) bool {
	head = strings.ToLower(head)
	if query, ok := strings.CutPrefix(head, "@media"); ok {
		switch strings.TrimSpace(query) {
		case "screen", "all", "only screen", "screen, print", "print, screen":
			return true
		}
		return false
	}
	return strings.HasPrefix(head, "@layer") || strings.HasPrefix(head, "@supports")
}

// add keeps a rule, or notes what it shows.
func (s *sheet) add(selectors, body string) {
	if len(body) > maxRuleText || len(selectors) > maxRuleText {
		return
	}
	var d declarations
	d.parse(body)
	if d.empty() {
		return
	}
	why := d.settle()
	for sel := range strings.SplitSeq(selectors, ",") {
		c, simple := parseCompound(strings.TrimSpace(sel))
		switch {
		case !simple:
			s.noteSwitch(sel, &d)
		case why == "" && shows(&d):
			s.noteSwitch(sel, &d)
			s.keep(c, d)
		case why != "":
			s.keep(c, d)
		}
	}
}

// settle says by what a rule hides what it is applied to. Colours count within
// one rule only: which of many rules paints a background cannot be known here.
func (d *declarations) settle() why {
	_, w := d.compute(look{ink: black, size: 16})
	if w == byInk {
		d.values[propOpacity] = "0"
	}
	d.values[propColor], d.values[propBackground], d.values[propFill] = "", "", ""
	return w
}

// shows reports whether a rule brings something out that another may hide.
func shows(d *declarations) bool {
	v := &d.values
	return v[propDisplay] != "" && v[propDisplay] != "none" || v[propVisibility] == "visible" ||
		v[propOpacity] != "" && !faint(v[propOpacity]) || v[propMaxHeight] != "" || v[propHeight] != "" || v[propClip] != "" || v[propTransform] != ""
}

// noteSwitch remembers the classes and ids of a selector that shows something
// under a condition: .tab.open, .menu:hover .entry.
func (s *sheet) noteSwitch(sel string, d *declarations) {
	if !shows(d) || len(s.shown) > maxRules {
		return
	}
	for k := 0; k < len(sel); k++ {
		if sel[k] != '.' && sel[k] != '#' {
			continue
		}
		if name := nameAt(sel[k+1:]); name != "" {
			s.shown[sel[k:k+1]+name] = true
		}
	}
}

func (s *sheet) keep(c compound, d declarations) {
	if s.rules >= maxRules {
		return
	}
	s.rules++
	r := &rule{c, d, s.rules}
	switch {
	case c.id != "":
		s.byID[c.id] = append(s.byID[c.id], r)
	case len(c.classes) > 0:
		s.byClass[c.classes[0]] = append(s.byClass[c.classes[0]], r)
	case c.tag != "":
		s.byTag[c.tag] = append(s.byTag[c.tag], r)
	default:
		s.others = append(s.others, r)
	}
}

// dropSwitches takes out rules that hide something which another rule shows.
func (s *sheet) dropSwitches() {
	for name, rules := range s.byClass {
		if s.shown["."+name] {
			s.byClass[name] = slices.DeleteFunc(rules, func(r *rule) bool { return !shows(&r.values) })
		}
	}
	for name, rules := range s.byID {
		if s.shown["#"+name] {
			s.byID[name] = slices.DeleteFunc(rules, func(r *rule) bool { return !shows(&r.values) })
		}
	}
}

// parseCompound reads a selector that is one compound without combinators and
// pseudo-classes; false for any other.
func parseCompound(sel string) (c compound, ok bool) {
	if sel == "" || strings.ContainsAny(sel, " >+~:*\n\t&|") {
		return c, false
	}
	c.tag = strings.ToLower(nameAt(sel))
	for k := len(c.tag); k < len(sel); {
		switch sel[k] {
		case '.', '#':
			name := nameAt(sel[k+1:])
			if name == "" {
				return c, false
			}
			if sel[k] == '#' {
				c.id = name
			} else {
				c.classes = append(c.classes, name)
			}
			k += 1 + len(name)
		case '[':
			end := strings.IndexByte(sel[k:], ']')
			if end < 0 {
				return c, false
			}
			attr := strings.Map(func(r rune) rune {
				if r == '"' || r == '\'' {
					return -1
				}
				return r
			}, sel[k+1:k+end])
			if strings.ContainsAny(attr, "~^$") {
				return c, false
			}
			c.attrs = append(c.attrs, attr)
			k += end + 1
		default:
			return c, false
		}
	}
	return c, c.tag != "" && c.tag != "html" && c.tag != "body" || c.id != "" || len(c.classes) > 0 || len(c.attrs) > 0
}

// nameAt gives the CSS name at the start of s.
func nameAt(s string) string {
	for k := range len(s) {
		c := s[k]
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= 0x80) {
			return s[:k]
		}
	}
	return s
}

// apply puts what the rules say about an element into d, weak rules first.
func (s *sheet) apply(t *tree, i int32, d *declarations) {
	tries := 0
	var found []*rule
	try := func(rules []*rule) {
		for _, r := range rules[:min(len(rules), maxRuleTries-tries)] {
			if tries++; r.matches(t, i) {
				found = append(found, r)
			}
		}
	}
	try(s.others)
	if len(s.byTag) > 0 {
		try(s.byTag[t.name(i)])
	}
	if class := t.get(i, keyClass); class != "" {
		for f := range strings.FieldsSeq(class) {
			try(s.byClass[f])
		}
	}
	if id := t.get(i, keyID); id != "" {
		try(s.byID[id])
	}
	slices.SortStableFunc(found, func(a, b *rule) int {
		if w := a.weight() - b.weight(); w != 0 {
			return w
		}
		return a.order - b.order
	})
	for _, r := range found {
		for p := range propCount {
			if v := r.values.values[p]; v != "" {
				d.set(p, v, r.values.important[p])
			}
		}
	}
}

// weight is the specificity of a selector (Selectors 4.17).
func (c *compound) weight() int {
	w := 100*(len(c.classes)+len(c.attrs)) + 10000*min(1, len(c.id))
	if c.tag != "" {
		w++
	}
	return w
}

func (c *compound) matches(t *tree, i int32) bool {
	if c.tag != "" && c.tag != t.name(i) || c.id != "" && c.id != t.get(i, keyID) {
		return false
	}
	for _, class := range c.classes {
		if !hasClass(t.get(i, keyClass), class) {
			return false
		}
	}
	for _, a := range c.attrs {
		if !hasAttr(t, i, a) {
			return false
		}
	}
	return true
}

// hasClass reports whether a class attribute holds the class, in this case.
func hasClass(class, want string) bool {
	for f := range strings.FieldsSeq(class) {
		if f == want {
			return true
		}
	}
	return false
}

// hasAttr reports whether an element has an attribute, written as "name" or
// "name=value".
func hasAttr(t *tree, i int32, want string) bool {
	name, value, exact := strings.Cut(want, "=")
	if key := attrKeyOf([]byte(strings.ToLower(name))); key != keyNone {
		v, ok := t.attr(i, key)
		return ok && (!exact || v == value)
	}
	n := &t.nodes[i]
	for _, a := range t.attrs[n.attrs : n.attrs+int32(n.nattr)] {
		if a.key != keyOther {
			continue
		}
		k, v, _ := strings.Cut(t.text[a.off:a.off+a.size], "=")
		if k == strings.ToLower(name) && (!exact || v == value) {
			return true
		}
	}
	return false
}
