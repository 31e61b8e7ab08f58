// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/fault"
)

func seed(f *testing.F) {
	for _, r := range rows(f) {
		f.Add(r.url)
	}
	for _, s := range []string{"https://a.example/%%34%31?%%3#%", "http://1.0x-1/", "http://[::1.2.3.4]:1/", "https://a.example/|%2f;..;/^", "http://xn--a.ａ.example/"} {
		f.Add(s)
	}
}

// FuzzParse: no panic, every refusal is invalid, every target is sound.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, raw string) {
		x, err := Parse(raw)
		if err != nil {
			if !errors.Is(err, fault.Invalid) || !x.IsZero() {
				t.Errorf("Parse(%q) = %v, %v", raw, x, err)
			}
			return
		}
		if strings.ContainsFunc(x.String(), func(r rune) bool { return r <= ' ' || r >= 0x7f }) || strings.ContainsAny(x.HostPort()+x.Path(), "@?#\\") != strings.Contains(x.Path(), "@") {
			t.Errorf("Parse(%q) = %q", raw, x)
		}
		sound(t, x)
	})
}

// FuzzParseFixedPoint: the canonical form and the key are read as they were
// written, and a rule made for a target matches it and survives its own text.
func FuzzParseFixedPoint(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, raw string) {
		x, err := Limits{}.read(nil, raw)
		if err != nil {
			return
		}
		sound(t, x)
		if x.host.odd {
			return
		}
		r, err := ParseRule(RuleFor(x).Text)
		if err != nil || !r.Matches(x) || !r.Covers(x) {
			t.Errorf("the rule %q for %q: %v", RuleFor(x).Text, x, err)
		}
		if parent := x.Path()[:strings.LastIndexByte(x.Path(), '/')+1]; !strings.Contains(parent, "*") {
			p, err := ParseRule(x.Scheme() + "://" + strings.TrimPrefix(x.place(), "//") + parent)
			if err == nil && p.Matches(x) && !p.Covers(x) {
				t.Errorf("%s matches and does not cover %s", p, x)
			}
		}
	})
}

// FuzzJoin: no panic, refusals are refused/location, results are sound and
// keep the rules of Parse.
func FuzzJoin(f *testing.F) {
	seed(f)
	for _, s := range []string{"../x", "?y", "//a.example", `\\a.example\x`, "https:x", "/caf\xe9", "\t/\n"} {
		f.Add(s)
	}
	base, err := Parse("https://docs.example/a/b?q#f")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		x, err := base.Join(ref)
		if err != nil {
			if !errors.Is(err, fault.Refused) {
				t.Errorf("Join(%q): %v", ref, err)
			}
			return
		}
		sound(t, x)
	})
}
