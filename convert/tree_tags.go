// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"sync"

	"golang.org/x/net/html/atom"
)

// class is a set of properties of an element, after the WHATWG lists of
// section 13.2.4 and the default style sheet of section 15.
type class uint16

const (
	block      class = 1 << iota // a box of its own
	void                         // has no content
	formatting                   // reopened where it was not closed
	closesP                      // its start tag ends an open paragraph
	barrier                      // the search for an open element stops here
	special                      // the search for an open list item stops here
	headOnly                     // belongs to the head as long as no body has begun
	inSVG                        // ends an svg or math element that was not closed
)

func classOf(tag atom.Atom) class {
	switch tag {
	case atom.P:
		return block | closesP | special | inSVG
	case atom.Address, atom.Div:
		return block | closesP | inSVG
	case atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Details, atom.Dialog, atom.Dir,
		atom.Dl, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2,
		atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Main, atom.Menu, atom.Nav,
		atom.Ol, atom.Pre, atom.Section, atom.Summary, atom.Ul, atom.Listing, atom.Xmp, atom.Plaintext,
		atom.Search:
		return block | closesP | special | inSVG
	case atom.Li, atom.Dd, atom.Dt:
		return block | closesP | special | inSVG
	case atom.Table:
		return block | closesP | special | barrier | inSVG
	case atom.Td, atom.Th, atom.Caption:
		return block | special | barrier
	case atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot, atom.Colgroup, atom.Optgroup, atom.Option, atom.Legend:
		return block | special
	case atom.Hr:
		return block | closesP | void | special | inSVG
	case atom.Template, atom.Marquee, atom.Object, atom.Applet:
		return special | barrier
	case atom.Button, atom.Select, atom.Html, atom.Body, atom.Head:
		return special
	case atom.A, atom.Nobr:
		return formatting
	case atom.B, atom.Code, atom.Em, atom.I, atom.S, atom.Strike, atom.Strong, atom.Tt:
		return formatting | inSVG
	case atom.Big, atom.Small, atom.U, atom.Span, atom.Sub, atom.Sup, atom.Var, atom.Ruby:
		return inSVG
	case atom.Br, atom.Img, atom.Embed:
		return void | inSVG
	case atom.Input, atom.Wbr, atom.Area, atom.Col, atom.Frame, atom.Param, atom.Source, atom.Track, atom.Keygen, atom.Image:
		return void
	case atom.Meta, atom.Link, atom.Base, atom.Basefont, atom.Bgsound:
		return void | headOnly
	case atom.Title, atom.Style, atom.Script, atom.Noscript:
		return headOnly
	}
	return 0
}

func (c class) has(want class) bool { return c&want != 0 }

func isBlock(tag atom.Atom) bool { return classOf(tag).has(block) }

func isHeading(tag atom.Atom) bool { return headingLevel(tag) > 0 }

// headingLevel is 1 to 6, or 0 for another element.
func headingLevel(tag atom.Atom) int {
	switch tag {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 0
}

func isList(tag atom.Atom) bool {
	switch tag {
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		return true
	}
	return false
}

// attrKey is an attribute that some part of the room reads. Others are not kept.
type attrKey uint8

const (
	keyNone attrKey = iota
	keyAlt
	keyAltText
	keyAriaHidden
	keyAriaLabel
	keyBgColor
	keyChecked
	keyClass
	keyColor
	keyColspan
	keyContent
	keyData
	keyDataLang
	keyDataLatex
	keyDataLazySrc
	keyDataLine
	keyDataOriginal
	keyDataSrc
	keyDataSrcset
	keyDateTime
	keyDisplay
	keyEncoding
	keyHeight
	keyHidden
	keyHref
	keyHTTPEquiv
	keyID
	keyItemProp
	keyLang
	keyName
	keyOpen
	keyOther // any other: "name=value", for style sheets
	keyProperty
	keyRel
	keyReversed
	keyRole
	keyRowspan
	keyScope
	keyShadow
	keySrc
	keySrcdoc
	keySrcset
	keyStart
	keyStyle
	keyTitle
	keyType
	keyValue
	keyWidth
)

// attrKeyOf gives the key of an attribute's name in lower case, keyNone for one
// that is not kept.
func attrKeyOf(name []byte) attrKey { return attrKeys()[string(name)] }

// attrKeys maps names to keys; some names share one. It is built once, since
// every attribute of a page is looked up in it, and never written after that.
var attrKeys = sync.OnceValue(func() map[string]attrKey {
	return map[string]attrKey{
		"alt":              keyAlt,
		"alttext":          keyAltText,
		"aria-hidden":      keyAriaHidden,
		"aria-label":       keyAriaLabel,
		"bgcolor":          keyBgColor,
		"checked":          keyChecked,
		"class":            keyClass,
		"color":            keyColor,
		"colspan":          keyColspan,
		"content":          keyContent,
		"data":             keyData,
		"data-lang":        keyDataLang,
		"data-language":    keyDataLang,
		"data-latex":       keyDataLatex,
		"data-tex":         keyDataLatex,
		"data-lazy-src":    keyDataLazySrc,
		"data-line-number": keyDataLine,
		"data-original":    keyDataOriginal,
		"data-src":         keyDataSrc,
		"data-srcset":      keyDataSrcset,
		"data-lazy-srcset": keyDataSrcset,
		"datetime":         keyDateTime,
		"display":          keyDisplay,
		"encoding":         keyEncoding,
		"height":           keyHeight,
		"hidden":           keyHidden,
		"href":             keyHref,
		"http-equiv":       keyHTTPEquiv,
		"id":               keyID,
		"itemprop":         keyItemProp,
		"lang":             keyLang,
		"xml:lang":         keyLang,
		"name":             keyName,
		"open":             keyOpen,
		"property":         keyProperty,
		"rel":              keyRel,
		"reversed":         keyReversed,
		"role":             keyRole,
		"rowspan":          keyRowspan,
		"scope":            keyScope,
		"shadowrootmode":   keyShadow,
		"shadowroot":       keyShadow,
		"src":              keySrc,
		"srcdoc":           keySrcdoc,
		"srcset":           keySrcset,
		"start":            keyStart,
		"style":            keyStyle,
		"title":            keyTitle,
		"type":             keyType,
		"value":            keyValue,
		"width":            keyWidth,
	}
})
