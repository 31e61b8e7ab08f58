// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/dipper-web/dipper/fault"
)

// Memory is a Shelf that lives as long as its process. It is safe for use by
// several goroutines, and shares no bytes with its callers.
type Memory struct {
	held *byteLRU[Entry]
}

var _ Shelf = (*Memory)(nil)

// NewMemory makes a Memory that holds at most maxBytes, keys and titles
// included; 0 or less means DefaultMemory. When it is full, the entries used
// longest ago go first.
func NewMemory(maxBytes int64) *Memory {
	if maxBytes <= 0 {
		maxBytes = DefaultMemory
	}
	return &Memory{held: newByteLRU[Entry](maxBytes)}
}

// Get implements Store.
func (m *Memory) Get(ctx context.Context, key string) (Entry, bool, error) {
	if err := ended(ctx); err != nil {
		return Entry{}, false, err
	}
	e, ok := m.held.get(key)
	e.Data = bytes.Clone(e.Data)
	return e, ok, nil
}

// Put implements Store. An entry bigger than the whole memory is
// fault.TooLarge, and the older one of its key is gone.
func (m *Memory) Put(ctx context.Context, e Entry) error {
	if err := ended(ctx); err != nil {
		return err
	}
	e.Data = bytes.Clone(e.Data)
	e.Size = int64(len(e.Data))
	if !m.held.put(e.Key, e, e.Size+int64(len(e.ID)+len(e.URL)+len(e.Title))) {
		return fault.New(fault.TooLarge, "", "%s is not kept: its %d bytes are more than the whole memory of the cache (%d bytes)",
			e.URL, e.Size, m.held.limit)
	}
	return nil
}

// Stats implements Shelf.
func (m *Memory) Stats(ctx context.Context) (Stats, error) {
	all, err := m.List(ctx, 0)
	s := Stats{Count: len(all), Used: m.held.bytes(), Limit: m.held.limit}
	for _, e := range all {
		s.Bytes += e.Size
	}
	if len(all) > 0 {
		s.Newest, s.Oldest = all[0].StoredAt, all[len(all)-1].StoredAt
	}
	return s, err
}

// List implements Shelf.
func (m *Memory) List(ctx context.Context, limit int) ([]Entry, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	all := m.held.values()
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(b.StoredAt.Compare(a.StoredAt), cmp.Compare(a.Key, b.Key))
	})
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	for i := range all {
		all[i].Data = nil
	}
	return all, nil
}

// ByID implements Shelf.
func (m *Memory) ByID(ctx context.Context, id string) (Entry, bool, error) {
	if err := ended(ctx); err != nil {
		return Entry{}, false, err
	}
	var best Entry
	found := false
	for _, e := range m.held.values() {
		if id != "" && e.ID == id && (!found || e.CheckedAt.After(best.CheckedAt)) {
			best, found = e, true
		}
	}
	best.Data = bytes.Clone(best.Data)
	return best, found, nil
}

// Remove implements Shelf.
func (m *Memory) Remove(ctx context.Context, url string) (int, error) {
	if err := ended(ctx); err != nil {
		return 0, err
	}
	n := 0
	for _, e := range m.held.values() {
		if (e.URL == url || e.Key == url) && m.held.remove(e.Key) {
			n++
		}
	}
	return n, nil
}

// Clear implements Shelf.
func (m *Memory) Clear(ctx context.Context) (int, error) {
	if err := ended(ctx); err != nil {
		return 0, err
	}
	return m.held.clear(), nil
}
