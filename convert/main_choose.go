// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"

	"golang.org/x/net/html/atom"
)

// The choice of the main content marks what is left out and changes nothing
// else. It trusts what a page says about itself (main, article), then looks for
// the one part that holds nearly all running text, and where it is not sure it
// gives more: surplus text costs a reader little, missing text everything.

// The shares on which the choice rests, in percent.
const (
	trustMain    = 25 // of the text outside boilerplate that a main element must hold
	trustArticle = 40 // the same for one article
	dominant     = 80 // of the running text that a part must hold to be all of it
	remains      = 25 // of its text that the chosen part must keep after pruning
)

const (
	smallPage  = 400  // letters below which a page is given as it is
	shortTitle = 300  // letters of a page's head that may be kept for its title
	dense      = 0.5  // share of links that makes a part a menu
	halfDense  = 0.35 // the same for a part whose name says that it is one
)

// chooser marks boilerplate.
type chooser struct {
	t     *tree
	stats []stat
	holds []uint8 // what is in a node
	boil  []bool  // parts that are boilerplate by their own nature
	rest  []int32 // letters of a node without the boilerplate in it
	own   []int32 // the same outside of links
	root  int32
}

// choose marks what is not main content with markLeftOut.
func choose(t *tree, stats []stat) {
	c := &chooser{t: t, stats: stats, boil: make([]bool, len(t.nodes)), root: bodyNode}
	c.survey()
	c.find()
	c.weigh()
	if c.rest[bodyNode] == 0 {
		return // a page of menus alone
	}
	trusted := c.pick()
	if c.root != bodyNode {
		c.leaveRest()
	}
	c.prune(trusted)
}

// What a part holds.
const (
	holdsMain uint8 = 1 << iota
	holdsArticle
	holdsTitle
)

// survey notes which parts hold a main element, a large article, or an h1.
func (c *chooser) survey() {
	c.holds = make([]uint8, len(c.stats))
	for i := int32(len(c.stats) - 1); i > bodyNode; i-- {
		n := c.t.node(i)
		if n.mark&markHidden != 0 || n.kind != elementNode {
			continue
		}
		switch {
		case c.isMain(i):
			c.holds[i] |= holdsMain
		case n.tag == atom.Article && c.stats[i].letters > c.stats[bodyNode].letters/4:
			c.holds[i] |= holdsArticle
		case n.tag == atom.H1 && c.stats[i].letters > 0:
			c.holds[i] |= holdsTitle
		}
		c.holds[n.parent] |= c.holds[i]
	}
}

// find notes the parts that are boilerplate by their own nature.
func (c *chooser) find() {
	total := c.stats[bodyNode].letters
	c.t.walk(bodyNode, func(i int32) bool {
		n := c.t.node(i)
		if n.kind != elementNode || n.mark&markHidden != 0 {
			return n.kind == elementNode && n.mark&markHidden == 0
		}
		if i != bodyNode && c.isBoilerplate(i) && !c.holdsMain(i, total) {
			c.boil[i] = true
			return false
		}
		return true
	})
}

// holdsMain reports whether a part cannot be boilerplate, since it is most of
// the page or holds what the page calls its main content.
func (c *chooser) holdsMain(i, total int32) bool {
	s := c.stats[i]
	return s.own() > total/2 && s.density() < dense || c.holds[i]&(holdsMain|holdsArticle) != 0
}

func (c *chooser) isMain(i int32) bool {
	return c.t.nodes[i].kind == elementNode && c.t.nodes[i].mark&markHidden == 0 &&
		(c.t.is(i, atom.Main) || c.t.isWord(i, keyRole, "main"))
}

