// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"slices"
	"strings"
)

// Passages answers a prompt with the passages of the document that fit it best,
// without any model. It never fails and never passes the budget: where nothing
// fits, the beginning of the document comes back with its outline; a document
// that fits as a whole comes back as it is.
func Passages(a Ask) Reply {
	budget := a.Budget
	if budget <= 0 {
		budget = PassageBudget
	}
	if Tokens(a.Doc.Markdown) <= budget {
		return whole(a)
	}
	p := parse(a.Doc, budget*2)
	q := newQuery(a.Prompt, a.Doc.Title)
	from, to := p.span(a.Section)
	if !q.vague() {
		r := rank(p, q)
		if picks := r.choose(from, to, budget); len(picks) > 0 {
			return r.reply(a, picks)
		}
		if out, ok := r.piece(a, budget); ok {
			return out
		}
	}
	return p.beginning(a, from, to, budget)
}

// wholeCites bounds the citations of a document that is shown whole.
const wholeCites = 3

// whole shows all of a document and cites the parts that fit the prompt best.
func whole(a Ask) Reply {
	out := Reply{Text: a.Doc.Markdown, Path: PathPassages}
	p, q := parse(a.Doc, len(a.Doc.Markdown)), newQuery(a.Prompt, a.Doc.Title)
	if q.vague() {
		return measured(out)
	}
	r := rank(p, q)
	var best []int
	for i, s := range r.scores {
		if s > 0 {
			best = append(best, i)
		}
	}
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(r.scores[b], r.scores[a]) })
	best = best[:min(len(best), wholeCites)]
	slices.Sort(best)
	for _, i := range best {
		t := r.atoms[i]
		out.Citations = append(out.Citations, r.citation(a, t.start, t.end, t.section))
	}
	return measured(out)
}

// span gives the byte range of the section with the given id; the whole document
// when there is none.
func (p *parsed) span(id string) (from, to int) {
	if id != "" {
		for _, s := range p.sections {
			if s.ID == id {
				return s.Start, s.End
			}
		}
	}
	return 0, len(p.text)
}

// shownHeading bounds a heading path in the output, in bytes: it is context, not
// content.
const shownHeading = 160

// label gives the heading line of a section: its titles from the top, without
// the one that stands over the whole document.
func (p *parsed) label(section int32) string {
	if section < 0 {
		return ""
	}
	path := p.sections[section].Path
	if len(path) == 0 {
		path = []string{p.sections[section].Title}
	}
	if len(path) > 1 && p.rooted() {
		path = path[1:]
	}
	s := strings.Join(path, " > ")
	for len(s) > shownHeading && len(path) > 1 {
		path = path[1:]
		s = "… > " + strings.Join(path, " > ")
	}
	return "## " + clip(s, shownHeading)
}

// rooted reports whether the first section holds all others.
func (p *parsed) rooted() bool {
	return len(p.sections) > 1 && p.sections[0].End >= p.sections[len(p.sections)-1].End
}

// gap stands between parts of a section that are not neighbours on the page.
const gap = "[…]"

// sectionShare is the part of the budget that the section asked for has before
// the rest of the document, in percent: the answer may stand elsewhere.
const sectionShare = 60

// choose picks atoms until the budget is used. Those between from and to come
// first where that is not the whole document.
func (r *ranking) choose(from, to, budget int) []int {
	c := &chooser{ranking: r, left: budget*4 - 8, taken: map[int]bool{}, opened: map[int32]bool{}, used: map[int32]int{}, costs: map[int]int{}}
	var inside, all []int
	for i, a := range r.atoms {
		if r.scores[i] > 0 {
			all = append(all, i)
		}
		if a.start >= from && a.end <= to {
			inside = append(inside, i) // who names a section wants to see it, whatever its words
		}
	}
	if len(inside) < len(r.atoms) && len(all) > 0 {
		later := c.left * (100 - sectionShare) / 100
		c.left -= later
		c.fill(inside)
		c.left += later
	}
	c.fill(all)
	slices.Sort(c.picks)
	return c.picks
}

// piece shows the beginning of the best atom, where the budget is too small for
// any atom as a whole.
func (r *ranking) piece(a Ask, budget int) (Reply, bool) {
	best := -1
	for i, s := range r.scores {
		if s > 0 && (best < 0 || s > r.scores[best]) {
			best = i
		}
	}
	if best < 0 {
		return Reply{}, false
	}
	k := r.atoms[best]
	text := strings.TrimSpace(cutTokens(r.text[k.start:k.end], budget))
	if text == "" {
		return Reply{}, false
	}
	start := k.start + strings.Index(r.text[k.start:k.end], text)
	out := Reply{Text: text, Path: PathPassages, Citations: []Citation{r.citation(a, start, start+len(text), k.section)}}
	return measured(out), true
}

