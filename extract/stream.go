// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// stream is text as bare words, so that two texts can be compared word for word:
// lower case, one blank around every word, wide characters without blanks,
// punctuation, marks of Markdown and targets of links left out. A minus before a
// digit stays.
type stream struct {
	text string
	// at gives for every byte of text the offset in the source where its
	// character stands; end, where that character ends.
	at, end []int32
}

// maxTarget bounds the target of a link, in bytes.
const maxTarget = 2000

func newStream(s string) stream {
	w := streamWriter{buf: make([]byte, 0, len(s)+2), at: make([]int32, 0, len(s)+2), end: make([]int32, 0, len(s)+2)}
	w.blank(0)
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case r == ']' && strings.HasPrefix(s[i+1:], "("):
			n += linkEnd(clip(s[i+1:], maxTarget))
			w.blank(i)
		case cjk(r):
			w.wide(r, i, n)
		case letter(r), r == '-' && i+1 < len(s) && digit(s[i+1]) && (i == 0 || !alnum(s[i-1])):
			w.rune(unicode.ToLower(r), i, n)
		case strings.ContainsRune("*_`\\'’", r): // marks inside a word do not part it
		default:
			w.blank(i)
		}
		i += n
	}
	w.blank(len(s))
	return stream{text: string(w.buf), at: w.at, end: w.end}
}

type streamWriter struct {
	buf      []byte
	at, end  []int32
	wideLast bool
}

// blank parts words; there is none beside a wide character but where a word begins.
func (w *streamWriter) blank(i int) {
	if n := len(w.buf); n == 0 || w.buf[n-1] != ' ' && !w.wideLast {
		w.put(" ", i, 0)
	}
}

func (w *streamWriter) wide(r rune, i, n int) {
	if k := len(w.buf); k > 0 && w.buf[k-1] != ' ' && !w.wideLast {
		w.put(" ", i, 0)
	}
	w.put(string(r), i, n)
	w.wideLast = true
}

func (w *streamWriter) rune(r rune, i, n int) {
	if w.wideLast {
		w.put(" ", i, 0)
		w.wideLast = false
	}
	if r < utf8.RuneSelf {
		w.buf = append(w.buf, byte(r))
		w.at, w.end = append(w.at, int32(i)), append(w.end, int32(i+n))
		return
	}
	w.put(string(r), i, n)
}

func (w *streamWriter) put(s string, i, n int) {
	w.buf = append(w.buf, s...)
	for range len(s) {
		w.at, w.end = append(w.at, int32(i)), append(w.end, int32(i+n))
	}
}

// span gives the source offsets of the stream's bytes from i to j.
func (t stream) span(i, j int) (start, end int) {
	for i < j && t.text[i] == ' ' {
		i++
	}
	for j > i && t.text[j-1] == ' ' {
		j--
	}
	if i == j {
		return int(t.at[min(i, len(t.at)-1)]), int(t.at[min(i, len(t.at)-1)])
	}
	return int(t.at[i]), int(t.end[j-1])
}

// windows is the set of all stretches of one length that a text has.
type windows struct {
	size int
	set  map[uint64]struct{}
}

const hashBase = 0x9e3779b97f4a7c15 | 1

// newWindows collects the stretches of size bytes of a stream.
func newWindows(s string, size int) windows {
	w := windows{size: size, set: make(map[uint64]struct{}, max(0, len(s)-size))}
	w.each(s, func(_ int, h uint64) { w.set[h] = struct{}{} })
	return w
}

// each calls fn with the place and the hash of every stretch of s.
func (w windows) each(s string, fn func(i int, h uint64)) {
	if len(s) < w.size {
		return
	}
	top := uint64(1)
	for range w.size - 1 {
		top *= hashBase
	}
	h := uint64(0)
	for i := range len(s) {
		if i >= w.size {
			h -= (uint64(s[i-w.size]) + 1) * top
		}
		h = h*hashBase + uint64(s[i]) + 1
		if i >= w.size-1 {
			fn(i-w.size+1, h)
		}
	}
}

// shared gives the longest stretches of s, as byte spans, all of whose windows
// are in the set: text that the other stream has too.
func (w windows) shared(s string) [][2]int {
	var out [][2]int
	w.each(s, func(i int, h uint64) {
		if _, ok := w.set[h]; !ok {
			return
		}
		if n := len(out); n > 0 && out[n-1][1] >= i+w.size-1 {
			out[n-1][1] = i + w.size
			return
		}
		out = append(out, [2]int{i, i + w.size})
	})
	return out
}
