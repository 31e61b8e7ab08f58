// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/fault"
)

// row is one line of testdata/urls.tsv.
type row struct{ id, group, url, verdict, stage, context string }

var escapes = regexp.MustCompile(`\\(\\|x[0-9a-f]{2}|u[0-9a-f]{4})`)

func unescape(s string) string {
	return escapes.ReplaceAllStringFunc(s, func(e string) string {
		if e == `\\` {
			return `\`
		}
		n, _ := strconv.ParseUint(e[2:], 16, 32)
		if e[1] == 'x' {
			return string([]byte{byte(n)})
		}
		return string(rune(n))
	})
}

func rows(t testing.TB) []row {
	t.Helper()
	data, err := os.ReadFile("testdata/urls.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	for line := range strings.Lines(string(data)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); !strings.HasPrefix(line, "#") {
			out = append(out, row{f[0], f[1], unescape(f[2]), f[3], f[4], unescape(f[5])})
		}
	}
	return out
}

// A row that is rejected must be rejected here and as invalid; every other row
// must parse, because the room that refuses it comes later.
func TestRows(t *testing.T) {
	for i, r := range rows(t) {
		t.Run(fmt.Sprintf("%d-%s-%s", i, r.id, r.group), func(t *testing.T) {
			target, err := Parse(r.url)
			if r.verdict == "REJECT" {
				if !errors.Is(err, fault.Invalid) {
					t.Errorf("Parse(%q) = %v, %v; want invalid", r.url, target, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("Parse(%q): %v", r.url, err)
			}
			sound(t, target)
		})
	}
}

// sound checks what holds of every target.
func sound(t *testing.T, x Target) {
	t.Helper()
	u := x.URL()
	switch {
	case u.EscapedPath() != x.Path():
		t.Errorf("%v: net/http would ask for %q, judged was %q", x, u.EscapedPath(), x.Path())
	case u.String() != x.String():
		t.Errorf("URL() prints %q, String() %q", u, x)
	case u.Hostname() != x.Host():
		t.Errorf("URL() has host %q, Host() is %q", u.Hostname(), x.Host())
	case !strings.HasPrefix(x.Path(), "/"):
		t.Errorf("path %q", x.Path())
	}
	if parsed, err := url.Parse(x.String()); err != nil || parsed.Hostname() != x.Host() {
		t.Errorf("net/url reads %q as %v, %v", x, parsed, err)
	}
	again, err := Limits{MaxURL: 1 << 20}.Parse(x.String())
	if err != nil && x.host.odd {
		return
	}
	if err != nil || again.String() != x.String() || again.Key() != x.Key() || again.HostPort() != x.HostPort() {
		t.Errorf("%q is no fixed point: %q, %v", x, again, err)
	}
	key, err := Limits{MaxURL: 1 << 20}.Parse(x.Key())
	if err != nil || key.Key() != x.Key() {
		t.Errorf("the key %q is no fixed point: %q, %v", x.Key(), key.Key(), err)
	}
}
