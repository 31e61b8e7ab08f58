// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// chunkedBody is a body in chunks (RFC 9112 section 7.1). Extensions and trailers
// are read, bounded, and thrown away: nothing in them concerns a page. Sizes are hex
// digits alone and lines end with CRLF, because what two programs read differently
// is how answers are smuggled.
type chunkedBody struct {
	br   *bufio.Reader
	left int64 // of the current chunk
	side int   // bytes of extensions and trailers
	open bool  // a chunk has begun: its CRLF is due
	err  error
}

func (b *chunkedBody) Read(p []byte) (int, error) {
	if b.err == nil && b.left == 0 {
		b.err = b.next()
	}
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	n, err := b.br.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	b.err = unexpected(err)
	return n, b.err
}

// next reads to the next chunk; io.EOF is the end after the trailers.
func (b *chunkedBody) next() error {
	if b.open {
		line, err := b.line()
		if err != nil {
			return err
		}
		if len(line) > 0 {
			return brokenError("a chunk of its body is longer than its size says")
		}
	}
	line, err := b.line()
	if err != nil {
		return err
	}
	digits, _, _ := bytes.Cut(line, []byte{';'})
	b.side += len(line) - len(digits)
	b.left, err = chunkSize(bytes.TrimRight(digits, " \t"))
	if err != nil {
		return err
	}
	if b.open = true; b.left > 0 {
		return nil
	}
	return b.trailers()
}

func (b *chunkedBody) trailers() error {
	for {
		line, err := b.line()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			return io.EOF
		}
		b.side += len(line)
	}
}

// line gives the next line without its CRLF; it is good until the next read.
func (b *chunkedBody) line() ([]byte, error) {
	line, err := b.br.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull), b.side+len(line) > sidelineLimit:
		return nil, brokenError("the chunks of its body carry more than text")
	case err != nil:
		return nil, unexpected(err)
	case !bytes.HasSuffix(line, []byte("\r\n")):
		return nil, brokenError("a line between the chunks of its body does not end as it must")
	}
	return line[:len(line)-2], nil
}

// chunkSize reads up to fifteen hex digits: 2^60 bytes will never come.
func chunkSize(digits []byte) (n int64, err error) {
	bad := brokenError("a chunk of its body has no usable size")
	significant := bytes.TrimLeft(digits, "0")
	if len(digits) == 0 || len(significant) > 15 {
		return 0, bad
	}
	for _, c := range significant {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | int64(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | int64(c|0x20-'a'+10)
		default:
			return 0, bad
		}
	}
	return n, nil
}

// unexpected is the end of a connection where more had to come.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
