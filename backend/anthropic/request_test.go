// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

import (
	"testing"

	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/internal/webtest"
)

const okBody = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-haiku-4-5-20251001",
"content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo."}],"stop_reason":"end_turn",
"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":70,"output_tokens":7}}`

const streamBody = `event: message_start
data: {"type":"message_start","message":{"type":"message","model":"m","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}

event: ping
data: {"type":"ping"}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo."}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}

data: {"type":"message_stop"}

`

func TestRequest(t *testing.T) {
	s := webtest.Serve(t, webtest.Reply{Status: 200, Body: okBody})
	c := client(t, s, Options{})
	got, err := ask(t, c)
	if err != nil {
		t.Fatal(err)
	}
	want := extract.Completion{Text: "Hello.", Model: "claude-haiku-4-5-20251001", Stop: extract.StopEnd, Usage: extract.Usage{In: 100, Out: 7, Cached: 70}}
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if p := s.Last().Path; p != "/v1/messages" {
		t.Errorf("path %s", p)
	}
	h := s.Last().Header
	if h.Get("X-Api-Key") != secret || h.Get("Anthropic-Version") != "2023-06-01" {
		t.Errorf("header %v", h)
	}
	body := s.Last().JSON()
	for _, absent := range []string{"system", "tools", "stream"} {
		if _, there := body[absent]; there {
			t.Errorf("the request has %s: %v", absent, body)
		}
	}
	if body["model"] != DefaultHelper || body["max_tokens"] != 500.0 || body["thinking"].(map[string]any)["type"] != "disabled" {
		t.Errorf("body %v", body)
	}
}

func TestBaseWithVersion(t *testing.T) {
	s := webtest.Serve(t, webtest.Reply{Status: 200, Body: okBody})
	c, err := New(Options{BaseURL: s.URL + "/gateway/v1/", HTTP: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, c); err != nil {
		t.Fatal(err)
	}
	if p := s.Last().Path; p != "/gateway/v1/messages" {
		t.Errorf("path %s", p)
	}
	if key := s.Last().Header.Get("X-Api-Key"); key != "" {
		t.Errorf("a key was sent: %q", key)
	}
}

func TestStops(t *testing.T) {
	for reason, want := range map[string]string{"end_turn": extract.StopEnd, "max_tokens": extract.StopLength, "refusal": extract.StopRefusal, "pause_turn": "pause_turn"} {
		s := webtest.Serve(t, webtest.Reply{Status: 200, Body: `{"type":"message","content":[],"stop_reason":"` + reason + `"}`})
		c, err := ask(t, client(t, s, Options{}))
		if err != nil || c.Stop != want || c.Text != "" {
			t.Errorf("%s: got %+v, %v", reason, c, err)
		}
	}
}
