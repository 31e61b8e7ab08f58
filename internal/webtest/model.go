// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package webtest

import (
	"context"
	"sync"

	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
)

// ModelName is the name of the scripted model; the built-in price table knows it.
const ModelName = "claude-haiku-4-5"

// ModelUsage is what every answer of Says costs: 0.00107 USD by that table.
var ModelUsage = extract.Usage{In: 1000, Out: 50, Cached: 200}

// Model is an extract.Model that follows a script and remembers what it was told.
type Model struct {
	// Play makes the answer to one prompt.
	Play func(ctx context.Context, p extract.Prompt) (extract.Completion, error)

	mu      sync.Mutex
	prompts []extract.Prompt
}

// Says is a model that always answers with the same text.
func Says(text string) *Model {
	return &Model{Play: func(context.Context, extract.Prompt) (extract.Completion, error) {
		return extract.Completion{Text: text, Model: ModelName, Stop: extract.StopEnd, Usage: ModelUsage}, nil
	}}
}

// Fails is a model that is out of order.
func Fails() *Model {
	return &Model{Play: func(context.Context, extract.Prompt) (extract.Completion, error) {
		return extract.Completion{}, fault.New(fault.Model, "", "the model answered 529: overloaded")
	}}
}

// Hangs is a model that never answers.
func Hangs() *Model {
	return &Model{Play: func(ctx context.Context, _ extract.Prompt) (extract.Completion, error) {
		<-ctx.Done()
		return extract.Completion{}, ctx.Err()
	}}
}

// Name gives ModelName.
func (m *Model) Name() string { return ModelName }

// Complete plays the script.
func (m *Model) Complete(ctx context.Context, p extract.Prompt) (extract.Completion, error) {
	m.mu.Lock()
	m.prompts = append(m.prompts, p)
	m.mu.Unlock()
	return m.Play(ctx, p)
}

// Prompts gives what the model was told since the last call.
func (m *Model) Prompts() []extract.Prompt {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.prompts
	m.prompts = nil
	return out
}