// weigh sums up the text outside boilerplate.
func (c *chooser) weigh() {
	c.rest, c.own = make([]int32, len(c.stats)), make([]int32, len(c.stats))
	inLink := make([]bool, len(c.stats))
	for i := range c.t.nodes {
		n := c.t.node(int32(i))
		inLink[i] = n.parent != none && inLink[n.parent] || n.tag == atom.A && c.t.has(int32(i), keyHref)
	}
	for i := len(c.stats) - 1; i > 0; i-- {
		n := c.t.node(int32(i))
		if n.mark&markHidden != 0 || c.boil[i] {
			continue
		}
		if n.kind == textNode {
			c.rest[i] = c.stats[i].letters
			if !inLink[i] {
				c.own[i] = c.stats[i].letters
			}
		}
		c.rest[n.parent] += c.rest[i]
		c.own[n.parent] += c.own[i]
	}
}

// pick chooses the part that holds the main content and says whether the page
// itself names it.
func (c *chooser) pick() (trusted bool) {
	if i := c.namedMain(); i != none {
		c.root = i
		if inner := c.soleArticle(i); inner != none {
			c.root = inner
		}
		return true
	}
	if i := c.soleArticle(bodyNode); i != none {
		c.root = i
		return true
	}
	if c.rest[bodyNode] >= smallPage {
		c.root = c.dominantPart(bodyNode)
	}
	return false
}

// namedMain gives the main element, or the largest of several, where it holds
// a good part of the text.
func (c *chooser) namedMain() int32 {
	best := none
	c.t.walk(bodyNode, func(i int32) bool {
		if c.t.node(i).mark&markHidden != 0 || c.boil[i] {
			return false
		}
		if c.isMain(i) && (best == none || c.rest[i] > c.rest[best]) {
			best = i
		}
		return true
	})
	if best == none || c.rest[best] == 0 || int64(c.rest[best])*100 < int64(c.rest[bodyNode])*trustMain {
		return none
	}
	return best
}

// soleArticle gives the article below i that holds nearly all of its text.
// Several articles side by side are a list of entries: none of them is chosen.
func (c *chooser) soleArticle(i int32) int32 {
	best, second := none, none
	c.t.walk(i, func(j int32) bool {
		if c.t.node(j).mark&markHidden != 0 || c.boil[j] {
			return false
		}
		if !c.t.is(j, atom.Article) && !c.t.isWord(j, keyRole, "article") || j == i {
			return true
		}
		switch {
		case best == none || c.rest[j] > c.rest[best]:
			best, second = j, best
		case second == none || c.rest[j] > c.rest[second]:
			second = j
		}
		return false
	})
	share := int64(trustArticle)
	if i != bodyNode {
		share = dominant // within a main element, what is around an article is meant to be read
	}
	if best == none || c.rest[best] < 50 || int64(c.rest[best])*100 < int64(c.rest[i])*share ||
		second != none && c.rest[second]*3 > c.rest[best] {
		return none
	}
	return best
}

// dominantPart goes down from i as long as one child holds nearly all running
// text and what stands beside it looks like the frame of a page.
func (c *chooser) dominantPart(i int32) int32 {
	total := int64(c.own[i])
	if total == 0 {
		return i
	}
	for {
		next := none
		for ch := c.t.nodes[i].first; ch != none; ch = c.t.nodes[ch].next {
			if c.t.nodes[ch].kind == elementNode && int64(c.own[ch])*100 >= total*dominant {
				next = ch
			}
		}
		if next == none || !isContainer(c.t.nodes[next].tag) {
			return i
		}
		for ch := c.t.nodes[i].first; ch != none; ch = c.t.nodes[ch].next {
			if ch != next && !c.boil[ch] && !c.isFrame(ch) && !c.isLoose(ch) { // what is loose is kept in any case
				return i
			}
		}
		i = next
	}
}

// isFrame reports whether a part beside the main one can be left out: a
// container of links or of few words. Text, paragraphs and tables are content
// wherever they stand.
func (c *chooser) isFrame(i int32) bool {
	n, s := c.t.node(i), c.stats[i]
	switch {
	case n.mark&markHidden != 0 || s.letters == 0:
		return true
	case n.kind != elementNode || !isContainer(n.tag):
		return false
	}
	return s.density() > halfDense && s.own() < smallPage || s.letters < shortTitle/2 && c.holds[i]&holdsTitle == 0
}

