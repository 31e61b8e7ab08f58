// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package openai asks models behind the chat completions API, as extract.Model:
// the public service and the many local servers that speak the same.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dipper-web/dipper/backend/wire"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
)

const (
	// DefaultBase is the address of the public service.
	DefaultBase = "https://api.openai.com/v1"

	exampleBase = "http://127.0.0.1:8080/v1"
)

// Options configure a Client.
type Options struct {
	// BaseURL is the address of the service; /v1 is added where it has no path.
	// Empty is DefaultBase.
	BaseURL string
	// Key is sent as a bearer token; empty sends none.
	Key string
	// Model is the model's name; empty takes the only one that the service lists.
	Model string
	// HTTP makes the requests; nil is a plain client. Redirects are never followed.
	HTTP *http.Client
	// MaxRetries is how often a call is repeated after a failure that may pass;
	// 0 is two repetitions, a negative number none.
	MaxRetries int
}

// Client is one model of a service. It is safe for use by several goroutines.
type Client struct {
	wire *wire.Service

	mu    sync.Mutex
	model string // "" until the service was asked for its only one

	// strict says that the service wants max_completion_tokens and no temperature.
	strict atomic.Bool
}

var _ extract.Model = (*Client)(nil)

// New makes a client; a base URL that is none is fault.Invalid. Nothing is sent.
func New(o Options) (*Client, error) {
	base, err := wire.ParseBase(cmp.Or(o.BaseURL, DefaultBase), exampleBase)
	if err != nil {
		return nil, err
	}
	base.Path = cmp.Or(base.Path, "/v1")
	header := http.Header{}
	if o.Key != "" {
		header.Set("Authorization", "Bearer "+o.Key)
	}
	return &Client{model: o.Model, wire: wire.New(wire.Options{
		Base: base, Key: o.Key, Header: header, Joined: joined, HTTP: o.HTTP, MaxRetries: o.MaxRetries,
	})}, nil
}

// Name gives the model's name. Where none was given and the service has not been
// asked yet, it names the service.
func (c *Client) Name() string {
	return cmp.Or(c.known(), "default@"+c.wire.Host())
}

func (c *Client) known() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.model
}

// Local reports whether the service runs on this machine or at a literal private
// address.
func (c *Client) Local() bool { return c.wire.Local() }

// Find asks the service for its only model where none was named; several or none
// is fault.Invalid. Complete does it by itself.
func (c *Client) Find(ctx context.Context) (string, error) {
	if known := c.known(); known != "" {
		return known, nil
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := c.wire.Get(ctx, "/models", &list); err != nil {
		return "", err
	}
	if len(list.Data) != 1 || list.Data[0].ID == "" {
		return "", fault.New(fault.Invalid, "", "the model service at %s lists %d models: name one with model.name", c.wire.Host(), len(list.Data))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.model = list.Data[0].ID
	return c.model, nil
}

type request struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
	Temperature         *float64  `json:"temperature,omitempty"`
	Stream              bool      `json:"stream"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type response struct {
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   usage    `json:"usage"`
}

type choice struct {
	FinishReason string `json:"finish_reason"`
	Message      reply  `json:"message"`
}

type reply struct {
	Content content `json:"content"`
	Refusal string  `json:"refusal"`
}

// content is text, or a list of parts of which the text counts.
type content string

func (c *content) UnmarshalJSON(b []byte) error {
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(b, &parts) == nil {
		for _, p := range parts {
			*c += content(p.Text)
		}
		return nil
	}
	return json.Unmarshal(b, (*string)(c))
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// Complete asks the model once: no tools, temperature 0. A service that fails,
// after the retries, is fault.Model; the end of ctx is its cause.
func (c *Client) Complete(ctx context.Context, p extract.Prompt) (extract.Completion, error) {
	model, err := c.Find(ctx)
	if err != nil {
		return extract.Completion{}, err
	}
	var r response
	strict := c.strict.Load()
	err = c.wire.Post(ctx, "/chat/completions", c.request(model, p, strict), &r)
	if !strict && wantsStrict(err) {
		c.strict.Store(true)
		err = c.wire.Post(ctx, "/chat/completions", c.request(model, p, true), &r)
	}
	if err != nil {
		return extract.Completion{}, err
	}
	if len(r.Choices) == 0 {
		return extract.Completion{}, c.wire.Fail("holds no text: check model.baseURL")
	}
	first := r.Choices[0]
	out := extract.Completion{Text: spoken(string(first.Message.Content)), Model: cmp.Or(r.Model, model), Stop: stop(first.FinishReason),
		Usage: extract.Usage{In: r.Usage.Prompt, Out: r.Usage.Completion, Cached: r.Usage.Details.Cached}}
	if first.Message.Refusal != "" {
		out.Stop = extract.StopRefusal
	}
	return out, nil
}

func (c *Client) request(model string, p extract.Prompt, strict bool) request {
	r := request{Model: model}
	if p.System != "" {
		r.Messages = append(r.Messages, message{"system", p.System})
	}
	r.Messages = append(r.Messages, message{"user", p.Text})
	if strict {
		r.MaxCompletionTokens = p.MaxTokens
		return r
	}
	r.MaxTokens, r.Temperature = p.MaxTokens, new(float64)
	return r
}

// wantsStrict reports whether a service refused the older form of a request.
func wantsStrict(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Code == http.StatusBadRequest && (strings.Contains(f.Detail, "max_completion_tokens") || strings.Contains(f.Detail, "temperature"))
}

// spoken takes away the thoughts that some local models write before their answer.
func spoken(s string) string {
	t := strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(t, "<think>"); ok {
		if _, after, ok := strings.Cut(rest, "</think>"); ok {
			return strings.TrimSpace(after)
		}
		return "" // it never came to an answer
	}
	return s
}

func stop(reason string) string {
	switch reason {
	case "stop":
		return extract.StopEnd
	case "length":
		return extract.StopLength
	case "content_filter":
		return extract.StopRefusal
	}
	return reason
}

// joined turns the event stream of a service that knows nothing else into the
// answer that it carries.
func joined(body []byte) ([]byte, error) {
	var r response
	var text strings.Builder
	finish := ""
	err := wire.Events(body, func(data []byte) error {
		var e struct {
			Model   string `json:"model"`
			Choices []struct {
				Delta        reply  `json:"delta"`
				FinishReason string `json:"finish_reason"`
			} `json:"choices"`
			Usage *usage          `json:"usage"`
			Error json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		if len(e.Error) > 0 && string(e.Error) != "null" {
			return fault.New(fault.Model, "", "the stream ended with an error")
		}
		r.Model = cmp.Or(r.Model, e.Model)
		if e.Usage != nil {
			r.Usage = *e.Usage
		}
		for _, c := range e.Choices {
			text.WriteString(string(c.Delta.Content))
			finish = cmp.Or(c.FinishReason, finish)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if finish == "" {
		return nil, fault.New(fault.Model, "", "the stream broke off")
	}
	return json.Marshal(map[string]any{"model": r.Model, "usage": r.Usage, "choices": []any{
		map[string]any{"finish_reason": finish, "message": map[string]any{"content": text.String()}}}})
}
