// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
)

const secret = "sk-test-0123456789"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is a real HTTP server that answers with steps in turn, the last one for ever.
type service struct {
	*httptest.Server
	calls  atomic.Int32
	header atomic.Pointer[http.Header]
	body   atomic.Pointer[map[string]any]
	paths  chan string
}

type step struct {
	status int
	header map[string]string
	body   string
}

func serve(t *testing.T, steps ...step) *service {
	t.Helper()
	s := &service{paths: make(chan string, 64)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(s.calls.Add(1))
		h := r.Header.Clone()
		s.header.Store(&h)
		raw, _ := io.ReadAll(r.Body)
		var body map[string]any
		if json.Unmarshal(raw, &body) == nil {
			s.body.Store(&body)
		}
		s.paths <- r.URL.Path
		st := steps[min(n, len(steps))-1]
		w.Header().Set("Content-Type", "application/json")
		for k, v := range st.header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(st.status)
		io.WriteString(w, st.body)
	}))
	t.Cleanup(s.Close)
	return s
}

// client gives a client of s.
func client(t *testing.T, s *service, o Options) *Client {
	t.Helper()
	o.BaseURL, o.HTTP = s.URL, s.Client()
	if o.Key == "" {
		o.Key = secret
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(c *Client) (extract.Completion, error) {
	return c.Complete(context.Background(), extract.Prompt{Text: "the prompt", MaxTokens: 500})
}

// TestNoAnswer holds what looks like success and is none.
func TestNoAnswer(t *testing.T) {
	tests := []struct{ name, kind, body, says string }{
		{"other JSON", "application/json", `{"ok":true}`, "is no message"},
		{"an error in the stream", "text/event-stream", "data: {\"type\":\"message_start\",\"message\":{\"type\":\"message\"}}\n\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n", "cannot be understood"},
		{"a stream without end", "text/event-stream", "data: {\"type\":\"message_start\",\"message\":{\"type\":\"message\"}}\n\n", "cannot be understood"},
		{"a stream of something else", "text/event-stream", "data: hello\n\n", "cannot be understood"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, step{status: 200, header: map[string]string{"Content-Type": tt.kind}, body: tt.body})
			_, err := ask(client(t, s, Options{Model: "m"}))
			f := fault.From(err)
			if !errors.Is(err, fault.Model) || !strings.Contains(f.Detail, tt.says) || !strings.Contains(f.Detail, "model.baseURL") {
				t.Fatalf("got %v, want fault.Model with %q and the key to check", err, tt.says)
			}
		})
	}
}

// TestKeyIsConcealed: a service that repeats the key does not get it into an error.
func TestKeyIsConcealed(t *testing.T) {
	s := serve(t, step{status: 401, body: `{"error":{"message":"bad key ` + secret + `"}}`})
	_, err := ask(client(t, s, Options{Model: "m"}))
	if f := fault.From(err); !errors.Is(err, fault.Model) || f.Code != 401 || !strings.Contains(f.Detail, "bad key [key]") || strings.Contains(err.Error(), secret) {
		t.Fatalf("got %v", err)
	}
}

func TestStream(t *testing.T) {
	s := serve(t, step{status: 200, header: map[string]string{"Content-Type": "text/event-stream; charset=utf-8"}, body: streamBody})
	c, err := ask(client(t, s, Options{Model: "m"}))
	if err != nil || c.Text != "Hello." || c.Stop != extract.StopEnd || c.Usage.Out != 7 {
		t.Fatalf("got %+v, %v", c, err)
	}
}

func TestBase(t *testing.T) {
	if _, err := New(Options{BaseURL: "ftp://example.com"}); !errors.Is(err, fault.Invalid) {
		t.Errorf("got %v, want fault.Invalid", err)
	}
	for base, want := range map[string]bool{"http://127.0.0.1:8080/v1": true, "": false} {
		if c, err := New(Options{BaseURL: base, Model: "m"}); err != nil || c.Local() != want {
			t.Errorf("%q: local %t, %v", base, !want, err)
		}
	}
}
