// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import "strings"

const upperHex = "0123456789ABCDEF"

// encodeHigh percent-encodes every byte above 0x7f.
func encodeHigh(s string) string {
	return encode(s, func(c byte) bool { return c < 0x80 })
}

// encodePath percent-encodes what the URL standard leaves bare in a path and
// net/url does not (such as | and ^), and every percent sign that begins no
// escape. Without it net/http would write the path anew, and an escaped slash
// would come out as a plain one.
func encodePath(path string) string {
	if path == "" {
		return "/"
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		_, escaped := hexPair(path, i)
		if unreserved(c) || strings.IndexByte("!$&'()*+,;=:@/[]", c) >= 0 || escaped {
			b.WriteByte(c)
		} else {
			writeEscape(&b, c)
		}
	}
	return b.String()
}

// normal decodes the escapes of unreserved characters, writes the others in
// upper case and escapes stray percent signs, so that it is a fixed point.
func normal(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, ok := hexPair(s, i)
		switch {
		case ok && unreserved(c):
			b.WriteByte(c)
		case ok:
			writeEscape(&b, c)
		case s[i] == '%':
			writeEscape(&b, '%')
		default:
			b.WriteByte(s[i])
		}
		if ok {
			i += 2
		}
	}
	return b.String()
}

// decode decodes every valid escape and leaves the rest alone.
func decode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c, ok := hexPair(s, i); ok {
			b = append(b, c)
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// decodeText is decode for text that is shown: always valid UTF-8.
func decodeText(s string) string { return strings.ToValidUTF8(decode(s), "\uFFFD") }

func encode(s string, bare func(byte) bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if bare(s[i]) {
			b.WriteByte(s[i])
		} else {
			writeEscape(&b, s[i])
		}
	}
	return b.String()
}

func writeEscape(b *strings.Builder, c byte) {
	b.WriteByte('%')
	b.WriteByte(upperHex[c>>4])
	b.WriteByte(upperHex[c&15])
}

// hexPair reads the escape that begins at s[i].
func hexPair(s string, i int) (byte, bool) {
	if i+2 >= len(s) || s[i] != '%' {
		return 0, false
	}
	hi, ok1 := hexDigit(s[i+1])
	lo, ok2 := hexDigit(s[i+2])
	return hi<<4 | lo, ok1 && ok2
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// unreserved is the set of RFC 3986, section 2.3.
func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
