// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"context"
	"slices"
	"sync"
)

// memory is the form of Memory that ends with the process.
type memory struct {
	mu   sync.Mutex
	kept []Remembered // in the order in which they were first set
}

// NewMemory gives a Memory that lives as long as the process.
func NewMemory() Memory { return &memory{} }

func (m *memory) Recall(context.Context) ([]Remembered, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.kept), nil
}

func (m *memory) Remember(_ context.Context, r Remembered) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.find(r.Rule); i >= 0 {
		m.kept[i] = r
	} else {
		m.kept = append(m.kept, r)
	}
	return nil
}

func (m *memory) Forget(_ context.Context, rule string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.find(rule)
	if i < 0 {
		return false, nil
	}
	m.kept = slices.Delete(m.kept, i, i+1)
	return true, nil
}

func (m *memory) find(rule string) int {
	return slices.IndexFunc(m.kept, func(k Remembered) bool { return k.Rule == rule })
}
