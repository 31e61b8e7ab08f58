// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds one message of a client: the largest true ones, ten URLs and a
// long prompt, have some ten kilobytes.
const maxLine = 4 << 20

// lines is the stdio transport: one JSON-RPC message a line. A line that is no
// message is answered with an error, and the conversation goes on; a client
// that closes its side still gets the answers it waits for.
type lines struct {
	in  io.Reader
	out io.Writer
}

// Connect starts reading. It satisfies mcp.Transport.
func (t *lines) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConn{out: t.out, incoming: make(chan jsonrpc.Message), ended: make(chan error, 1), closed: make(chan struct{}),
		open: map[jsonrpc.ID]int{}, idle: make(chan struct{}, 1)}
	go c.read(bufio.NewReaderSize(t.in, 64<<10))
	return c, nil
}

type lineConn struct {
	incoming chan jsonrpc.Message
	ended    chan error // holds one: why reading ended
	closed   chan struct{}
	close    sync.Once
	idle     chan struct{} // a token when the last open call was answered

	mu   sync.Mutex // of what follows
	out  io.Writer
	open map[jsonrpc.ID]int // calls that wait for an answer
}

// SessionID is empty: stdio has no sessions.
func (c *lineConn) SessionID() string { return "" }

// Close ends the conversation. The goroutine that reads ends with its reader.
func (c *lineConn) Close() error {
	c.close.Do(func() { close(c.closed) })
	return nil
}

// Read gives the next message; after the last one io.EOF, once all calls are answered.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.incoming:
		return m, nil
	case err := <-c.ended:
		return nil, c.drain(ctx, err)
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// drain waits until every call is answered.
func (c *lineConn) drain(ctx context.Context, end error) error {
	for {
		c.mu.Lock()
		n := len(c.open)
		c.mu.Unlock()
		if n == 0 {
			return end
		}
		select {
		case <-c.idle:
		case <-c.closed:
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Write sends a message. One that answers a call settles it.
func (c *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := m.(*jsonrpc.Response); ok {
		c.settle(r.ID)
	}
	_, err = c.out.Write(append(data, '\n'))
	return err
}

// settle takes a call off the list. The caller holds mu.
func (c *lineConn) settle(id jsonrpc.ID) {
	if c.open[id]--; c.open[id] <= 0 {
		delete(c.open, id)
	}
	if len(c.open) == 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
}

// read reads lines until the end.
func (c *lineConn) read(in *bufio.Reader) {
	for {
		line, long, err := readLine(in)
		if long {
			c.refuse(nil, jsonrpc.CodeInvalidRequest, "a message may have 4 MiB")
		} else if line = bytes.TrimSpace(line); len(line) > 0 && !c.take(line) {
			return
		}
		if err != nil {
			c.ended <- err
			return
		}
	}
}

// readLine reads up to the next newline. Of a line that is too long nothing is kept.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// take hands one line on, and reports whether anybody still listens.
func (c *lineConn) take(line []byte) bool {
	switch {
	case !utf8.Valid(line):
		return c.refuse(line, jsonrpc.CodeParseError, "the message is not UTF-8")
	case line[0] == '[':
		return c.refuse(nil, jsonrpc.CodeInvalidRequest, "send one message a line; batches are not read")
	case !json.Valid(line):
		return c.refuse(nil, jsonrpc.CodeParseError, "the line is not JSON")
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return c.refuse(line, jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message")
	}
	if r, ok := m.(*jsonrpc.Request); ok {
		c.count(r)
	}
	select {
	case c.incoming <- m:
		return true
	case <-c.closed:
		return false
	}
}

// count puts a call on the list, and takes one off that the client gives up.
func (c *lineConn) count(r *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.IsCall() {
		c.open[r.ID]++
		return
	}
	var gone struct {
		RequestID any `json:"requestId"`
	}
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &gone) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(gone.RequestID); err == nil {
		c.settle(id)
	}
}

// refuse answers a line that is no message, with its id where one can be read.
func (c *lineConn) refuse(line []byte, code int, text string) bool {
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(bytes.ToValidUTF8(line, []byte("?")), &asked); err != nil || len(asked.ID) == 0 || bytes.ContainsAny(asked.ID[:1], "{[tf") {
		asked.ID = json.RawMessage("null")
	}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": asked.ID, "error": map[string]any{"code": code, "message": text}})
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, err = c.out.Write(append(answer, '\n'))
	}
	return err == nil
}
