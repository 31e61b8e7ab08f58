// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/webtest"
)

const secret = "sk-test-0123456789"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client gives a client of s.
func client(t *testing.T, s *webtest.Service, o Options) *Client {
	t.Helper()
	o.BaseURL, o.HTTP, o.Key = s.URL, s.Client(), secret
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(t *testing.T, c *Client) (extract.Completion, error) {
	return c.Complete(t.Context(), extract.Prompt{Text: "the prompt", MaxTokens: 500})
}

// TestNoAnswer holds what looks like a message and is none.
func TestNoAnswer(t *testing.T) {
	tests := []struct{ name, kind, body, says string }{
		{"other JSON", "application/json", `{"ok":true}`, "is no message"},
		{"an error in the stream", "text/event-stream", "data: {\"type\":\"message_start\",\"message\":{\"type\":\"message\"}}\n\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n", "cannot be understood"},
		{"a stream without end", "text/event-stream", "data: {\"type\":\"message_start\",\"message\":{\"type\":\"message\"}}\n\n", "cannot be understood"},
		{"a stream of something else", "text/event-stream", "data: hello\n\n", "cannot be understood"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := webtest.Serve(t, webtest.Reply{Status: 200, Header: map[string]string{"Content-Type": tt.kind}, Body: tt.body})
			_, err := ask(t, client(t, s, Options{Model: "m"}))
			if f := fault.From(err); !errors.Is(err, fault.Model) || !strings.Contains(f.Detail, tt.says) || !strings.Contains(f.Detail, "model.baseURL") {
				t.Fatalf("got %v, want fault.Model with %q and the key to check", err, tt.says)
			}
		})
	}
}

func TestStream(t *testing.T) {
	s := webtest.Serve(t, webtest.Reply{Status: 200, Header: map[string]string{"Content-Type": "text/event-stream; charset=utf-8"}, Body: streamBody})
	c, err := ask(t, client(t, s, Options{Model: "m"}))
	if err != nil || c.Text != "Hello." || c.Stop != extract.StopEnd || c.Usage.Out != 7 {
		t.Fatalf("got %+v, %v", c, err)
	}
}

// TestAddress: a wrong one is refused, and a service nearby is known as such.
func TestAddress(t *testing.T) {
	if _, err := New(Options{BaseURL: "ftp://example.com"}); !errors.Is(err, fault.Invalid) {
		t.Errorf("got %v, want fault.Invalid", err)
	}
	public, err := New(Options{Model: "m"})
	if err != nil || public.Local() || !client(t, webtest.Serve(t), Options{Model: "m"}).Local() {
		t.Errorf("what is local is not told apart, %v", err)
	}
}