// isContainer reports whether an element only groups others.
func isContainer(tag atom.Atom) bool {
	switch tag {
	case atom.Div, atom.Section, atom.Article, atom.Main, atom.Center, atom.Form, atom.Header, atom.Footer, atom.Aside, atom.Nav, 0:
		return true
	}
	return false
}

// leaveRest marks everything beside the way from the body to the chosen part.
// The title of the page is kept where the part has none.
func (c *chooser) leaveRest() {
	keep := none
	if c.holds[c.root]&holdsTitle == 0 {
		keep = c.pageTitle()
	}
	spare := map[int32]bool{}
	for i := keep; i != none; i = c.t.nodes[i].parent {
		spare[i] = true
	}
	for i := c.root; i != bodyNode; i = c.t.nodes[i].parent {
		p := c.t.nodes[i].parent
		for ch := c.t.nodes[p].first; ch != none; ch = c.t.nodes[ch].next {
			if ch != i && !c.isLoose(ch) {
				c.leaveOut(ch, spare, keep)
			}
		}
	}
}

// isLoose reports whether a node beside the main content is text that stands in
// no part of the page's frame: bare text, a paragraph, a table of its own.
func (c *chooser) isLoose(i int32) bool {
	switch c.t.nodes[i].tag {
	case atom.P, atom.Pre, atom.Blockquote, atom.Table, atom.Details, atom.Dl:
		return !c.boil[i] && c.stats[i].density() < halfDense
	}
	return c.t.nodes[i].kind == textNode
}

func (c *chooser) leaveOut(i int32, spare map[int32]bool, keep int32) {
	if i == keep {
		return
	}
	if !spare[i] {
		c.t.nodes[i].mark |= markLeftOut
		return
	}
	for ch := c.t.nodes[i].first; ch != none; ch = c.t.nodes[ch].next {
		c.leaveOut(ch, spare, keep)
	}
}

// pageTitle gives the first h1 of the page, unless it is the name of the site.
func (c *chooser) pageTitle() int32 {
	h1 := none
	c.t.any(bodyNode, len(c.stats), func(j int32) bool {
		if c.t.is(j, atom.H1) && c.stats[j].letters > 0 && c.stats[j].letters <= shortTitle && c.stats[j].density() < dense && !isSiteName(c.t, j) {
			h1 = j
		}
		return h1 != none
	})
	return h1
}

// isSiteName reports whether a first heading is the name of the site rather
// than of the page, by its own class or that of its parents.
func isSiteName(t *tree, i int32) bool {
	for range 3 {
		if i == bodyNode || i == none {
			return false
		}
		for _, word := range nameWords(t, i) {
			switch word {
			case "logo", "brand", "branding", "site", "masthead", "menu", "navbar", "blog":
				return true
			}
		}
		i = t.nodes[i].parent
	}
	return false
}

// prune marks the boilerplate inside the chosen part. Where that would take
// nearly everything, nothing is taken.
func (c *chooser) prune(trusted bool) {
	all := c.stats[c.root].letters
	if !trusted && int64(c.rest[c.root])*100 < int64(all)*remains && c.own[c.root] < smallPage/4 {
		return
	}
	c.t.walk(c.root, func(i int32) bool {
		if c.boil[i] {
			c.t.nodes[i].mark |= markLeftOut
			return false
		}
		return c.t.node(i).mark&markHidden == 0
	})
}

// leftOutWarning counts the parts that were left out, with their letters.
func leftOutWarning(t *tree, stats []stat) (Removed, bool) {
	parts, letters := 0, int32(0)
	t.walk(bodyNode, func(i int32) bool {
		n := t.node(i)
		if n.mark&markLeftOut != 0 && n.mark&markHidden == 0 && n.mark&markText != 0 {
			parts++
			letters += stats[i].letters
		}
		return n.mark&(markLeftOut|markHidden) == 0
	})
	return Removed{Code: CodeBoilerplate, Count: parts,
		Message: fmt.Sprintf("menus and other parts around the main content were left out (%s, %d letters); ask for the full page to see them", plural(parts, "part", "parts"), letters)}, parts > 0
}
