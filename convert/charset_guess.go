// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Numbers of the guess. Scores are points for each byte over 0x7F.
const (
	guessSample = 48 << 10 // bytes looked at; more changes no verdict
	asciiRun    = 48       // ASCII between two stretches of other bytes that is kept
	minScore    = 0.45     // below this nothing fits, and the default of the web is as good
	languageTip = 0.4      // what the page's own language adds
	mostlyUTF8  = 20       // valid sequences for one bad byte that make broken UTF-8
)

// guessCharset names the encoding that fits undeclared bytes best. lang is the
// primary language of the page, "" for unknown.
func guessCharset(body []byte, lang string) string {
	if name := utf16Order(body); name != "" {
		return name
	}
	if isEscaped(body) {
		return "iso-2022-jp"
	}
	if good, bad := utf8Tally(body); bad == 0 || good >= mostlyUTF8*bad {
		return utf8Name
	}
	sample := highSample(body)
	best, name := minScore, latinName
	for _, m := range pairModels() {
		if score := m.score(sample) + tip(m.langs, lang); score > best {
			best, name = score, m.charset
		}
	}
	for _, m := range byteModels() {
		if score := m.score(sample) + tip(m.langs, lang); score > best {
			best, name = score, m.charset
		}
	}
	return name
}

func tip(langs, lang string) float64 {
	if lang != "" && strings.Contains(" "+langs+" ", " "+lang+" ") {
		return languageTip
	}
	return 0
}

