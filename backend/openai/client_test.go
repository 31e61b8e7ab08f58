// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package openai

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
	"time"

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

// client gives a client of s that does not wait long between tries.
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
	c.pause = time.Millisecond
	return c
}

func ask(c *Client) (extract.Completion, error) {
	return c.Complete(context.Background(), extract.Prompt{Text: "the prompt", MaxTokens: 500})
}

func TestFailures(t *testing.T) {
	overloaded := step{status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}
	tests := []struct {
		name  string
		steps []step
		calls int32
		says  []string
		code  int
	}{
		{"bad key", []step{{status: 401, body: `{"error":{"type":"authentication_error","message":"bad key ` + secret + `"}}`}}, 1, []string{"401", "bad key", "[key]"}, 401},
		{"unknown model", []step{{status: 404, body: `{"error":{"message":"no such model"}}`}}, 1, []string{"404", "no such model"}, 404},
		{"overloaded for good", []step{overloaded}, 3, []string{"529", "Overloaded"}, 529},
		{"server error without JSON", []step{{status: 500, body: "<html>oops</html>"}}, 3, []string{"500"}, 500},
		{"asks to wait too long", []step{{status: 429, header: map[string]string{"Retry-After": "3600"}, body: "{}"}}, 1, []string{"429"}, 429},
		{"redirects elsewhere", []step{{status: 307, header: map[string]string{"Location": "http://127.0.0.1:1/steal"}}}, 1, []string{"307"}, 307},
		{"malformed", []step{{status: 200, body: `{"content": [`}}, 1, []string{"cannot be understood", "model.baseURL"}, 0},
		{"not an API", []step{{status: 200, header: map[string]string{"Content-Type": "text/html"}, body: "<html></html>"}}, 1, []string{"cannot be understood"}, 0},
		{"other JSON", []step{{status: 200, body: `{"ok":true}`}}, 1, []string{"model.baseURL"}, 0},
		{"too large", []step{{status: 200, body: `{"x":"` + strings.Repeat("a", maxAnswer) + `"}`}}, 1, []string{"larger than 4 MiB"}, 0},
		{"broken stream", []step{{status: 200, header: map[string]string{"Content-Type": "text/event-stream"}, body: "data: {\"type\":\"message_start\",\"message\":{\"type\":\"message\"},\"choices\":[{\"delta\":{\"content\":\"hal\"}}]}\n\n"}}, 1, []string{"cannot be understood"}, 0},
		{"cut body", []step{{status: 200, header: map[string]string{"Content-Length": "100"}, body: "{}"}}, 3, []string{"broke off"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.steps...)
			_, err := ask(client(t, s, Options{Model: "m"}))
			if !errors.Is(err, fault.Model) {
				t.Fatalf("got %v, want fault.Model", err)
			}
			f := fault.From(err)
			for _, want := range tt.says {
				if !strings.Contains(f.Detail, want) {
					t.Errorf("%q does not say %q", f.Detail, want)
				}
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the key is in %q", err)
			}
			if got := s.calls.Load(); got != tt.calls {
				t.Errorf("%d calls, want %d", got, tt.calls)
			}
			if f.Code != tt.code {
				t.Errorf("code %d, want %d", f.Code, tt.code)
			}
		})
	}
}

func TestRecovery(t *testing.T) {
	s := serve(t, step{status: 503, body: "{}"}, step{status: 429, header: map[string]string{"Retry-After": "1"}, body: "{}"}, step{status: 200, body: okBody})
	start := time.Now()
	c, err := ask(client(t, s, Options{Model: "m"}))
	if err != nil || c.Text != "Hello." {
		t.Fatalf("got %q, %v", c.Text, err)
	}
	if took := time.Since(start); took < 900*time.Millisecond {
		t.Errorf("Retry-After was not kept: %v", took)
	}
}

func TestUnreachable(t *testing.T) {
	s := serve(t, step{status: 200})
	c := client(t, s, Options{Model: "m"})
	s.Close()
	_, err := ask(c)
	if !errors.Is(err, fault.Model) || !strings.Contains(fault.From(err).Detail, "cannot be reached") {
		t.Fatalf("got %v", err)
	}
}

func TestDeadline(t *testing.T) {
	release := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-release }))
	defer h.Close()
	defer close(release)
	c, err := New(Options{BaseURL: h.URL, Model: "m", HTTP: h.Client()})
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("own time is over")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 30*time.Millisecond, cause)
	defer cancel()
	if _, err := c.Complete(ctx, extract.Prompt{Text: "x", MaxTokens: 1}); !errors.Is(err, cause) {
		t.Fatalf("got %v, want the cause of the context", err)
	}
}

func TestStream(t *testing.T) {
	s := serve(t, step{status: 200, header: map[string]string{"Content-Type": "text/event-stream; charset=utf-8"}, body: streamBody})
	c, err := ask(client(t, s, Options{Model: "m"}))
	if err != nil || c.Text != "Hello." || c.Stop != extract.StopEnd || c.Usage.Out != 7 {
		t.Fatalf("got %+v, %v", c, err)
	}
}

func TestLocal(t *testing.T) {
	tests := map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost:11434/v1": true, "http://box.localhost": true, "http://[::1]:80": true, "http://10.1.2.3": true,
		"http://192.168.1.9": true, "http://[fd00::1]": true, "http://[::ffff:127.0.0.1]": true,
		"https://api.example.com": false, "http://8.8.8.8": false, "http://localhost.example.com": false, "https://10.example.com": false,
	}
	for base, want := range tests {
		c, err := New(Options{BaseURL: base, Model: "m"})
		if err != nil {
			t.Fatal(base, err)
		}
		if got := c.Local(); got != want {
			t.Errorf("%s: local %t, want %t", base, got, want)
		}
	}
}

func TestBadBase(t *testing.T) {
	for _, base := range []string{"ftp://example.com", "example.com", "http://", "http://user:pass@example.com", "://"} {
		if _, err := New(Options{BaseURL: base}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%q: got %v, want fault.Invalid", base, err)
		}
	}
}
