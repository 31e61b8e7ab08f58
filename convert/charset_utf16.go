// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Numbers of the guess at UTF-16. Samples of sound, tables of small numbers and
// the like have its rhythm of zero bytes too, so what the bytes would say must
// read like text.
const (
	utf16Window = 512     // bytes that show the rhythm
	utf16Sample = 4 << 10 // bytes that must read like text; an even number
	// plainShare: of the characters below U+0100 no more than one in this many
	// lies beyond ASCII. Accented letters of European languages are one in six
	// at most; samples of 8 bits spread evenly.
	plainShare = 3
	// foreignShare: of the letters above U+024F no more than one in this many
	// belongs to another script than most of them.
	foreignShare = 8
)

// looksUTF16 reports whether a body without a byte order mark is UTF-16.
func looksUTF16(body []byte) bool {
	return utf16Order(body) != ""
}

// utf16Order is utf-16le or utf-16be for bytes whose every second one is zero
// as in the markup of UTF-16 and that read like text so, else "".
func utf16Order(body []byte) string {
	head := body[:min(len(body), utf16Window)]
	var even, odd int
	for i, b := range head {
		if b == 0 && i%2 == 0 {
			even++
		} else if b == 0 {
			odd++
		}
	}
	name := ""
	switch pairs := len(head) / 2; {
	case pairs < 2:
	case odd*4 >= pairs && even*8 <= odd:
		name = "utf-16le"
	case even*4 >= pairs && odd*8 <= even:
		name = "utf-16be"
	}
	if name == "" || !tally(utf16Head(body, name)).isText() {
		return ""
	}
	return name
}

// utf16Head decodes the beginning of a body, without a character that the end
// of the sample tears apart.
func utf16Head(body []byte, name string) []rune {
	var order binary.ByteOrder = binary.LittleEndian
	if name == "utf-16be" {
		order = binary.BigEndian
	}
	var units []uint16
	for head := body[:min(len(body), utf16Sample)]; len(head) >= 2; head = head[2:] {
		units = append(units, order.Uint16(head))
	}
	if n := len(units); n > 0 && len(body) > utf16Sample && units[n-1]&0xFC00 == 0xD800 {
		units = units[:n-1]
	}
	return utf16.Decode(units)
}

// A runeTally counts what decides whether characters are text.
type runeTally struct {
	all      int
	wrong    int // controls, and what no standard assigns
	words    int // letters, digits, blanks, ASCII
	narrow   int // below U+0100
	accented int // of those, beyond ASCII
	foreign  int // letters above U+024F
	most     int // of those, of the script that most of them belong to
}

func tally(text []rune) runeTally {
	n := runeTally{all: len(text)}
	scripts := map[string]int{}
	for _, r := range text {
		switch {
		case !isTextRune(r):
			n.wrong++
		case r < utf8.RuneSelf, unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Zs):
			n.words++
		}
		switch {
		case r < utf8.RuneSelf:
			n.narrow++
		case r <= unicode.MaxLatin1:
			n.narrow++
			n.accented++
		case r > 0x24F && unicode.IsLetter(r):
			n.foreign++
			scripts[scriptOf(r)]++
		}
	}
	for _, count := range scripts {
		n.most = max(n.most, count)
	}
	return n
}

// isText reports whether all the characters are those of a text, mostly
// letters, blanks and ASCII, in one script beside Latin.
func (n runeTally) isText() bool {
	return n.wrong == 0 && n.words*2 >= n.all && n.accented*plainShare <= n.narrow && (n.foreign-n.most)*foreignShare <= n.foreign
}

// isTextRune reports whether a character can stand in a text: any graphic one,
// joiners and marks of direction, the icons of private fonts, and the controls
// that lay out plain text.
func isTextRune(r rune) bool {
	switch r {
	case '\t', '\n', '\f', '\r':
		return true
	case utf8.RuneError:
		return false
	}
	return unicode.IsGraphic(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// scriptOf names the script of a letter; those that one language mixes count as
// one.
func scriptOf(r rune) string {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo) {
		return "East Asian"
	}
	for _, known := range []struct {
		name  string
		table *unicode.RangeTable
	}{
		{"Latin", unicode.Latin}, {"Cyrillic", unicode.Cyrillic}, {"Greek", unicode.Greek}, {"Arabic", unicode.Arabic}, {"Hebrew", unicode.Hebrew},
		{"Devanagari", unicode.Devanagari}, {"Thai", unicode.Thai}, {"Armenian", unicode.Armenian}, {"Georgian", unicode.Georgian},
	} {
		if unicode.Is(known.table, r) {
			return known.name
		}
	}
	return "other"
}

// saysUTF16 reports whether a byte order mark or the header says UTF-16 and
// hardly any of the characters that the bytes make so is one that text never
// holds.
func saysUTF16(contentType string, body []byte) bool {
	name := markCharset(body)
	if name == "" {
		name = labelName(charsetParam(contentType))
	}
	if !strings.HasPrefix(name, "utf-16") {
		return false
	}
	n := tally(utf16Head(body, name))
	return n.wrong*dirtyShare <= n.all
}
