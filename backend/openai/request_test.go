// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"context"
	"errors"
	"testing"

	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/webtest"
)

const okBody = `{"id":"c1","object":"chat.completion","model":"small-1","choices":[{"index":0,"finish_reason":"stop",
"message":{"role":"assistant","content":"Hello."}}],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60}}}`

const streamBody = `data: {"model":"small-1","choices":[{"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}

: a comment

data: {"model":"small-1","choices":[{"delta":{"content":"lo."},"finish_reason":null}]}

data: {"choices":[{"delta":{},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}

data: [DONE]

`

func TestRequest(t *testing.T) {
	s := webtest.Serve(t, webtest.Reply{Status: 200, Body: okBody})
	got, err := ask(t, client(t, s, Options{Model: "small"}))
	if err != nil {
		t.Fatal(err)
	}
	want := extract.Completion{Text: "Hello.", Model: "small-1", Stop: extract.StopEnd, Usage: extract.Usage{In: 100, Out: 7, Cached: 60}}
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if p := s.Last().Path; p != "/v1/chat/completions" {
		t.Errorf("path %s", p)
	}
	if a := s.Last().Header.Get("Authorization"); a != "Bearer "+secret {
		t.Errorf("authorization %q", a)
	}
	body := s.Last().JSON()
	if body["model"] != "small" || body["max_tokens"] != 500.0 || body["temperature"] != 0.0 || body["stream"] != false || len(body["messages"].([]any)) != 1 {
		t.Errorf("body %v", body)
	}
	if _, there := body["tools"]; there {
		t.Error("tools were offered")
	}
}

func TestBases(t *testing.T) {
	for suffix, want := range map[string]string{"": "/v1/chat/completions", "/": "/v1/chat/completions", "/v1": "/v1/chat/completions",
		"/v1/": "/v1/chat/completions", "/api/openai": "/api/openai/chat/completions"} {
		s := webtest.Serve(t, webtest.Reply{Status: 200, Body: okBody})
		c, err := New(Options{BaseURL: s.URL + suffix, Model: "m", HTTP: s.Client()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ask(t, c); err != nil {
			t.Fatal(err)
		}
		if p := s.Last().Path; p != want {
			t.Errorf("%q: path %s, want %s", suffix, p, want)
		}
		if a := s.Last().Header.Get("Authorization"); a != "" {
			t.Errorf("a key was sent: %q", a)
		}
	}
}

func TestOnlyModel(t *testing.T) {
	one := webtest.Reply{Status: 200, Body: `{"data":[{"id":"the-one"}]}`}
	s := webtest.Serve(t, one, webtest.Reply{Status: 200, Body: okBody})
	c := client(t, s, Options{})
	if _, err := ask(t, c); err != nil {
		t.Fatal(err)
	}
	if p := s.Asked()[0].Path; p != "/v1/models" {
		t.Errorf("first path %s", p)
	}
	if c.Name() != "the-one" || (s.Last().JSON())["model"] != "the-one" {
		t.Errorf("name %q, body %v", c.Name(), s.Last().JSON())
	}
	if _, err := c.Find(context.Background()); err != nil || len(s.Asked()) != 2 {
		t.Errorf("asked again: %d calls, %v", len(s.Asked()), err)
	}
	for _, body := range []string{`{"data":[{"id":"a"},{"id":"b"}]}`, `{"data":[]}`} {
		s := webtest.Serve(t, webtest.Reply{Status: 200, Body: body})
		if _, err := ask(t, client(t, s, Options{})); !errors.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want fault.Invalid", body, err)
		}
	}
}

func TestStrictModel(t *testing.T) {
	s := webtest.Serve(t, webtest.Reply{Status: 400, Body: `{"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`}, webtest.Reply{Status: 200, Body: okBody})
	c := client(t, s, Options{Model: "m"})
	for range 2 {
		if _, err := ask(t, c); err != nil {
			t.Fatal(err)
		}
	}
	body := s.Last().JSON()
	_, old := body["max_tokens"]
	_, warm := body["temperature"]
	if old || warm || body["max_completion_tokens"] != 500.0 || len(s.Asked()) != 3 {
		t.Errorf("%d calls, body %v", len(s.Asked()), body)
	}
}

func TestAnswers(t *testing.T) {
	tests := []struct{ name, message, finish, text, stop string }{
		{"parts", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "stop", "ab", extract.StopEnd},
		{"nothing", `{"content":null}`, "stop", "", extract.StopEnd},
		{"refusal", `{"content":null,"refusal":"I cannot"}`, "stop", "", extract.StopRefusal},
		{"filtered", `{"content":""}`, "content_filter", "", extract.StopRefusal},
		{"cut", `{"content":"a"}`, "length", "a", extract.StopLength},
		{"thoughts", `{"content":"<think>hm</think>\n\nYes."}`, "stop", "Yes.", extract.StopEnd},
		{"thoughts alone", `{"content":"<think>hm"}`, "length", "", extract.StopLength},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := webtest.Serve(t, webtest.Reply{Status: 200, Body: `{"choices":[{"finish_reason":"` + tt.finish + `","message":` + tt.message + `}]}`})
			c, err := ask(t, client(t, s, Options{Model: "m"}))
			if err != nil || c.Text != tt.text || c.Stop != tt.stop {
				t.Errorf("got %+v, %v", c, err)
			}
		})
	}
}
