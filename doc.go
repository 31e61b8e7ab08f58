// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dipper reads the web for language-model agents: a URL and a prompt
// become a short, checked answer.
//
// The package is a corridor. [Client.Fetch] carries one request through the
// rooms, each a package with the verb of its work:
//
//	check      a string becomes a Target, the passport of every later room
//	permit     rules, trusted list, provenance, asking a person
//	preflight  block lists, robots.txt, a remote checker
//	retrieve   bytes over the wire, with limits and a redirect rule
//	convert    bytes become a Markdown document
//	extract    a question put to one document: a small model, or ranked passages
//
// What the corridor adds is the order of things, the kept pages, and one event
// for each stage entered. Every call ends in exactly one outcome or one failure
// of package fault; nothing is "ok" because no error was noticed.
//
// A Client is safe for use by several goroutines at once.
package dipper
