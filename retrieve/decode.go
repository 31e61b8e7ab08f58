// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
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
type coding func(*bufio.Reader) (io.Reader, error)

func codingOf(name string) coding {
	switch name {
	case "gzip", "x-gzip":
		return gunzip
	case "deflate":
		return inflate
	case "br":
		return func(r *bufio.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }
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
	r    io.Reader
	err  error
}

func (l *layer) Read(p []byte) (int, error) {
	if l.r == nil && l.err == nil {
		br := bufio.NewReader(l.src)
		if _, err := br.Peek(1); err != nil {
			l.err = err
		} else {
			l.r, l.err = l.open(br)
		}
	}
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.r.Read(p)
	l.err = err
	return n, err
}

func (l *layer) close() {
	if c, ok := l.r.(io.Closer); ok {
		_ = c.Close()
	}
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
func gunzip(br *bufio.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(br)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{br: br, z: z}, nil
}

type members struct {
	br *bufio.Reader
	z  *gzip.Reader
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if err != io.EOF || n > 0 {
			return n, eofLater(n, err)
		}
		magic, err := m.br.Peek(2)
		switch {
		case len(magic) < 2 && err == io.EOF, len(magic) == 2 && (magic[0] != 0x1f || magic[1] != 0x8b):
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
func inflate(br *bufio.Reader) (io.Reader, error) {
	head, _ := br.Peek(2)
	if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(br)
	}
	return flate.NewReader(br), nil
}

// unzstd undoes zstd (RFC 8878) with a bounded window and no goroutines of its own.
func unzstd(br *bufio.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(windowLimit), zstd.WithDecoderMaxMemory(windowLimit))
	if err != nil {
		return nil, err
	}
	return zstdReader{d}, nil
}

// zstdReader gives the decoder the Close that layer looks for.
type zstdReader struct{ *zstd.Decoder }

func (z zstdReader) Close() error {
	z.Decoder.Close()
	return nil
}
