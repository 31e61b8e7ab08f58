// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// diedError is a connection that ended before the first byte of an answer: the one
// case in which a request may be sent again.
type diedError struct{ err error }

func (e *diedError) Error() string { return "the connection ended before an answer: " + e.err.Error() }
func (e *diedError) Unwrap() error { return e.err }

// brokenError is an answer that is not valid HTTP. Its text is ours, never the sender's.
type brokenError string

func (e brokenError) Error() string { return string(e) }

// errHeader is an answer whose header passes the limit.
var errHeader = errors.New("the header passes the limit")

// h1Link is an HTTP/1.1 connection (RFC 9112). It serves one request at a time.
type h1Link struct {
	conn  net.Conn // TLS or the wire itself
	wire  *wire
	br    *bufio.Reader
	limit int  // bytes of a header
	plain bool // a plain proxy: requests name the whole URL
	// keep takes the connection back when it can serve another request.
	keep func(*h1Link)
}

func newH1(conn net.Conn, w *wire, limit int, keep func(*h1Link)) *h1Link {
	return &h1Link{conn: conn, wire: w, br: bufio.NewReaderSize(conn, bufferSize), limit: limit, keep: keep}
}

func (l *h1Link) close() { _ = l.conn.Close() }

// send writes the request and reads up to the end of the answer's header.
func (l *h1Link) send(req *http.Request) (*answer, error) {
	stop := context.AfterFunc(req.Context(), func() { _ = l.conn.SetDeadline(clock) })
	l.wire.start()
	a, err := l.exchange(req)
	if err != nil {
		stop()
		l.close()
		return nil, err
	}
	keep := a.whole // so far: whether the framing allows another request
	a.whole = a.body == http.NoBody
	a.release = func(whole bool) {
		if stop() && whole && keep && l.br.Buffered() == 0 && l.conn.SetDeadline(time.Time{}) == nil {
			l.keep(l)
			return
		}
		l.close()
	}
	return a, nil
}

// exchange gives the answer; its field whole says whether the connection may serve
// another request after this one.
func (l *h1Link) exchange(req *http.Request) (*answer, error) {
	write := req.Write
	if l.plain {
		write = req.WriteProxy
	}
	// A server may answer and close before it has read the request: what counts is
	// whether an answer comes.
	sent := write(l.conn)
	if _, err := l.br.Peek(1); err != nil {
		return nil, &diedError{errors.Join(sent, err)}
	}
	head, resp, err := l.readHead(req)
	if err != nil {
		return nil, err
	}
	a := &answer{status: resp.StatusCode, phrase: phrase(resp.Status), header: resp.Header, length: resp.ContentLength, addr: l.wire.address(), wire: l.wire}
	a.whole = !resp.Close && sent == nil
	chunked := len(resp.TransferEncoding) > 0
	switch {
	case bodiless(resp.StatusCode) || resp.ContentLength == 0:
		a.length, a.body = 0, http.NoBody
	case chunked:
		// RFC 9112 section 6.3: a length beside the coding may be an attempt to smuggle.
		a.whole = a.whole && !bytes.Contains(bytes.ToLower(head), []byte("\ncontent-length"))
		a.body = &chunkedBody{br: l.br}
	case resp.ContentLength > 0:
		a.body = &lengthBody{r: l.br, left: resp.ContentLength}
	default:
		a.whole, a.body = false, l.br // ends with the connection
	}
	return a, nil
}

// readHead reads the header of the answer, past a few interim ones.
func (l *h1Link) readHead(req *http.Request) ([]byte, *http.Response, error) {
	left := l.limit
	for range interimLimit + 1 {
		head, err := readBlock(l.br, left)
		if err != nil {
			return nil, nil, err
		}
		left -= len(head)
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), req)
		switch {
		case err != nil:
			return nil, nil, brokenError("its header breaks the rules of HTTP")
		case resp.ProtoMajor != 1 || resp.StatusCode < 100 || resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, nil, brokenError("its status line does not fit the question")
		case resp.StatusCode >= 200:
			return head, resp, nil
		}
	}
	return nil, nil, brokenError("it sends one interim answer after another")
}

// readBlock reads lines up to and with the empty one. What does not begin like HTTP
// is refused at its first bytes.
func readBlock(br *bufio.Reader, limit int) ([]byte, error) {
	const proto = "HTTP/1."
	if b, err := br.Peek(len(proto)); string(b) != proto[:len(b)] {
		return nil, brokenError("it does not begin like HTTP")
	} else if err != nil {
		return nil, err
	}
	var block []byte
	for {
		line, err := br.ReadSlice('\n')
		block = append(block, line...)
		switch {
		case len(block) > limit:
			return nil, errHeader
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		case len(line) <= 2 && len(bytes.TrimRight(line, "\r\n")) == 0 && endsLine(block, len(line)):
			return block, strict(block)
		}
	}
}

// endsLine reports whether the last n bytes of block stand on a line of their own.
func endsLine(block []byte, n int) bool {
	return len(block) == n || block[len(block)-n-1] == '\n'
}

// strict refuses what net/http would let through: RFC 9110 section 5.5 forbids NUL
// and a CR that does not end a line.
func strict(block []byte) error {
	if slices.Contains(block, 0) {
		return brokenError("its header holds a NUL byte")
	}
	for i, b := range block {
		if b == '\r' && (i+1 == len(block) || block[i+1] != '\n') {
			return brokenError("its header holds a stray carriage return")
		}
	}
	return nil
}

// phrase is the text after the status code.
func phrase(status string) string {
	if len(status) > 4 {
		return status[4:]
	}
	return ""
}

// bodiless names the statuses without a body: RFC 9110 sections 15.3.5 and 15.4.5.
func bodiless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}

// lengthBody is a body of announced length.
type lengthBody struct {
	r    io.Reader
	left int64
}

func (b *lengthBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case b.left == 0:
		return n, io.EOF
	case err == io.EOF:
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}
