// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// talk sends text after the greeting and closes the client's side. The answers
// come back by id; what was refused without one under "null".
func talk(t *testing.T, o Options, text string) map[string]string {
	t.Helper()
	w := start(t, o)
	go func() {
		io.WriteString(w.in, hello+text)
		w.in.Close()
	}()
	answers := map[string]string{}
	lines := bufio.NewReader(w.out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		var m struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
			t.Fatalf("%q is no message: %v", line, err)
		}
		answers[string(m.ID)] += line
	}
	select {
	case err := <-w.ended:
		if err != nil {
			t.Errorf("the end of the input is an error: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the server does not end")
	}
	return answers
}

func TestLinesThatAreNoMessages(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":"after","method":"ping"}` + "\n"
	for _, c := range []struct{ name, line, id, want string }{
		{"no JSON", "{this is no JSON", "null", "-32700"},
		{"cut JSON", `{"jsonrpc":"2.0","id":1,"method":"ping"`, "null", "-32700"},
		{"two on one line", `{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`, "null", "-32700"},
		{"no UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xff\xfe\"}}", "1", "-32700"},
		{"a text", `"ping"`, "null", "-32600"},
		{"no version", `{"id":1,"method":"ping"}`, "1", "-32600"},
		{"an id that is none", `{"id":{"a":1},"method":"ping"}`, "null", "-32600"},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", "batches are not read"},
		{"deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000) + "}", "null", "-32700"},
		{"too long", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + strings.Repeat("y", 64<<20) + `"}}`, "null", "4 MiB"},
		{"an unknown method", `{"jsonrpc":"2.0","id":1,"method":"dream"}`, "1", "-32601"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := talk(t, options(t), c.line+"\n\n\r\n"+ping)
			if !strings.Contains(got[c.id], c.want) {
				t.Errorf("answered with %q, want %s", got[c.id], c.want)
			}
			if !strings.Contains(got[`"after"`], `"result"`) {
				t.Errorf("the talk did not go on: %v", got)
			}
		})
	}
}

func TestCallsAreAnsweredAfterTheEndOfInput(t *testing.T) {
	origin := web(t)
	got := talk(t, options(t), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_fetch","arguments":{"url":"`+origin+`/page"}}}`) // and no newline
	if !strings.Contains(got["1"], "moon and sun") {
		t.Errorf("the answers are %v", got)
	}
}

func TestACallThatWasGivenUpHoldsNothingUp(t *testing.T) {
	origin := web(t)
	began := time.Now()
	talk(t, options(t), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"web_fetch","arguments":{"url":"`+origin+`/hang"}}}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
`)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the end took %v", took)
	}
}

func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	in := bufio.NewReaderSize(strings.NewReader("one\n\n"+long+"\nlast"), 64)
	for _, want := range []struct {
		line string
		long bool
		err  error
	}{{"one\n", false, nil}, {"\n", false, nil}, {"", true, nil}, {"last", false, io.EOF}, {"", false, io.EOF}} {
		line, tooLong, err := readLine(in)
		if string(line) != want.line || tooLong != want.long || err != want.err {
			t.Errorf("got %q, %v, %v; want %+v", line, tooLong, err, want)
		}
	}
}

// FuzzLine holds that whatever a client sends, each answer is one line of JSON.
func FuzzLine(f *testing.F) {
	for _, s := range []string{"{}", "[]", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "\xff", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"id":"a"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		c, err := (&lines{in: bytes.NewReader(data), out: &out}).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conn := c.(*lineConn)
		for {
			select {
			case <-conn.incoming:
				continue
			case <-conn.ended:
			}
			break
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%q answered with %q", data, line)
			}
		}
	})
}
