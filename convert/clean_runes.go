// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import "unicode"

// Runes that are kept in their context only.
const (
	zwnj       = '\u200C'
	zwj        = '\u200D'
	zwsp       = '\u200B'
	textStyle  = '\uFE0E'
	emojiStyle = '\uFE0F'
	keycap     = '\u20E3'
)

// A runeClass says what becomes of a rune.
type runeClass int

const (
	visible   runeClass = iota // shows something: kept
	invisible                  // shows nothing: removed and counted
	blank                      // a blank of another width: a space
	blankWide                  // a blank that no text needs: a space, and counted
	line                       // a carriage return: a newline
	private                    // private use: removed and counted
	joining                    // kept in its context only
	escape                     // opens a terminal sequence
)

// classify sorts a rune that is not printable ASCII, tab or newline. It follows
// Default_Ignorable_Code_Point of the Unicode Character Database, with the
// controls, the blank letters and the noncharacters.
func classify(r rune) runeClass {
	switch {
	case r < 0xA0:
		return controlClass(r)
	case r == 0xA0, r >= 0x2000 && r <= 0x200A, r == 0x202F, r == 0x205F:
		return blank
	case isContextual(r):
		return joining
	case isBlankLetter(r):
		return blankWide
	case isInvisible(r):
		return invisible
	case r >= 0xE000 && r <= 0xF8FF:
		return private
	}
	return visible
}

func controlClass(r rune) runeClass {
	switch r {
	case '\r':
		return line
	case '\v', '\f', 0x85:
		return blankWide
	case 0x1B:
		return escape
	}
	return invisible
}

// isContextual reports whether needed (or flag) decides about the rune.
func isContextual(r rune) bool {
	switch r {
	case zwnj, zwj, zwsp, 0x115F, 0x1160, 0x180B, 0x180C, 0x180D, 0x180F:
		return true
	}
	return r >= 0xFE00 && r <= emojiStyle || r >= 0xE0020 && r <= 0xE007F
}

// isBlankLetter reports whether a rune is a letter or symbol without ink. A
// space stands in, so that the words around it stay apart.
func isBlankLetter(r rune) bool {
	return r == 0x2028 || r == 0x2029 || r == 0x2800 || r == 0x3164 || r == 0xFFA0
}

// isInvisible reports whether a rune shows nothing of its own.
func isInvisible(r rune) bool {
	switch {
	case r == 0xAD, r == 0x34F, r == 0x61C, r == 0x17B4, r == 0x17B5, r == 0xFEFF:
		return true
	case r >= 0x115F && r <= 0x1160, r >= 0x180B && r <= 0x180F, r >= 0x200B && r <= 0x200F:
		return true
	case r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r >= 0xFE00 && r <= 0xFE0F:
		return true
	case r >= 0xFDD0 && r <= 0xFDEF, r >= 0xFFF0 && r <= 0xFFFB, r&0xFFFE == 0xFFFE:
		return true
	case r >= 0x1BCA0 && r <= 0x1BCA3, r >= 0x1D173 && r <= 0x1D17A:
		return true
	}
	return r >= 0xE0000 // tags, selectors, and the private planes
}

// needed reports whether a joiner, selector or filler has a meaning after last
// and before next. base is last without selectors and skin tones.
func needed(r, last, base, next rune) bool {
	switch r {
	case zwnj:
		return joins(last) && joins(next) && !isMark(next)
	case zwj:
		return joins(last) || isEmoji(base) && isEmoji(next)
	case zwsp:
		return breaksWords(last) && breaksWords(next) && !isMark(next)
	case emojiStyle, textStyle:
		return isEmoji(last) || next == keycap && isKey(last)
	case 0xFE00:
		return isMathVariant(last)
	case 0x115F: // the filler stands for a missing first letter of a syllable
		return next >= 0x1161 && next <= 0x11A7
	case 0x1160:
		return last >= 0x1100 && last <= 0x115E
	case 0x180B, 0x180C, 0x180D, 0x180F:
		return last >= 0x1820 && last <= 0x18AA
	}
	return false
}

// isMark reports whether a rune stacks on the one before it.
func isMark(r rune) bool {
	if r < 0x300 || r > 0x30FF && r < 0xA66F {
		return false // Latin and Han, most text there is
	}
	return unicode.In(r, unicode.Mn, unicode.Me)
}

// joins reports whether a rune belongs to a script whose letters change beside
// a joiner: the cursive scripts and those with a virama (RFC 5892, A.1, A.2).
func joins(r rune) bool {
	return r > 0x5FF && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese,
		unicode.Javanese, unicode.Sundanese, unicode.Newa, unicode.Grantha, unicode.Chakma) && !unicode.IsDigit(r) ||
		r >= 0x64B && r <= 0x655 // Arabic vowel signs are shared, so the table has them under Inherited
}

// breaksWords reports whether a rune belongs to a script that is written
// without spaces and marks its words by U+200B.
func breaksWords(r rune) bool {
	return r > 0xDFF && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Javanese, unicode.Balinese)
}

// isEmoji reports whether a rune can carry a style selector or stand in a
// joined sequence: Extended_Pictographic of emoji-data.txt, in whole ranges.
func isEmoji(r rune) bool {
	switch {
	case r >= 0x1F000 && r <= 0x1FAFF, r >= 0x2600 && r <= 0x27BF, r >= 0x2300 && r <= 0x23FF:
		return true
	case r >= 0x2190 && r <= 0x21FF, r >= 0x2B00 && r <= 0x2BFF, r >= 0x25A0 && r <= 0x25FF:
		return true
	}
	switch r {
	case 0xA9, 0xAE, 0x203C, 0x2049, 0x2122, 0x2139, 0x24C2, 0x2934, 0x2935, 0x3030, 0x303D, 0x3297, 0x3299:
		return true
	}
	return false
}

func isSkinTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

func isKey(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// isMathVariant reports whether StandardizedVariants.txt knows another form of
// a mathematical sign under U+FE00.
func isMathVariant(r rune) bool {
	switch r {
	case '0', 0x2205, 0x2229, 0x222A, 0x2268, 0x2269, 0x2272, 0x2273, 0x228A, 0x228B, 0x2293, 0x2294, 0x2295, 0x2297, 0x229C,
		0x22DA, 0x22DB, 0x2A3C, 0x2A3D, 0x2A9D, 0x2A9E, 0x2AAC, 0x2AAD, 0x2ACB, 0x2ACC:
		return true
	}
	return false
}
