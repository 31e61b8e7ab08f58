// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// beginBody leaves the head: from here on, content belongs to the body.
func (b *builder) beginBody() {
	b.body = true
	b.stack = append(b.stack[:0], open{node: bodyNode, tag: atom.Body, class: special})
	clear(b.count)
	b.foreign = 0
	b.reopen = b.reopen[:0]
}

func (b *builder) startTag(selfClosing bool) {
	name, more := b.z.TagName()
	tag := atom.Lookup(name)
	c := classOf(tag)
	n := node{tag: tag}
	if tag == 0 {
		n.off, n.size = b.store(name)
	}
	switch {
	case tag == atom.Html || tag == atom.Head:
		if more && tag == atom.Html {
			b.merge(rootNode)
		}
		return
	case tag == atom.Body || tag == atom.Frameset:
		if !b.body {
			b.beginBody()
		}
		if more {
			b.merge(bodyNode)
		}
		return
	case !b.body && b.top().node == headNode && !c.has(headOnly) && tag != atom.Template:
		b.beginBody()
	}
	if b.foreign > 0 {
		b.startForeign(tag, c)
	}
	if b.foreign == 0 {
		b.imply(tag, c)
		if !c.has(block) && !c.has(headOnly) && tag != atom.Template {
			b.reconstruct()
		}
	}
	n.attrs = int32(len(b.t.attrs))
	if more {
		b.attributes(tag)
		n.nattr = uint16(int32(len(b.t.attrs)) - n.attrs)
	}
	i := b.add(b.place(), n)
	if tag == atom.Script {
		b.t.scriptBytes++
	}
	if c.has(void) || selfClosing && b.foreign > 0 || len(b.stack) >= maxOpen {
		return
	}
	b.push(open{node: i, tag: tag, class: c})
}

func (b *builder) push(o open) {
	b.stack = append(b.stack, o)
	b.count[o.tag]++
	if o.tag == atom.Svg || o.tag == atom.Math {
		if b.foreign == 0 {
			b.foreignAt = len(b.stack) - 1
		}
		b.foreign++
	}
}

// pop closes the elements from position at upwards. Formatting elements that
// were still open are remembered, to be opened again where text follows.
func (b *builder) pop(at int) {
	for len(b.stack) > at {
		o := b.top()
		b.stack = b.stack[:len(b.stack)-1]
		if !o.dead {
			b.count[o.tag]--
		}
		switch {
		case o.tag == atom.Svg || o.tag == atom.Math:
			b.foreign--
		case o.class.has(barrier):
			b.reopen = b.reopen[:0]
		case o.class.has(formatting) && !o.dead && len(b.stack) > at:
			b.remember(o.node)
		}
	}
}

// remember puts a formatting element before those that were opened after it.
func (b *builder) remember(i int32) {
	if len(b.reopen) < maxReopen {
		b.reopen = append([]int32{i}, b.reopen...)
	}
}

// reconstruct opens the remembered formatting elements again, as browsers do
// before text: <p><b>one<p>two shows both words bold.
func (b *builder) reconstruct() {
	if len(b.reopen) == 0 || b.foreign > 0 || b.top().tag == atom.Table || b.top().tag == atom.Tr {
		return
	}
	for _, old := range b.reopen {
		n := b.t.nodes[old]
		i := b.add(b.place(), node{tag: n.tag, attrs: n.attrs, nattr: n.nattr})
		b.push(open{node: i, tag: n.tag, class: classOf(n.tag)})
	}
	b.reopen = b.reopen[:0]
}

// forget drops a remembered formatting element: its end tag came.
func (b *builder) forget(tag atom.Atom) {
	for k := len(b.reopen) - 1; k >= 0; k-- {
		if b.t.nodes[b.reopen[k]].tag == tag {
			b.reopen = append(b.reopen[:k], b.reopen[k+1:]...)
			return
		}
	}
}

// find gives the position of the innermost open element with the tag, or -1.
// The search stops at elements of the classes in stop.
func (b *builder) find(tag atom.Atom, stop class) int {
	if b.count[tag] == 0 {
		return -1
	}
	low := max(1, len(b.stack)-maxSearch)
	for k := len(b.stack) - 1; k >= low; k-- {
		o := b.stack[k]
		if o.tag == tag && !o.dead {
			return k
		}
		if o.class.has(stop) {
			return -1
		}
	}
	return -1
}

