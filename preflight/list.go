// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// maxListFile bounds a block list. The large public ones hold a few hundred
// thousand names in some 10 MiB; a file beyond this is none.
const maxListFile = 32 << 20

// blockList is a list of hosts: what a name means is looked up, not searched, so that
// lists of hundreds of thousands of names cost nothing per page.
type blockList struct {
	names    map[string]blocked // the name and all below it
	below    map[string]blocked // only what lies below the name
	patterns []pattern          // with a star elsewhere
	files    []string           // base names, for the sentence
}

type blocked struct {
	reason string
	file   int // index into files plus 1; 0: an entry of the configuration
}

type pattern struct {
	rule check.Rule
	blocked
}

// NewList gives the Checker that blocks hosts. An entry is a host, which stands
// for itself and every name below it; "*.host", only what lies below; a host
// with a star elsewhere, as in rules; or a list file. Behind " # " stands the
// reason, which is repeated to whoever is blocked. An entry is a file when it
// holds a path separator, or when open can read it. A file holds one host a line
// in the same forms, or lines of a hosts file ("0.0.0.0 host"); # begins a
// comment. A nil open reads from disk, at most 32 MiB. What cannot be read or
// understood is fault.Invalid and names the line: no part of a list is skipped.
func NewList(entries []string, open func(path string) ([]byte, error)) (Checker, error) {
	if open == nil {
		open = readListFile
	}
	l := &blockList{names: map[string]blocked{}, below: map[string]blocked{}}
	for _, entry := range entries {
		place, reason := cutReason(entry)
		if place == "" {
			return nil, fault.New(fault.Invalid, "", "preflight.block has an empty entry")
		}
		isPath := strings.ContainsAny(place, `/\`)
		data, err := open(place)
		switch {
		case err == nil:
			err = l.file(place, reason, data)
		case isPath:
			return nil, fault.Wrap(err, fault.Invalid, "", "preflight.block names the list file %s, which cannot be read", place)
		default:
			err = l.add(place, blocked{reason: reason})
		}
		if err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "", "preflight.block: %v", err)
		}
	}
	return l, nil
}

func readListFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxListFile+1))
}

// file reads a list file; reason holds for its lines without one of their own.
func (l *blockList) file(path, reason string, data []byte) error {
	if len(data) > maxListFile {
		return fmt.Errorf("the list file %s is over 32 MiB", path)
	}
	l.files = append(l.files, filepath.Base(path))
	text := strings.TrimPrefix(string(data), "\ufeff")
	number := 0
	for line := range strings.Lines(text) {
		number++
		hosts, own := hostsOf(line)
		if own == "" {
			own = reason
		}
		for _, h := range hosts {
			if err := l.add(h, blocked{own, len(l.files)}); err != nil {
				return fmt.Errorf("%s:%d: %w", path, number, err)
			}
		}
	}
	return nil
}

// hostsOf gives the hosts of one line. The first word of a line of a hosts file
// is an address that is no part of the list, and names that every machine has
// there are left out.
func hostsOf(line string) (hosts []string, reason string) {
	text, reason := cutReason(line)
	words := strings.Fields(text)
	if len(words) < 2 {
		return words, reason
	}
	if _, err := netip.ParseAddr(words[0]); err != nil {
		return words, reason
	}
	return slices.DeleteFunc(words[1:], func(h string) bool {
		_, err := netip.ParseAddr(h)
		return err == nil || !strings.Contains(h, ".") || h == "localhost.localdomain"
	}), reason
}

func cutReason(s string) (text, reason string) {
	text, reason, _ = strings.Cut(s, "#")
	return strings.TrimSpace(text), strings.TrimSpace(reason)
}

func (l *blockList) add(text string, b blocked) error {
	name, below := strings.CutPrefix(strings.ToLower(text), "*.")
	if strings.Contains(name, "*") {
		rule, err := check.ParseRule("domain:" + text)
		if err != nil {
			return fmt.Errorf("%q is not a host pattern: %w", text, err)
		}
		l.patterns = append(l.patterns, pattern{rule, b})
		return nil
	}
	host, err := normalHost(name)
	if err != nil {
		return fmt.Errorf("%q is neither a host nor a list file that can be read", text)
	}
	into := l.names
	if below {
		into = l.below
	}
	if _, has := into[host]; !has {
		into[host] = b
	}
	return nil
}

// normalHost spells a host as a Target does. Plain names, nearly all of a large
// list, are recognised without the full parse.
func normalHost(name string) (string, error) {
	name = strings.TrimSuffix(name, ".")
	if plainHost(name) {
		return name, nil
	}
	if strings.ContainsAny(name, "/?#@\\ ") {
		return "", fault.New(fault.Invalid, "", "not a host")
	}
	if a, err := netip.ParseAddr(name); err == nil && a.Is6() {
		name = "[" + name + "]"
	}
	t, err := check.Limits{Declared: func(string, int) bool { return true }}.Parse("https://" + name + "/")
	if err != nil || t.Port() != 443 {
		return "", fault.Wrap(err, fault.Invalid, "", "not a host")
	}
	return t.Host(), nil
}

// plainHost reports whether name is lower-case ASCII that no parser would read
// as an address or rewrite: the last label begins with a letter that is not the
// x of a coded label.
func plainHost(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" || last[0] < 'a' || last[0] > 'z' || strings.Contains(name, "xn--") ||
		name[0] == '.' || strings.Contains(name, "..") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
}

func (l *blockList) Check(_ context.Context, a Ask) (Clearance, error) {
	if entry, b, found := l.find(a.Target); found {
		where := "preflight.block"
		if b.file > 0 {
			where = l.files[b.file-1]
		}
		why := ""
		if b.reason != "" {
			why = ": " + b.reason
		}
		return Clearance{}, fault.New(fault.Blocked, fault.ByList, "%s is on the block list (%s in %s)%s", a.Target.Host(), entry, where, why)
	}
	return Clearance{Reason: "the host is on no block list", By: "list", At: time.Now()}, nil
}

func (l *blockList) find(t check.Target) (string, blocked, bool) {
	host := t.Host()
	if b, hit := l.names[host]; hit {
		return host, b, true
	}
	for _, above, more := strings.Cut(host, "."); more; _, above, more = strings.Cut(above, ".") {
		if b, hit := l.names[above]; hit {
			return above, b, true
		}
		if b, hit := l.below[above]; hit {
			return "*." + above, b, true
		}
	}
	for _, p := range l.patterns {
		if p.rule.Covers(t) {
			return strings.TrimPrefix(p.rule.Text, "domain:"), p.blocked, true
		}
	}
	return "", blocked{}, false
}
