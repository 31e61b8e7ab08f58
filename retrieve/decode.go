// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// acceptEncoding names exactly the codings that decode undoes.
const acceptEncoding = "gzip, deflate, br, zstd"

// coding undoes one content coding. The reader it gives may implement io.Closer.
type coding func(*source) (io.Reader, error)

// errShort is an encoded stream that ends before its coding says so. Where only the
// end of the connection ends the body, that is a cut, and what came of it is good.
var errShort = errors.New("the encoded body ends before its coding does")

func codingOf(name string) coding {
	switch name {
	case "gzip", "x-gzip":
		return gunzip
	case "deflate":
		return inflate
	case "br":
		return func(r *source) (io.Reader, error) { return brotli.NewReader(r), nil }
	case "zstd":
		return unzstd
	}
	return nil
}

// codings reads the codings of a body in the order they are to be undone (RFC 9110
// section 8.4), from all headers together.
func codings(h http.Header, limit int) ([]coding, error) {
	var list []coding
	for _, v := range h["Content-Encoding"] {
		for name := range strings.SplitSeq(v, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if name == "" || name == "identity" {
				continue
			}
			c := codingOf(name)
			if c == nil {
				return nil, fmt.Errorf("its content encoding is %.40q, which Dipper does not know", name)
			}
			if list = append(list, c); len(list) > limit {
				return nil, fmt.Errorf("it is encoded more than %d times", limit)
			}
		}
	}
	slices.Reverse(list)
	return list, nil
}

// stack is a body with its codings undone.
type stack struct {
	io.Reader
	layers []*layer
	caps   []*capped
}

// decode stacks the codings on r. Between two of them no more than limit bytes pass.
func decode(r io.Reader, list []coding, limit int64) *stack {
	s := &stack{Reader: r}
	for i, c := range list {
		if i > 0 {
			between := &capped{r: s.Reader, left: limit}
			s.caps = append(s.caps, between)
			s.Reader = between
		}
		l := &layer{src: s.Reader, open: c}
		s.layers = append(s.layers, l)
		s.Reader = l
	}
	return s
}

// over reports whether a cap between two codings was reached. Decoders do not pass
// every error of their source on, so the caps are asked themselves.
func (s *stack) over() bool {
	return slices.ContainsFunc(s.caps, func(c *capped) bool { return c.over })
}

// short reports whether a coding was cut. The layers are asked themselves for the
// same reason.
func (s *stack) short() bool {
	return slices.ContainsFunc(s.layers, func(l *layer) bool { return l.err == errShort })
}

// close frees what the decoders hold.
func (s *stack) close() {
	for _, l := range slices.Backward(s.layers) {
		l.close()
	}
}

// layer opens its decoder at the first read, so that the header of the coding is
// read under the same deadlines as the rest. A body of no bytes needs no decoder.
type layer struct {
	src  io.Reader
	open coding
	in   *source // what r reads
	r    io.Reader
	err  error
}

func (l *layer) Read(p []byte) (int, error) {
	if l.r == nil && l.err == nil {
		l.in = &source{Reader: bufio.NewReader(l.src)}
		if _, err := l.in.Peek(1); err != nil {
			l.err = err
		} else {
			l.r, err = l.open(l.in)
			l.err = l.meaning(err)
		}
	}
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.r.Read(p)
	l.err = l.meaning(err)
	return n, l.err
}

// meaning tells a stream that was cut from one that is broken: decoders also say
// "unexpected end" of nonsense inside a stream that goes on.
func (l *layer) meaning(err error) error {
	if l.in.ended && errors.Is(err, io.ErrUnexpectedEOF) {
		return errShort
	}
	return err
}

func (l *layer) close() {
	if c, ok := l.r.(io.Closer); ok {
		_ = c.Close()
	}
}

// source is what a decoder reads. It knows whether the decoder wanted more after the
// end, which reading ahead does not tell.
type source struct {
	*bufio.Reader
	ended bool
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.ended = s.ended || err == io.EOF
	return n, err
}

func (s *source) ReadByte() (byte, error) {
	b, err := s.Reader.ReadByte()
	s.ended = s.ended || err == io.EOF
	return b, err
}

// begins reports whether the stream begins with magic, or ends inside it.
func (s *source) begins(magic string) bool {
	head, _ := s.Peek(len(magic)) // what is missing is the decoder's to find out
	return strings.HasPrefix(magic, string(head))
}

// capped bounds what passes between two layers.
type capped struct {
	r    io.Reader
	left int64
	over bool
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		c.over = true
		return 0, errOver
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// gunzip undoes gzip (RFC 1952). Members may follow each other; what follows them
// and is none is padding or junk, which browsers ignore too.
func gunzip(br *source) (io.Reader, error) {
	if !br.begins(gzipMagic) {
		return nil, gzip.ErrHeader // found here also where fewer bytes came than a header has
	}
	z, err := gzip.NewReader(br)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{br: br, z: z}, nil
}

// gzipMagic opens every member: RFC 1952 section 2.3.1.
const gzipMagic = "\x1f\x8b"

type members struct {
	br *source
	z  *gzip.Reader
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if err != io.EOF || n > 0 {
			return n, eofLater(n, err)
		}
		magic, err := m.br.Peek(len(gzipMagic))
		switch {
		case len(magic) < 2 && err == io.EOF, len(magic) == 2 && string(magic) != gzipMagic:
			return 0, io.EOF
		case err != nil:
			return 0, err
		}
		if err := m.z.Reset(m.br); err != nil {
			return 0, err
		}
		m.z.Multistream(false)
	}
}

// eofLater keeps the end of a member for the next call, where the next one is looked for.
func eofLater(n int, err error) error {
	if err == io.EOF && n > 0 {
		return nil
	}
	return err
}

// inflate undoes deflate, which RFC 9110 defines as the zlib format and which some
// servers send without its wrapper.
func inflate(br *source) (io.Reader, error) {
	head, _ := br.Peek(2)
	if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(br)
	}
	return flate.NewReader(br), nil
}

// unzstd undoes zstd (RFC 8878) with a bounded window and no goroutines of its own.
func unzstd(br *source) (io.Reader, error) {
	first, err := br.Peek(1)
	if err != nil {
		return nil, err
	}
	if skip := string(rune(0x50|first[0]&0x0f)) + zstdSkip; !br.begins(zstdMagic) && !br.begins(skip) {
		return nil, zstd.ErrMagicMismatch
	}
	d, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(windowLimit), zstd.WithDecoderMaxMemory(windowLimit))
	if err != nil {
		return nil, err
	}
	return zstdReader{d}, nil
}

// What opens a zstd frame, and what follows the first byte (0x50 to 0x5f) of a frame
// to skip: RFC 8878 sections 3.1.1 and 3.1.2.
const (
	zstdMagic = "\x28\xb5\x2f\xfd"
	zstdSkip  = "\x2a\x4d\x18"
)

// zstdReader gives the decoder the Close that layer looks for.
type zstdReader struct{ *zstd.Decoder }

func (z zstdReader) Close() error {
	z.Decoder.Close()
	return nil
}
