// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"

	"github.com/dipper-web/dipper/check"
)

func ExampleParse() {
	t, err := check.Parse("HTTP://①②⑦.⓪.⓪.①:80/a/../b#part")
	fmt.Println(t, t.Port(), t.Fragment(), err)

	_, err = check.Parse("https://me:secret@example.com/")
	fmt.Println(err)
	// Output:
	// http://127.0.0.1/b 80 part <nil>
	// invalid: the URL holds a user name or password; remove everything up to the @
}

func ExampleTarget_Join() {
	t, _ := check.Parse("https://example.com/docs/start")
	next, err := t.Join("../café")
	fmt.Println(next, err)

	_, err = t.Join("file:///etc/passwd")
	fmt.Println(err)
	// Output:
	// https://example.com/caf%C3%A9 <nil>
	// refused/location: "https://example.com/docs/start" redirects to no usable address: only http and https are fetched, not file
}

func ExampleRule() {
	t, _ := check.Parse("https://api.example.com/v1")
	for _, text := range []string{"domain:example.com", "WebFetch(domain:*.example.com)"} {
		r, err := check.ParseRule(text)
		fmt.Println(r, "matches", r.Matches(t), "covers", r.Covers(t), err)
	}
	// Output:
	// WebFetch(domain:example.com) matches false covers true <nil>
	// WebFetch(domain:*.example.com) matches true covers true <nil>
}

func ExampleParseFilter() {
	f, _ := check.ParseFilter("https://www.example.com/docs/")
	t, _ := check.Parse("https://api.example.com/docs/x")
	fmt.Println(f, f.Matches(t))
	// Output: example.com/docs true
}
