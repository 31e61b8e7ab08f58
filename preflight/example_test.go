// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight_test

import (
	"context"
	"fmt"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/preflight"
)

// A list and robots.txt, asked in that order. The robots.txt comes from memory
// here; in a program it is read through the guard.
func ExampleAll() {
	list, err := preflight.NewList([]string{"tracker.example # sells what it learns"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	robots := preflight.NewRobots(preflight.RobotsOptions{
		Agent: "Dipper/1.0",
		Fetch: func(context.Context, check.Target) (preflight.File, error) {
			return preflight.File{Status: 200, Body: []byte("User-agent: *\nDisallow: /drafts/\n")}, nil
		},
	})
	checks := preflight.All(list, robots)
	for _, raw := range []string{"https://example.org/guide", "https://example.org/drafts/1", "https://www.tracker.example/"} {
		t, _ := check.Parse(raw)
		cleared, err := checks.Check(context.Background(), preflight.Ask{Target: t})
		if err != nil {
			fmt.Println(fault.From(err).Detail)
			continue
		}
		fmt.Println(raw, "may be read:", cleared.Reason)
	}
	// Output:
	// https://example.org/guide may be read: the host is on no block list; no rule of robots.txt speaks against it
	// robots.txt of https://example.org asks Dipper not to read https://example.org/drafts/1 (Disallow: /drafts/)
	// www.tracker.example is on the block list (tracker.example in preflight.block): sells what it learns
}
