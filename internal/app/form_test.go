// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Size
	}{
		{"50MiB", 50 << 20}, {"2GiB", 2 << 30}, {"0", 0}, {"0B", 0}, {"12", 12}, {"12b", 12}, {"1 kB", 1000}, {"1KB", 1000}, {"1.5kib", 1536},
		{"10MB", 10_000_000}, {"1tib", 1 << 40}, {"2TB", 2_000_000_000_000}, {"  7 MiB ", 7 << 20},
	} {
		if got, err := ParseSize(tc.text); err != nil || got != tc.want {
			t.Errorf("%q is %d, %v; want %d", tc.text, got, err, tc.want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "+1", "1e3", "1.2.3MB", "inf", "NaN", "0x10", "5 apples", "9000000TiB", "1MiBs", "١"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is taken as %d", text, got)
		}
	}
	for _, s := range []Size{0, 1, 999, 1000, 1024, 1536, 50 << 20, 10_000_000, 3 << 40, math.MaxInt32} {
		if again, err := ParseSize(s.String()); err != nil || again != s {
			t.Errorf("%d is written as %s and read as %d, %v", s, s, again, err)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for _, tc := range []struct {
		text string
		want time.Duration
	}{
		{"0s", 0}, {"0", 0}, {"20s", 20 * time.Second}, {"1h30m", 90 * time.Minute}, {"1.5s", 1500 * time.Millisecond},
		{"7d", 168 * time.Hour}, {"1d12h", 36 * time.Hour}, {"250ms", 250 * time.Millisecond}, {"0d", 0},
	} {
		if got, err := ParseDuration(tc.text); err != nil || got != tc.want {
			t.Errorf("%q is %v, %v; want %v", tc.text, got, err, tc.want)
		}
		if again, err := ParseDuration(shortDuration(int64(tc.want))); err != nil || again != tc.want {
			t.Errorf("%v is written as %q and read as %v, %v", tc.want, shortDuration(int64(tc.want)), again, err)
		}
	}
	for _, text := range []string{"", "60", "s", "-1s", "+1s", "1d-2h", "1.5d", "d", "-1d", "1 s", "1w", "99999999d", "300000h300000000h", "1s2"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
	for d, want := range map[time.Duration]string{time.Minute: "1m", 15 * time.Minute: "15m", time.Hour: "1h", 90 * time.Minute: "1h30m", 60*time.Minute + time.Second: "1h0m1s", 0: "0s", 10 * time.Second: "10s", 10 * time.Hour: "10h"} {
		if got := shortDuration(int64(d)); got != want {
			t.Errorf("%v is written as %s, want %s", d, got, want)
		}
	}
}

func TestParseRange(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.0/8": "127.0.0.0/8", "127.0.0.1/8": "127.0.0.0/8", "10.1.2.3": "10.1.2.3/32", "::1": "::1/128", "fd00::/8": "fd00::/8",
		"::ffff:10.0.0.0/104": "10.0.0.0/8", "::ffff:10.0.0.1": "10.0.0.1/32",
		"": "", "10/8": "", "10.0.0.0/33": "", "10.0.0.0/": "", "fe80::1%eth0": "", "fe80::%eth0/64": "", "::ffff:0.0.0.0/90": "", "localhost": "", "10.0.0.0-10.0.0.9": "", "010.0.0.0/8": "",
	} {
		got, err := parseRange(text)
		if want == "" && err == nil || want != "" && (err != nil || got.String() != want) {
			t.Errorf("%q gives %v, %v; want %q", text, got, err, want)
		}
	}
}

func TestParseResolve(t *testing.T) {
	for text, want := range map[string]string{
		"docs.example.org:443:127.0.0.1":      "docs.example.org:443 127.0.0.1",
		"docs.example.org:443:127.0.0.1:8443": "docs.example.org:443 127.0.0.1:8443",
		"Docs.Example.Org.:80:10.0.0.1":       "docs.example.org:80 10.0.0.1",
		"+a.test:80:10.0.0.1":                 "a.test:80 10.0.0.1",
		"a.test:80:::1":                       "a.test:80 ::1",
		"a.test:80:[::1]":                     "a.test:80 ::1",
		"a.test:80:[::1]:8080":                "a.test:80 [::1]:8080",
		"büro.test:80:10.0.0.1":               "xn--bro-hoa.test:80 10.0.0.1",
		"a_b.test:80:10.0.0.1":                "a_b.test:80 10.0.0.1",
		"":                                    "", "a.test": "", "a.test:80": "", "a.test:80:": "", "a.test::10.0.0.1": "", ":80:10.0.0.1": "",
		"a.test:0:10.0.0.1": "", "a.test:65536:10.0.0.1": "", "a.test:http:10.0.0.1": "", "a.test:+80:10.0.0.1": "", "a.test:80:b.test": "", "a.test:80:10.0.0.1:0": "", "a.test:80:10.0.0.1:99999": "",
		"*:80:10.0.0.1": "", "127.0.0.1:80:10.0.0.1": "", "a.test:80:10.0.0.1,10.0.0.2": "", "a.test:80:fe80::1%eth0": "", "a b.test:80:10.0.0.1": "", "-a.test:80": "", "a..test:80:10.0.0.1": "",
		"a.test:80:[::1": "", "a.test:80:[fe80::1%1]:80": "",
	} {
		key, value, err := ParseResolve(text)
		if want == "" && err == nil || want != "" && (err != nil || key+" "+value != want) {
			t.Errorf("%q gives %s %s, %v; want %q", text, key, value, err, want)
		}
	}
}

func ExampleParseResolve() {
	key, value, err := ParseResolve("docs.example.org:443:127.0.0.1:8443")
	fmt.Println(key, value, err)
	// Output: docs.example.org:443 127.0.0.1:8443 <nil>
}

func TestForms(t *testing.T) {
	long := "Long/" + strings.Repeat("9", maxAgent)
	for _, tc := range []struct {
		tag        string
		good, bad  []string
		normalised map[string]string
	}{
		{tag: `is:"url"`, good: []string{"", "https://x.test", "http://127.0.0.1:8080/v1?x=1", "http://[::1]/", "https://u:p@x.test/"},
			bad: []string{"x.test", "//x.test", "https://", "https:x.test", "ftp://x.test", "http://x.test:0/", "http://x.test:70000", "http://x.test:/", "http://x.test/#a", "http://x.test/\x00", "http://x y.test/"}},
		{tag: `is:"proxy"`, good: []string{"", "off", "http://p.test:3128", "https://u:p@p.test", "socks5://p.test:1080"}, bad: []string{"on://", "ftp://p.test", "http://p.test/x", "http://p.test?x", "p.test:99999", "off "},
			normalised: map[string]string{"p.test:3128": "http://p.test:3128"}},
		{tag: `is:"listen" def:"x"`, good: []string{"127.0.0.1:7788", ":0", "[::1]:80", "localhost:65535"}, bad: []string{"", "127.0.0.1", "7788", "::1:80", "x:", "x:http", "x:65536", "a b:1", "x:-1"}},
		{tag: `is:"host"`, good: []string{"", "h.test"}, bad: []string{"http://h.test", "h.test/x", "h.test:80", "a b", ".h.test"}, normalised: map[string]string{"H.Test.": "h.test", "[::1]": "::1"}},
		{tag: `is:"store" def:"sqlite"`, good: []string{"mem", "sqlite", "redis://r.test:6379/2", "rediss://u:p@r.test"}, bad: []string{"", "disk", "redis://", "redis:r.test", "postgres://p.test/db", "redis://r.test:x"}},
		{tag: `is:"agent"`, good: []string{"", "Probe/1.0 (+https://p.test)"}, bad: []string{"a\r\nX: y", "é", " a", "a ", long}},
		{tag: `is:"token"`, good: []string{"", "abc.DEF-1~+/="}, bad: []string{"a b", "é", "a\n"}},
		{tag: `is:"word" def:"x"`, good: []string{"brave"}, bad: []string{"", "a b", "a,b", "a\tb"}},
		{tag: `is:"text"`, good: []string{"", "a b", "ü"}, bad: []string{" ", "a\nb", "a\x1bb"}},
		{tag: `is:"body"`, good: []string{"", " ", "a\nb"}, bad: []string{"a\x00"}},
		{tag: `is:"file"`, good: []string{"", "/etc/x"}, bad: []string{" ", "a\x00b"}, normalised: map[string]string{"x/../y": "/base/y", "~/z": "/home/me/z", "~z": "/base/~z"}},
		{tag: `one:"a b" def:"a"`, good: []string{"a", "b"}, bad: []string{"", "A", "a b"}},
		{tag: `one:"a b"`, good: []string{"", "b"}, bad: []string{"c"}},
	} {
		p := place{base: "/base", home: "/home/me"}
		for _, text := range tc.good {
			if got, err := p.form(reflect.StructTag(tc.tag), text); err != nil || got != text {
				t.Errorf("%s: %q gives %q, %v", tc.tag, text, got, err)
			}
		}
		for text, want := range tc.normalised {
			if got, err := p.form(reflect.StructTag(tc.tag), text); err != nil || got != want {
				t.Errorf("%s: %q gives %q, %v; want %q", tc.tag, text, got, err, want)
			}
		}
		for _, text := range tc.bad {
			if got, err := p.form(reflect.StructTag(tc.tag), text); err == nil {
				t.Errorf("%s: %q is taken as %q", tc.tag, text, got)
			} else if !strings.HasSuffix(err.Error(), "expected") && !strings.Contains(err.Error(), "expected ") {
				t.Errorf("%s: %q fails without saying what is expected: %v", tc.tag, text, err)
			}
		}
	}
}