type chooser struct {
	*ranking
	left   int // quarter tokens
	picks  []int
	taken  map[int]bool
	opened map[int32]bool
	used   map[int32]int // quarter tokens by section
	costs  map[int]int   // quarter tokens by atom
}

// fill takes the best atom again and again; what a section already has makes its
// further atoms worth less.
func (c *chooser) fill(order []int) {
	value := func(i int) float64 {
		a := c.atoms[i]
		crowd := 1 + crowding*float64(c.used[a.section])/float64(4*PassageBudget)
		return c.scores[i] / crowd
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case c.scores[a] > c.scores[b]:
			return -1
		case c.scores[a] < c.scores[b]:
			return 1
		}
		return 0
	})
	const window = 64 // the best is looked for among the next few: scores only fall
	for len(order) > 0 && c.left > 40 {
		best := 0
		for k := 1; k < min(window, len(order)); k++ {
			if value(order[k]) > value(order[best]) {
				best = k
			}
		}
		i := order[best]
		order = slices.Delete(order, best, best+1)
		c.take(i)
	}
}

// stub is the length up to which a paragraph may be a term or an introduction, in bytes.
const stub = 80

// take takes an atom with what introduces it and what follows it, if there is room.
func (c *chooser) take(i int) {
	if c.taken[i] {
		return
	}
	group := []int{i}
	if n := i + 1; n < len(c.atoms) && c.atoms[n].lead == int32(i) && c.atoms[i].kind == prose && c.atoms[i].end-c.atoms[i].start <= stub {
		group = append(group, n) // a term or an introduction says nothing by itself
	}
	for l := c.atoms[i].lead; l >= 0 && !c.taken[int(l)] && len(group) < 4; l = c.atoms[l].lead {
		group = append(group, int(l))
	}
	if c.put(group...) || c.put(group[:min(len(group), 2)]...) || c.put(i) {
		if n := i + 1; n < len(c.atoms) && !c.taken[n] && c.atoms[n].joined && c.scores[n] >= afterShare*c.scores[i] {
			c.put(n)
		}
	}
}

// put takes a group of atoms if all of it fits.
func (c *chooser) put(group ...int) bool {
	cost := 0
	var fresh []int
	for _, i := range group {
		if !c.taken[i] {
			cost += c.cost(i)
			c.taken[i] = true
			fresh = append(fresh, i)
		}
	}
	if s := c.atoms[group[0]].section; !c.opened[s] {
		cost += quarters(c.label(s)) + len("\n\n\n\n")
	}
	if cost > c.left {
		for _, i := range fresh {
			delete(c.taken, i)
		}
		return false
	}
	c.left -= cost
	c.picks = append(c.picks, fresh...)
	for _, i := range fresh {
		c.used[c.atoms[i].section] += c.shownCost(i)
		c.opened[c.atoms[i].section] = true
	}
	return true
}

// cost is what showing one more atom takes, with what stands between it and its
// neighbours, in quarter tokens.
func (c *chooser) cost(i int) int {
	const marker = len("\n\n\n\n") + 4 // gap and blank lines around it, or a row of a table that stands for it
	n := c.shownCost(i)
	if c.taken[i-1] && c.joins(i-1) {
		n += c.atoms[i].start - c.atoms[i-1].end
	} else {
		n += marker
	}
	if c.taken[i+1] && c.joins(i) {
		n += c.atoms[i+1].start - c.atoms[i].end - marker
	}
	return n
}

// shownCost is the cost of an atom's own text.
func (c *chooser) shownCost(i int) int {
	n, ok := c.costs[i]
	if !ok {
		n = quarters(c.shown(i))
		if f, ok := c.fenceOf(i); ok {
			n += quarters(f.open) + quarters(f.close) + len("\n\n") // where it stands alone
		}
		c.costs[i] = n
	}
	return n
}

// shown is an atom as it is shown.
func (p *parsed) shown(i int) string {
	t := p.text[p.atoms[i].start:p.atoms[i].end]
	if p.atoms[i].kind == code {
		return t
	}
	return lean(t, p.host)
}

// fenceOf gives the fence of a piece of a code block.
func (p *parsed) fenceOf(i int) (fence, bool) {
	if f := p.atoms[i].fence; f > 0 {
		return p.fences[f-1], true
	}
	return fence{}, false
}