func (b *builder) closeIfOpen(tag atom.Atom, stop class) {
	if k := b.find(tag, stop); k > 0 {
		b.pop(k)
	}
}

// imply closes what the start of an element ends by itself.
func (b *builder) imply(tag atom.Atom, c class) {
	if c.has(closesP) {
		b.closeIfOpen(atom.Select, barrier) // never closed: nothing of the kind may be in it
		b.closeIfOpen(atom.P, barrier)
	}
	switch tag {
	case atom.Li:
		b.closeItem(atom.Li, 0)
	case atom.Dt, atom.Dd:
		b.closeItem(atom.Dt, atom.Dd)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if isHeading(b.top().tag) {
			b.pop(len(b.stack) - 1)
		}
	case atom.A, atom.Button, atom.Nobr, atom.Option:
		b.endTag(tag, nil)
		b.forget(tag)
	case atom.Select:
		b.closeIfOpen(tag, barrier)
	case atom.Optgroup:
		b.endTag(atom.Option, nil)
		b.endTag(atom.Optgroup, nil)
	case atom.Rt, atom.Rp:
		if t := b.top().tag; t == atom.Rt || t == atom.Rp {
			b.pop(len(b.stack) - 1)
		}
	case atom.Td, atom.Th:
		b.closeTo(atom.Tr, atom.Td, atom.Th, atom.Caption)
	case atom.Tr:
		b.closeTo(atom.Tbody, atom.Tr, atom.Td, atom.Th, atom.Caption, atom.Colgroup)
	case atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption, atom.Colgroup:
		b.closeTo(atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption, atom.Colgroup)
	}
}

// closeItem ends an open list item (or dt, dd) unless a list of its own or
// another special element stands between.
func (b *builder) closeItem(tag, other atom.Atom) {
	if b.count[tag] == 0 && b.count[other] == 0 {
		return
	}
	low := max(1, len(b.stack)-maxSearch)
	for k := len(b.stack) - 1; k >= low; k-- {
		o := b.stack[k]
		if o.tag == tag || other != 0 && o.tag == other {
			b.pop(k)
			return
		}
		if o.class.has(special) && o.tag != atom.P {
			return
		}
	}
}

// closeTo ends the outermost of the given elements within the innermost table.
// Elements of the parent's kind stay open.
func (b *builder) closeTo(parent atom.Atom, tags ...atom.Atom) {
	if b.count[atom.Table] == 0 {
		return
	}
	at, low := -1, max(1, len(b.stack)-maxSearch)
	for k := len(b.stack) - 1; k >= low; k-- {
		tag := b.stack[k].tag
		if tag == atom.Table || tag == atom.Template || tag == parent {
			break
		}
		if slices.Contains(tags, tag) {
			at = k
		}
	}
	if at > 0 {
		b.pop(at)
	}
}

// startForeign handles a start tag inside svg or math: raw text elements are
// ordinary there, and an HTML block ends what was never closed.
func (b *builder) startForeign(tag atom.Atom, c class) {
	b.z.NextIsNotRawText()
	if !c.has(inSVG) {
		return
	}
	for k := len(b.stack) - 1; k >= max(1, len(b.stack)-maxSearch); k-- {
		switch b.stack[k].tag {
		case atom.Svg, atom.Math:
			b.pop(b.foreignAt)
			return
		case atom.Foreignobject, atom.ForeignObject, atom.Desc, atom.Title, atom.AnnotationXml, atom.Mtext, atom.Mi, atom.Mo, atom.Mn, atom.Ms:
			return
		}
	}
}

