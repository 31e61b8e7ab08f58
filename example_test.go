// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/permit"
	"github.com/dipper-web/dipper/retrieve"
)

// timetable is a server on this machine with one page.
func timetable() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ferry" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, `<!doctype html><title>Ferry</title><main><h1>Ferry</h1>
<p>The first ferry leaves at six.</p>
<h2 id="fares">Fares</h2><p>A crossing costs three crowns. Children under seven travel free.</p></main>`)
	}))
}

// newClient makes a client that may also reach this machine. On the public web
// retrieve.Options{} is enough.
func newClient() (*dipper.Client, func(), error) {
	wire, err := retrieve.New(retrieve.Options{
		Reach: retrieve.Reach{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
	})
	if err != nil {
		return nil, nil, err
	}
	book, err := permit.New(permit.Options{})
	if err != nil {
		return nil, nil, err
	}
	client, err := dipper.New(dipper.Options{Permit: book, Get: wire})
	return client, wire.Close, err
}

// A page is fetched with a question. No helper model is set, so the passages that
// fit the question best come back.
func ExampleClient_Fetch() {
	server := timetable()
	defer server.Close()
	client, stop, err := newClient()
	if err != nil {
		log.Fatal(err)
	}
	defer stop()
	a, err := client.Fetch(context.Background(), dipper.Request{
		URL:     server.URL + "/ferry",
		Prompt:  "What does a crossing cost for children?",
		Budget:  25,
		NamedBy: permit.Person,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Outcome, a.Path, a.Code)
	fmt.Println(a.Result)
	// Output:
	// ok passages 200
	// ## Fares
	//
	// A crossing costs three crowns. Children under seven travel free.
}

// A client is made of rooms: what may be read, and what reads it. Here a rule
// forbids one host, and everything else has its sensible zero.
func ExampleNew() {
	server := timetable()
	defer server.Close()
	wire, err := retrieve.New(retrieve.Options{
		Reach: retrieve.Reach{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer wire.Close()
	rule, err := check.ParseRule("domain:forbidden.example.com")
	if err != nil {
		log.Fatal(err)
	}
	book, err := permit.New(permit.Options{Deny: []permit.Sourced{{Rule: rule, From: "my program"}}})
	if err != nil {
		log.Fatal(err)
	}
	client, err := dipper.New(dipper.Options{
		Limits: check.Limits{Declared: wire.Declared},
		Permit: book,
		Get:    wire,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, url := range []string{server.URL + "/ferry", "https://forbidden.example.com/"} {
		a, err := client.Fetch(context.Background(), dipper.Request{URL: url, Section: "fares", NamedBy: permit.Person})
		if errors.Is(err, fault.Denied) {
			fmt.Println("denied:", fault.From(err).Detail)
			continue
		}
		fmt.Println(a.Result)
	}
	// Output:
	// ## Fares
	//
	// A crossing costs three crowns. Children under seven travel free.
	//
	// denied: the deny rule "domain:forbidden.example.com" (my program) forbids https://forbidden.example.com/
}

// What goes wrong has a kind, a cause, and advice; what merely is no page is an
// outcome.
func Example_failure() {
	server := timetable()
	defer server.Close()
	client, stop, err := newClient()
	if err != nil {
		log.Fatal(err)
	}
	defer stop()
	ctx := context.Background()
	a, err := client.Fetch(ctx, dipper.Request{URL: server.URL + "/tram", NamedBy: permit.Person})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Outcome, a.Code)

	_, err = client.Fetch(ctx, dipper.Request{URL: "http://169.254.169.254/latest/meta-data/", NamedBy: permit.Person})
	fmt.Println(errors.Is(err, fault.Unsafe))
	failure := dipper.FailureOf(err, "").Error
	fmt.Println(failure.Kind, failure.Cause, failure.Stage, failure.Retryable)
	fmt.Println(failure.Advice)
	// Output:
	// notfound 404
	// true
	// unsafe address retrieve false
	// This place is not on the public web; a user who owns it can allow its range with network.allow.
}
