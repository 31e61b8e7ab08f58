// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"context"
	"fmt"

	"github.com/dipper-web/dipper/cache"
)

func ExampleView_Do() {
	view := cache.NewView(cache.ViewOptions[string]{Store: cache.NewMemory(1 << 20)})
	fetch := func(context.Context, *string) (cache.Filled[string], error) {
		fmt.Println("fetching")
		return cache.Filled[string]{Value: "a page", Keep: true}, nil
	}
	for range 2 {
		got, err := view.Do(context.Background(), cache.Want[string]{Key: "https://example.com/"}, fetch)
		fmt.Println(got.Value, got.Source, err)
	}
	// Output:
	// fetching
	// a page network <nil>
	// a page cache <nil>
}

func ExampleMemory() {
	ctx := context.Background()
	shelf := cache.NewMemory(1 << 20)
	_ = shelf.Put(ctx, cache.Entry{Key: "k", URL: "https://example.com/", Title: "Example", Data: []byte("hello")})
	list, _ := shelf.List(ctx, 10)
	for _, e := range list {
		fmt.Println(e.Title, e.Size, len(e.Data))
	}
	// Output: Example 5 0
}
