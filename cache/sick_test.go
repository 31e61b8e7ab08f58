// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dipper-web/dipper/cache"
)

// sickStore fails as told.
type sickStore struct {
	cache.Store
	get, put error
}

func (s sickStore) Get(ctx context.Context, key string) (cache.Entry, bool, error) {
	if s.get != nil {
		return cache.Entry{}, false, s.get
	}
	return s.Store.Get(ctx, key)
}

func (s sickStore) Put(ctx context.Context, e cache.Entry) error {
	if s.put != nil {
		return s.put
	}
	return s.Store.Put(ctx, e)
}

func TestSickStoreIsAMiss(t *testing.T) {
	ill := errors.New("ill")
	garbage := cache.NewMemory(0)
	_ = garbage.Put(t.Context(), cache.Entry{Key: "k", Data: []byte("{"), CheckedAt: time.Now()})
	tests := []struct {
		name   string
		store  cache.Store
		encode error
		ops    string
	}{
		{"get fails", sickStore{cache.NewMemory(0), ill, nil}, nil, "get"},
		{"put fails", sickStore{cache.NewMemory(0), nil, ill}, nil, "put"},
		{"both fail", sickStore{cache.NewMemory(0), ill, ill}, nil, "get put"},
		{"cannot be decoded", garbage, nil, "decode"},
		{"cannot be encoded", cache.NewMemory(0), ill, "encode"},
		{"the store gave up for us", sickStore{cache.NewMemory(0), context.Canceled, nil}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ops []string
			o := cache.ViewOptions[string]{Store: tt.store, OnError: func(op string, _ error) { ops = append(ops, op) }}
			if tt.encode != nil {
				o.Encode = func(string) ([]byte, error) { return nil, tt.encode }
			}
			wantGot(t, do(t, cache.NewView(o), want{Key: "k"}, (&fills{}).keep), "fill 1", cache.Network)
			if s := strings.Join(ops, " "); s != tt.ops {
				t.Errorf("OnError heard %q, want %q", s, tt.ops)
			}
		})
	}
}

// slowStore hangs until its context ends.
type slowStore struct{}

func (slowStore) Get(ctx context.Context, _ string) (cache.Entry, bool, error) {
	<-ctx.Done()
	return cache.Entry{}, false, ctx.Err()
}

func (slowStore) Put(ctx context.Context, _ cache.Entry) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestHangingStoreCostsSecondsNotTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		v := cache.NewView(cache.ViewOptions[string]{Store: slowStore{}})
		wantGot(t, do(t, v, want{Key: "k"}, (&fills{}).keep), "fill 1", cache.Network)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("a hanging store held the answer for %v", took)
		}
	})
}