// isEscaped reports whether the body switches to JIS X 0208 by an escape
// sequence, as iso-2022-jp does, and holds nothing over 0x7F.
func isEscaped(body []byte) bool {
	if !bytes.Contains(body, []byte("\x1B$B")) && !bytes.Contains(body, []byte("\x1B$@")) {
		return false
	}
	for _, b := range body {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// highSample keeps the stretches of bytes over 0x7F with the ASCII close to
// them, so that a page of markup does not hide its text. A second byte of a
// pair is never further than one from its first, so no pair is torn.
func highSample(body []byte) []byte {
	sample := make([]byte, 0, min(len(body), guessSample))
	run := 0
	for _, b := range body {
		if b >= utf8.RuneSelf {
			run = 0
		} else if run++; run > asciiRun {
			continue
		}
		if run == asciiRun {
			b = ' '
		}
		if sample = append(sample, b); len(sample) >= guessSample {
			break
		}
	}
	return sample
}

// A pairModel is an encoding of one language that writes a character in two
// bytes.
type pairModel struct {
	charset string
	langs   string
	common  string // the most frequent characters of the language
	// points weighs a pair that is not among the common ones.
	points func(lead, trail byte) float64
	// single weighs a byte over 0x7F that stands alone; nil: it is an error.
	single func(b byte) (float64, bool)
	// kana: text of this language without kana is no text of this language.
	kana func(lead, trail byte) bool
}

const (
	errorPoints  = -12.0 // bytes that mean nothing
	commonPoints = 4.0   // two bytes, so two points a byte
	lonelyKana   = -1.0  // a Japanese text of this share without kana is not Japanese
)

func (m pairModel) score(sample []byte) float64 {
	common := m.codes()
	var points float64
	var high, pairs, kana int
	for i := 0; i < len(sample); i++ {
		lead := sample[i]
		if lead < utf8.RuneSelf {
			continue
		}
		high++
		if m.single != nil {
			if p, ok := m.single(lead); ok {
				points += p
				continue
			}
		}
		if i+1 >= len(sample) {
			break // cut by the sample
		}
		trail := sample[i+1]
		p := m.points(lead, trail)
		if common[[2]byte{lead, trail}] {
			p = commonPoints
		}
		points += p
		if p == errorPoints {
			continue
		}
		if i++; trail >= utf8.RuneSelf {
			high++
		}
		pairs++
		if m.kana != nil && m.kana(lead, trail) {
			kana++
		}
	}
	if high == 0 {
		return 0
	}
	score := points / float64(high)
	if m.kana != nil && kana*12 < pairs {
		score += lonelyKana
	}
	return score
}

// codes gives the byte pairs of the common characters.
func (m pairModel) codes() map[[2]byte]bool {
	codes := make(map[[2]byte]bool, len(m.common)/3)
	encoder := encodingOf(m.charset).NewEncoder()
	for _, r := range m.common {
		if b, err := encoder.Bytes([]byte(string(r))); err == nil && len(b) == 2 {
			codes[[2]byte(b)] = true
		}
	}
	return codes
}

// A byteModel is an encoding of one language that writes a letter in one byte.
type byteModel struct {
	charset string
	langs   string
	common  string // letters beyond ASCII that the language uses most
	rare    string // its other letters
	latin   bool   // written in Latin letters, so ASCII stands beside the others
}

// Points of a byteModel for one byte.
const (
	letterPoints = 1.8
	rarePoints   = 0.6
	signPoints   = 0.4  // quotation marks, dashes and the like where they belong
	alienPoints  = -1.5 // a letter that the language does not use
	insidePoints = -2.5 // a sign inside a word
	mixedPoints  = -2.5 // two alphabets in one word, or a capital after a small letter
	crowdPoints  = -1.5 // three accented letters in a row
)

func (m byteModel) score(sample []byte) float64 {
	table := m.table()
	runes := make([]rune, len(sample))
	for i, b := range sample {
		runes[i] = table[b]
	}
	var points float64
	high := 0
	for i, b := range sample {
		if b >= utf8.RuneSelf {
			points += m.weigh(runes, i)
			high++
		}
	}
	if high == 0 {
		return 0
	}
	return points / float64(high)
}

// table decodes every byte on its own.
func (m byteModel) table() (table [256]rune) {
	decoder := encodingOf(m.charset).NewDecoder()
	for i := range table {
		text, err := decoder.Bytes([]byte{byte(i)})
		if err != nil {
			table[i] = utf8.RuneError
			continue
		}
		table[i], _ = utf8.DecodeRune(text)
	}
	return table
}

func (m byteModel) weigh(runes []rune, i int) float64 {
	r, before, after := runes[i], at(runes, i-1), at(runes, i+1)
	switch {
	case r == utf8.RuneError || unicode.IsControl(r):
		return errorPoints
	case r >= 0x2500 && r <= 0x25FF: // lines and boxes: another table's letters
		return insidePoints
	case !unicode.IsLetter(r) && !unicode.IsMark(r):
		if unicode.IsLetter(before) && unicode.IsLetter(after) && r != '’' && r != '\u00AD' && r != '·' {
			return insidePoints
		}
		return signPoints
	}
	points := alienPoints
	lower := unicode.ToLower(r)
	if strings.ContainsRune(m.common, r) || strings.ContainsRune(m.common, lower) {
		points = letterPoints
	} else if strings.ContainsRune(m.rare, r) || strings.ContainsRune(m.rare, lower) {
		points = rarePoints
	}
	if unicode.IsUpper(r) {
		points -= 0.4
		if unicode.IsLower(before) {
			points += mixedPoints
		}
	}
	return points + m.neighbours(before, after, at(runes, i-2))
}

// neighbours weighs what stands beside a letter.
func (m byteModel) neighbours(before, after, earlier rune) (points float64) {
	if !m.latin {
		if before < utf8.RuneSelf && unicode.IsLetter(before) || after < utf8.RuneSelf && unicode.IsLetter(after) {
			return mixedPoints
		}
		return 0
	}
	if before >= utf8.RuneSelf && unicode.IsLetter(before) && earlier >= utf8.RuneSelf && unicode.IsLetter(earlier) {
		return crowdPoints
	}
	return 0
}

func at(runes []rune, i int) rune {
	if i < 0 || i >= len(runes) {
		return 0
	}
	return runes[i]
}