func (b *builder) endTag(tag atom.Atom, name []byte) {
	c := classOf(tag)
	switch {
	case tag == atom.Br:
		b.add(b.place(), node{tag: atom.Br})
	case tag == atom.Head && !b.body:
		b.beginBody()
	case tag == atom.Html || tag == atom.Body || tag == atom.Head || c.has(void):
	case c.has(formatting):
		b.endFormatting(tag)
	case tag == 0:
		b.endUnknown(name)
	case isHeading(tag):
		b.endHeading(tag)
	case tag == atom.Li:
		b.endWithin(tag, atom.Ul, atom.Ol)
	case tag == atom.Tr, tag == atom.Td, tag == atom.Th, tag == atom.Caption,
		tag == atom.Tbody, tag == atom.Thead, tag == atom.Tfoot:
		b.endWithin(tag, atom.Table, atom.Template)
	case c.has(barrier):
		b.closeIfOpen(tag, 0)
	default:
		b.closeIfOpen(tag, barrier)
	}
}

// endWithin ends the innermost open element with the tag, unless one of the
// stops is open inside it.
func (b *builder) endWithin(tag atom.Atom, stops ...atom.Atom) {
	if b.count[tag] == 0 {
		return
	}
	low := max(1, len(b.stack)-maxSearch)
	for k := len(b.stack) - 1; k >= low; k-- {
		open := b.stack[k].tag
		if open == tag {
			b.pop(k)
			return
		}
		if slices.Contains(stops, open) {
			return
		}
	}
}

// endHeading lets any heading's end tag close the open heading, as browsers do.
func (b *builder) endHeading(tag atom.Atom) {
	if k := b.find(tag, barrier); k > 0 {
		b.pop(k)
	} else if isHeading(b.top().tag) {
		b.pop(len(b.stack) - 1)
	}
}

func (b *builder) endUnknown(name []byte) {
	low := max(1, len(b.stack)-maxSearch)
	if b.count[0] == 0 {
		return
	}
	for k := len(b.stack) - 1; k >= low; k-- {
		o := b.stack[k]
		if n := &b.t.nodes[o.node]; o.tag == 0 && b.text.String()[n.off:n.off+n.size] == string(name) {
			b.pop(k)
			return
		}
		if o.class.has(barrier) {
			return
		}
	}
}

// endFormatting ends a formatting element. Where blocks inside it go on, an
// endNode says so, and the element stays in the stack, dead.
func (b *builder) endFormatting(tag atom.Atom) {
	k := b.find(tag, barrier)
	if k < 0 {
		b.forget(tag)
		return
	}
	for _, o := range b.stack[k+1:] {
		if o.class.has(special) || o.class.has(block) {
			b.add(b.top().node, node{kind: endNode, off: uint32(b.stack[k].node)})
			b.stack[k].dead = true
			b.count[tag]--
			return
		}
	}
	b.pop(k)
}

// merge adds the attributes of a second html or body tag to the element.
func (b *builder) merge(i int32) {
	first := int32(len(b.t.attrs))
	b.attributes(0)
	n := &b.t.nodes[i]
	if n.nattr == 0 {
		n.attrs, n.nattr = first, uint16(int32(len(b.t.attrs))-first)
	}
}

// attributes reads the attributes of the tag and keeps those that are used.
func (b *builder) attributes(tag atom.Atom) {
	first, other := len(b.t.attrs), 0
	for more := true; more; {
		var key, val []byte
		key, val, more = b.z.TagAttr()
		k := attrKeyOf(key)
		switch {
		case k == keyNone:
			if other++; len(key) == 0 || other > maxOthers || len(key)+len(val) > maxOther || strings.HasPrefix(string(key), "on") {
				continue
			}
			off, _ := b.store(key)
			b.text.WriteByte('=')
			b.text.Write(val)
			b.t.attrs = append(b.t.attrs, attr{keyOther, off, uint32(len(key) + 1 + len(val))})
			continue
		case k == keySrcdoc:
			val = val[:min(len(val), maxFrame)]
		case len(val) > maxAttrValue:
			val = val[:64]
		}
		if b.knows(first, k) {
			continue
		}
		if needsCleaning(val) {
			val = []byte(b.clean(string(val)))
		}
		off, size := b.store(val)
		b.t.attrs = append(b.t.attrs, attr{k, off, size})
	}
}

// knows reports whether the element being read has the attribute already: the
// first one counts.
func (b *builder) knows(first int, k attrKey) bool {
	for _, a := range b.t.attrs[first:] {
		if a.key == k {
			return true
		}
	}
	return false
}
