// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/retrieve"
)

// A page is read from a server on this machine, whose range has to be allowed; what
// is not public is refused without it.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "The ferry leaves at noon.")
	}))
	defer server.Close()
	target, err := check.Parse(server.URL + "/times")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, allow := range [][]netip.Prefix{{netip.MustParsePrefix("127.0.0.0/8")}, nil} {
		h, err := retrieve.New(retrieve.Options{Reach: retrieve.Reach{Allow: allow}})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer h.Close()
		page, err := h.Get(context.Background(), retrieve.Request{Target: target})
		if errors.Is(err, fault.Unsafe) {
			fmt.Println("refused:", fault.From(err).Cause)
			continue
		}
		fmt.Println(page.Status, page.StatusText, string(page.Body))
	}
	// Output:
	// 200 OK The ferry leaves at noon.
	// refused: address
}
