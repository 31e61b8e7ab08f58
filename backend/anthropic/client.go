// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

import (
	"context"
	"net/http"

	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
)

// Options configure a Client.
type Options struct {
	BaseURL, Key, Model string
	HTTP                *http.Client
	MaxRetries          int
}

// Client is a model.
type Client struct{ o Options }

// New makes a client.
func New(o Options) (*Client, error) { return &Client{o: o}, nil }

// Name gives the model's name.
func (c *Client) Name() string { return c.o.Model }

// Local reports whether the model runs in a private range.
func (c *Client) Local() bool { return false }

// Complete is not connected yet.
func (c *Client) Complete(ctx context.Context, p extract.Prompt) (extract.Completion, error) {
	return extract.Completion{}, fault.New(fault.Model, "", "not connected yet")
}
