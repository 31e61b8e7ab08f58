// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

// ModelChoice is the model that a configuration and the keys present lead to.
type ModelChoice struct {
	Provider string // anthropic or openai
	Name     string // empty: the provider's default
	BaseURL  string // empty: the provider's own
	Key      string // empty: none, as for a model on this machine
	// Inferred reports that nothing but a variable in the environment led here.
	Inferred bool
}

// ResolveModel gives the helper model, nil where there is none.
func (l *Loaded) ResolveModel() (*ModelChoice, error) {
	m := l.Config.Model
	c := ModelChoice{Provider: m.Provider, Name: m.Name, BaseURL: m.BaseURL}
	if c.Provider == "" {
		c.Provider = l.Standard.provider()
		c.Inferred = m.Name == "" && m.BaseURL == ""
		if c.Provider == "" && m.BaseURL != "" {
			c.Provider = "openai" // what a server of one's own speaks
		}
	}
	return l.Standard.complete(c), nil
}

// ResolveMain gives the model that plans and writes, nil where there is none.
// What is not said of it is as for the helper; the name is not, since the
// provider's default for this work is a larger one.
func (l *Loaded) ResolveMain() (*ModelChoice, error) {
	helper, err := l.ResolveModel()
	if err != nil {
		return nil, err
	}
	m := l.Config.Model.Main
	c := ModelChoice{Provider: m.Provider, Name: m.Name, BaseURL: m.BaseURL}
	if helper != nil && (c.Provider == "" || c.Provider == helper.Provider) {
		c.Provider = helper.Provider
		c.Inferred = helper.Inferred && m == (MainModel{})
		if c.BaseURL == "" {
			c.BaseURL = helper.BaseURL
		}
	}
	return l.Standard.complete(c), nil
}

// provider names the one whose key is there, else the one whose address is.
func (s Standard) provider() string {
	switch {
	case s.AnthropicKey != "":
		return "anthropic"
	case s.OpenAIKey != "":
		return "openai"
	case s.AnthropicBaseURL != "":
		return "anthropic"
	case s.OpenAIBaseURL != "":
		return "openai"
	}
	return ""
}

// complete adds the key and, where none is said, the address of the provider.
func (s Standard) complete(c ModelChoice) *ModelChoice {
	key, base := s.AnthropicKey, s.AnthropicBaseURL
	switch c.Provider {
	case "", "none":
		return nil
	case "openai":
		key, base = s.OpenAIKey, s.OpenAIBaseURL
	}
	c.Key = key
	if c.BaseURL == "" {
		c.BaseURL = base
	}
	return &c
}
