// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/dipper-web/dipper/fault"
)

// The names of the Encoding Standard that this file decides by.
const (
	utf8Name        = "utf-8"
	latinName       = "windows-1252" // what the labels latin1 and iso-8859-1 mean, and the default of the web
	replacementName = "replacement"  // the retired encodings: their bytes may not be decoded
)

// Numbers that decide when bytes are believed against a declaration.
const (
	// minLieRunes is how many multi-byte sequences a body that is valid UTF-8
	// must hold to overrule a declared single-byte encoding. Two such pairs
	// can stand in a page about broken encodings, three rarely do.
	minLieRunes = 3
	// minLieBytes is how many bytes that belong to no sequence make a declared
	// UTF-8 a lie. A few stray bytes are damage, not a declaration.
	minLieBytes = 16
	// lieShare is how many of them must come on one valid sequence, since pairs
	// of legacy bytes form one by chance now and then.
	lieShare = 4
)

// decode turns bytes into text. A byte order mark decides first, then the
// label in contentType, then the declaration in the bytes (a meta element when
// html is set, an XML declaration), then the bytes themselves.
//
// charset is the name of the Encoding Standard. guessed says that nothing
// reliable named it, or that the bytes contradicted what did. Bytes that are
// wrong under the encoding become one U+FFFD for each maximal part, and never
// swallow the ASCII after them. A retired encoding (hz-gb-2312, iso-2022-kr …)
// is fault.Unreadable with cause charset, because two readers of such bytes
// may see two different pages.
func decode(body []byte, contentType string, html bool) (text, charset string, guessed bool, err error) {
	name, guessed := chooseCharset(body, contentType, html)
	if name == replacementName {
		return "", name, false, fault.New(fault.Unreadable, fault.Charset,
			"the page declares a retired character set (iso-2022-kr, hz-gb-2312 or a sibling), which is not decoded for safety")
	}
	text, ok := decodeAs(stripMark(body), name)
	if !ok {
		return "", name, guessed, fault.New(fault.Unreadable, fault.Charset, "the text cannot be decoded as %s", name)
	}
	return text, name, guessed, nil
}

// Text gives the decoded body of a page and the name of its encoding, with
// nothing else changed. The error is fault.Unreadable, cause charset.
func Text(in Input) (text, charset string, err error) {
	text, charset, _, err = decode(in.Body, in.Type, kindOf(in.Type, in.Body, in.URL) == KindHTML)
	return text, charset, err
}

// chooseCharset names the encoding of body; see decode for the order.
func chooseCharset(body []byte, contentType string, html bool) (name string, guessed bool) {
	if name := markCharset(body); name != "" {
		return name, false
	}
	label := charsetParam(contentType)
	header := labelName(label)
	if strings.HasPrefix(header, "utf-16") && utf8.Valid(body) && bytes.IndexByte(body, 0) < 0 {
		header = "" // ASCII-compatible bytes cannot be UTF-16
	}
	within := declaredInside(body, html, prescanWindow)
	if header != "" {
		return settle(body, header, within, html)
	}
	if within != "" {
		return settle(body, within, "", html)
	}
	if utf8.Valid(body) && !looksUTF16(body) && !isEscaped(body) {
		return utf8Name, label != "" && !isASCII(body)
	}
	if late := declaredInside(body, html, lateWindow); late != "" {
		return late, false
	}
	return guessCharset(body, languageHint(body, html)), true
}

// settle weighs a declared encoding against the bytes. inner is what the body
// declares of itself, where that is another source than declared.
func settle(body []byte, declared, inner string, html bool) (name string, guessed bool) {
	if declared == replacementName || isASCII(body) {
		return declared, false
	}
	if declared == utf8Name {
		return settleUTF8(body, inner, html)
	}
	if strings.HasPrefix(declared, "utf-16") || !utf8.Valid(body) {
		if declared == latinName && inner != "" && inner != latinName && multiByte(inner) && decodesWhole(body, inner) {
			return inner, true // a server's default label over a page that knows better
		}
		return declared, false
	}
	if inner == utf8Name || utf8.RuneCount(body) < len(body) && wronglyDeclared(body, declared) {
		return utf8Name, true
	}
	return declared, false
}

// settleUTF8 looks for a better encoding where UTF-8 is declared and wrong.
func settleUTF8(body []byte, inner string, html bool) (name string, guessed bool) {
	if utf8.Valid(body) {
		return utf8Name, false
	}
	good, bad := utf8Tally(body)
	if bad < minLieBytes || good*lieShare > bad {
		return utf8Name, false
	}
	if inner != "" && inner != utf8Name && inner != replacementName && decodesWhole(body, inner) {
		return inner, true
	}
	return guessCharset(body, languageHint(body, html)), true
}

// wronglyDeclared reports whether valid UTF-8 was declared as something else.
func wronglyDeclared(body []byte, declared string) bool {
	good, _ := utf8Tally(body)
	if multiByte(declared) {
		return good >= minLieRunes && !decodesWhole(body, declared)
	}
	return good >= minLieRunes
}

// utf8Tally counts the valid sequences of more than one byte, and the bytes
// that belong to none.
func utf8Tally(body []byte) (good, bad int) {
	for len(body) > 0 {
		if body[0] < utf8.RuneSelf {
			body = body[1:]
			continue
		}
		r, n := utf8.DecodeRune(body)
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			good++
		}
		body = body[n:]
	}
	return good, bad
}

// labelName gives the name that the Encoding Standard has for a label, "" for
// a label it does not know.
func labelName(label string) string {
	e, err := htmlindex.Get(label)
	if err != nil {
		return ""
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return ""
	}
	return name
}

// encodingOf gives the decoder of a name of the Encoding Standard, nil for none.
func encodingOf(name string) encoding.Encoding {
	switch name {
	case utf8Name:
		return unicode.UTF8
	case "gbk", "gb18030":
		return simplifiedchinese.GB18030 // the standard decodes both alike
	case "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return e
}

func decodeAs(body []byte, name string) (string, bool) {
	if name == utf8Name && utf8.Valid(body) {
		return string(body), true
	}
	e := encodingOf(name)
	if e == nil {
		return "", false
	}
	out, err := e.NewDecoder().Bytes(body)
	if err != nil {
		return "", false
	}
	return string(out), true
}

// decodesWhole reports whether every byte has a meaning under the encoding.
func decodesWhole(body []byte, name string) bool {
	text, ok := decodeAs(body, name)
	return ok && !strings.ContainsRune(text, utf8.RuneError)
}

func multiByte(name string) bool {
	switch name {
	case utf8Name, "gbk", "gb18030", "big5", "euc-kr", "euc-jp", "shift_jis", "iso-2022-jp":
		return true
	}
	return false
}

func isASCII(body []byte) bool {
	for _, b := range body {
		if b >= utf8.RuneSelf || b == 0x1B { // the escape opens iso-2022-jp
			return false
		}
	}
	return true
}

// markCharset names the encoding of a byte order mark, "" for none.
func markCharset(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte("\xEF\xBB\xBF")):
		return utf8Name
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		return "utf-16le"
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		return "utf-16be"
	}
	return ""
}

func stripMark(body []byte) []byte {
	switch markCharset(body) {
	case utf8Name:
		return body[3:]
	case "":
		return body
	}
	return body[2:]
}