// show writes a run of atoms with what stands between them. A piece of a code
// block at either end of it gets the fence that was left behind.
func (p *parsed) show(u run) string {
	var b strings.Builder
	if f, ok := p.fenceOf(u.first); ok {
		b.WriteString(f.open + "\n")
	}
	for i := u.first; i <= u.last; i++ {
		if i > u.first {
			b.WriteString(p.text[p.atoms[i-1].end:p.atoms[i].start])
		}
		b.WriteString(p.shown(i))
	}
	if f, ok := p.fenceOf(u.last); ok {
		b.WriteString("\n" + f.close)
	}
	return b.String()
}

// joins reports whether atoms i and i+1 stand side by side in one section.
func (c *chooser) joins(i int) bool { return c.atoms[i].section == c.atoms[i+1].section }

// run is a part of the page that is shown without a gap.
type run struct {
	first, last int // atoms
	best        int // the atom with the highest score
}

// runs joins neighbouring picks of one section.
func (r *ranking) runs(picks []int) []run {
	var out []run
	for _, i := range picks {
		if n := len(out); n > 0 && out[n-1].last == i-1 && r.atoms[i-1].section == r.atoms[i].section {
			out[n-1].last = i
			if r.scores[i] > r.scores[out[n-1].best] {
				out[n-1].best = i
			}
			continue
		}
		out = append(out, run{i, i, i})
	}
	return out
}

// reply writes the picks out: by section, in the order of the page.
func (r *ranking) reply(a Ask, picks []int) Reply {
	var b strings.Builder
	out := Reply{Path: PathPassages}
	section := int32(-2)
	for _, u := range r.runs(picks) {
		first := r.atoms[u.first]
		switch {
		case first.section != section:
			section = first.section
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			if l := r.label(section); l != "" {
				b.WriteString(l + "\n\n")
			}
		case first.kind == row && first.lead >= 0:
			b.WriteString("\n| … |\n")
		default:
			b.WriteString("\n\n" + gap + "\n\n")
		}
		b.WriteString(r.show(u))
		out.Citations = append(out.Citations, r.cite(a, u))
	}
	out.Text = b.String()
	return measured(out)
}

// cite quotes the telling part of a run: its best atom.
func (r *ranking) cite(a Ask, u run) Citation {
	t := r.atoms[u.best]
	return r.citation(a, t.start, t.end, t.section)
}

// citation quotes a span, clipped for a restricted page.
func (p *parsed) citation(a Ask, start, end int, section int32) Citation {
	if !a.Trusted {
		end = start + len(firstChars(p.text[start:end], quoteCap(a)))
	}
	c := Citation{Quote: p.text[start:end], Start: start, End: end}
	if section >= 0 {
		c.Section = p.sections[section].ID
	}
	return c
}

func quoteCap(a Ask) int {
	if a.MaxQuote > 0 {
		return a.MaxQuote
	}
	return MaxQuote
}

// firstChars gives the first n characters of s.
func firstChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// beginning gives the first part of the document, and its outline where there is room.
func (p *parsed) beginning(a Ask, from, to, budget int) Reply {
	outline := p.outline(budget / 4)
	text := p.text[from:to]
	head := cutTokens(text, budget-Tokens(outline)-8)
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 && len(head) < len(text) {
		head = head[:i]
	}
	head = strings.TrimRight(head, " \t\r\n")
	r := Reply{Text: head, Path: PathPassages}
	if outline != "" {
		r.Text += "\n\n" + gap + "\n\n" + outline
	}
	if head != "" {
		r.Citations = []Citation{p.citation(a, from, from+len(head), -1)}
	}
	return measured(r)
}

// outline lists the sections with their ids, as deep as the budget allows; of too
// many it lists the first.
func (p *parsed) outline(budget int) string {
	for depth := 3; depth >= 1; depth-- {
		lines, fits := p.titles(depth, budget)
		if fits || depth == 1 || len(p.sections) > 0 && p.shallow(depth-1) < 2 {
			if len(lines) < 2 {
				return ""
			}
			return "Sections of this page:\n" + strings.Join(lines, "\n")
		}
	}
	return ""
}

// shallow counts the sections of at most this depth.
func (p *parsed) shallow(depth int) int {
	n := 0
	for _, s := range p.sections {
		if s.Level <= depth {
			n++
		}
	}
	return n
}

// titles gives a line for each section of at most this depth, and whether all of
// them fit.
func (p *parsed) titles(depth, budget int) (lines []string, fits bool) {
	const more = "- …"
	left := budget*4 - quarters("Sections of this page:\n"+more)
	for _, s := range p.sections {
		if s.Level > depth {
			continue
		}
		l := strings.Repeat("  ", max(0, len(s.Path)-1)) + "- " + clip(s.Title, 80)
		if s.ID != "" {
			l += " (" + s.ID + ")"
		}
		if left -= quarters(l) + 1; left < 0 {
			return append(lines, more), false
		}
		lines = append(lines, l)
	}
	return lines, true
}
