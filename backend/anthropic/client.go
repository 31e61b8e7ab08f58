// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package anthropic asks models of the Anthropic Messages API, as extract.Model.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/dipper-web/dipper/backend/wire"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
)

const (
	// DefaultHelper reads pages: small, quick and cheap.
	DefaultHelper = "claude-haiku-4-5"
	// DefaultMain plans and writes answers.
	DefaultMain = "claude-opus-5"
	// DefaultBase is the address of the public service.
	DefaultBase = "https://api.anthropic.com"

	apiVersion = "2023-06-01"
)

// Options configure a Client.
type Options struct {
	// BaseURL is the address of the service, with or without /v1; empty is DefaultBase.
	BaseURL string
	// Key is sent as x-api-key; empty sends none, for gateways that need none.
	Key string
	// Model is the model's name; empty is DefaultHelper.
	Model string
	// HTTP makes the requests; nil is a plain client. Redirects are never followed.
	HTTP *http.Client
	// MaxRetries is how often a call is repeated after a failure that may pass;
	// 0 is two repetitions, a negative number none.
	MaxRetries int
}

// Client is one model of the service. It is safe for use by several goroutines.
type Client struct {
	wire  *wire.Service
	model string
}

var _ extract.Model = (*Client)(nil)

// New makes a client; a base URL that is none is fault.Invalid. Nothing is sent.
func New(o Options) (*Client, error) {
	base, err := wire.ParseBase(cmp.Or(o.BaseURL, DefaultBase), DefaultBase)
	if err != nil {
		return nil, err
	}
	base.Path = strings.TrimSuffix(base.Path, "/v1")
	header := http.Header{}
	header.Set("anthropic-version", apiVersion)
	if o.Key != "" {
		header.Set("x-api-key", o.Key)
	}
	return &Client{model: cmp.Or(o.Model, DefaultHelper), wire: wire.New(wire.Options{
		Base: base, Key: o.Key, Header: header, Joined: joined, HTTP: o.HTTP, MaxRetries: o.MaxRetries,
	})}, nil
}

// Name gives the model's name.
func (c *Client) Name() string { return c.model }

// Local reports whether the service runs on this machine or at a literal private
// address.
func (c *Client) Local() bool { return c.wire.Local() }

type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    string    `json:"system,omitempty"`
	Messages  []message `json:"messages"`
	Thinking  thinking  `json:"thinking"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type thinking struct {
	Type string `json:"type"`
}

type response struct {
	Type       string  `json:"type"`
	Model      string  `json:"model"`
	Content    []block `json:"content"`
	StopReason string  `json:"stop_reason"`
	Usage      usage   `json:"usage"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type usage struct {
	Input   int `json:"input_tokens"`
	Output  int `json:"output_tokens"`
	Created int `json:"cache_creation_input_tokens"`
	Read    int `json:"cache_read_input_tokens"`
}

// Complete asks the model once: one user message, no tools, thinking off. A
// service that fails, after the retries, is fault.Model; the end of ctx is its
// cause.
func (c *Client) Complete(ctx context.Context, p extract.Prompt) (extract.Completion, error) {
	var r response
	err := c.wire.Post(ctx, "/v1/messages", request{Model: c.model, MaxTokens: max(p.MaxTokens, 1), System: p.System,
		Messages: []message{{Role: "user", Content: p.Text}}, Thinking: thinking{Type: "disabled"}}, &r)
	if err != nil {
		return extract.Completion{}, err
	}
	if r.Type != "message" {
		return extract.Completion{}, c.wire.Fail("is no message: check model.baseURL")
	}
	var text strings.Builder
	for _, b := range r.Content {
		if b.Type == "text" {
			text.WriteString(b.Text)
		}
	}
	return extract.Completion{Text: text.String(), Model: cmp.Or(r.Model, c.model), Stop: stop(r.StopReason),
		Usage: extract.Usage{In: r.Usage.Input + r.Usage.Created + r.Usage.Read, Out: r.Usage.Output, Cached: r.Usage.Read}}, nil
}

func stop(reason string) string {
	switch reason {
	case "end_turn", "stop_sequence":
		return extract.StopEnd
	case "max_tokens", "model_context_window_exceeded":
		return extract.StopLength
	case "refusal":
		return extract.StopRefusal
	}
	return reason
}

// joined turns the event stream of a service that knows nothing else into the
// message that it carries.
func joined(body []byte) ([]byte, error) {
	var m response
	var text strings.Builder
	done := false
	err := wire.Events(body, func(data []byte) error {
		var e struct {
			Type    string   `json:"type"`
			Message response `json:"message"`
			Block   block    `json:"content_block"`
			Delta   struct {
				Type       string `json:"type"`
				Text       string `json:"text"`
				StopReason string `json:"stop_reason"`
			} `json:"delta"`
			Usage usage `json:"usage"`
			Error struct {
				Type string `json:"type"`
			} `json:"error"`
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		switch e.Type {
		case "message_start":
			m = e.Message
		case "content_block_start":
			text.WriteString(e.Block.Text)
		case "content_block_delta":
			text.WriteString(e.Delta.Text)
		case "message_delta":
			m.StopReason = e.Delta.StopReason
			m.Usage.Output = max(m.Usage.Output, e.Usage.Output)
		case "message_stop":
			done = true
		case "error":
			return fault.New(fault.Model, "", "the stream ended with an error: %s", e.Error.Type)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !done {
		return nil, fault.New(fault.Model, "", "the stream broke off")
	}
	m.Content = []block{{Type: "text", Text: text.String()}}
	return json.Marshal(m)
}
