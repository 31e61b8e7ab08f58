// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit_test

import (
	"context"
	"fmt"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
)

func ExampleBook_Judge() {
	deny, _ := check.ParseRule("domain:example.com")
	trusted, _ := permit.NewTrusted(nil, nil, true)
	book, err := permit.New(permit.Options{
		Deny:    []permit.Sourced{{Rule: deny, From: "config.yaml"}},
		Default: "ask",
		Trusted: trusted,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, raw := range []string{"https://docs.python.org/3/", "https://www.example.com/", "https://example.org/"} {
		t, _ := check.Parse(raw)
		verdict, err := book.Judge(context.Background(), permit.Request{Target: t, By: permit.Person})
		if err != nil {
			fmt.Println(fault.From(err).Detail)
			continue
		}
		fmt.Println(verdict.Decision, verdict.Rule, verdict.Trusted)
	}
	// Output:
	// allow docs.python.org docs
	// the deny rule "domain:example.com" (config.yaml) forbids https://www.example.com/
	// no rule allows it, and permissions.default, which is ask, wants a person asked about https://example.org/, and nobody can be asked here
}

func ExampleMentioned() {
	for _, t := range permit.Mentioned("See [the guide](https://example.org/guide#part), or www.example.com. ![pier](https://example.org/pier.png)") {
		fmt.Println(permit.Key(t))
	}
	// Output:
	// https://example.org/guide
	// https://www.example.com/
}

func ExampleNewTrusted() {
	list, err := permit.NewTrusted([]string{"docs.example.org", "wiki.example.org open"}, nil, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range list.List() {
		fmt.Println(e, e.Tier)
	}
	// Output:
	// docs.example.org docs
	// wiki.example.org open
}
