// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/fault"
)

func must(t testing.TB, raw string) Target {
	t.Helper()
	x, err := Parse(raw)
	if err != nil {
		t.Fatalf("Parse(%q): %v", raw, err)
	}
	return x
}

func TestCanonicalForm(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"https://example.com", "https://example.com/"},
		{"HTTPS://EXAMPLE.com:443/A?b=C", "https://example.com/A?b=C"},
		{"http://example.com.:00080/", "http://example.com/"},
		{"http://example.com:443/", "http://example.com:443/"},
		{"http://example.com:/x", "http://example.com/x"},
		{"https://example.com/a/../b/./c", "https://example.com/b/c"},
		{"https://example.com/a/%2e%2E/b/.%2e/c", "https://example.com/c"},
		{"https://example.com/..", "https://example.com/"},
		{"https://example.com//a//b", "https://example.com//a//b"},
		{"https://example.com/a b?c d", "https://example.com/a%20b?c%20d"},
		{"https://example.com/你好?q=é", "https://example.com/%E4%BD%A0%E5%A5%BD?q=%C3%A9"},
		{"https://example.com/a%2Fb|c^d", "https://example.com/a%2Fb%7Cc%5Ed"},
		{"https://example.com/50%", "https://example.com/50%25"},
		{"https://example.com/?a=50%&b='<>\"", "https://example.com/?a=50%&b=%27%3C%3E%22"},
		{"https://example.com/?", "https://example.com/"},
		{"https://example.com?x", "https://example.com/?x"},
		{"https://example.com/x?back=a\\b", "https://example.com/x?back=a\\b"},
		{"https://faß.example/", "https://xn--fa-hia.example/"},
		{"https://BÜCHER.example/", "https://xn--bcher-kva.example/"},
		{"https://r3---sn-a5m.example/", "https://r3---sn-a5m.example/"},
		{"https://a_b.例子.example/", "https://a_b.xn--fsqu00a.example/"},
		{"http://[2001:DB8:0::0:1]:8080/", "http://[2001:db8::1]:8080/"},
		{"http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/"},
		{"http://0x7f.1/", "http://127.0.0.1/"},
		{"http://1.2.3/", "http://1.2.0.3/"},
		{"http://0xffffffff/", "http://255.255.255.255/"},
	} {
		x := must(t, c.raw)
		if x.String() != c.want {
			t.Errorf("Parse(%q) = %q, want %q", c.raw, x, c.want)
		}
		sound(t, x)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ raw, say string }{
		{"", "empty"},
		{"https://example.com/" + strings.Repeat("a", MaxURL-19), "2001 characters"},
		{"https://example.com/\xff", "UTF-8"},
		{"https://example.com/\x7f", "control"},
		{"https://example.com/\u0085", "control"},
		{"https://example.com/ ", "space"},
		{"example.com/x", "in full"},
		{"mailto:a@b.example", "in full"},
		{"ftp://example.com/", "in full"},
		{"https:/example.com/", "in full"},
		{"https:///example.com/", "no host"},
		{"https://\\example.com/", "backslash"},
		{"https://example.com/a\\b", "backslash"},
		{"https://secret:pass@example.com/", "user name"},
		{"https://@example.com/", "user name"},
		{"https://user%40x@example.com/", "user name"},
		{"https://example.com:65536/", "port"},
		{"https://example.com:0/", "port"},
		{"https://example.com:+80/", "port"},
		{"https://[::1/", "IPv6"},
		{"https://[[::1]]/", "IPv6"},
		{"https://[::1]x/", "IPv6"},
		{"https://[1.2.3.4]/", "IPv6"},
		{"https://[fe80::1%25eth0]/", "IPv6"},
		{"https://1.2.3.4.5/", "IPv4"},
		{"https://8.8.8.0x-7/", ""}, // a sign makes no number, and no name that resolves: see below
		{"https://1..2/", "IPv4"},
		{"https://xn--a/", "domain"},
		{"https://xn--localhost-/", "domain"},
		{"https://exa%6dple.com%2f/", "character"},
		{"https://a b.example/", "character"},
		{"https://---.example/", "look like"},
	} {
		x, err := Parse(c.raw)
		if c.say == "" {
			if err == nil && x.host.addr.IsValid() {
				t.Errorf("Parse(%q) = %v, an address", c.raw, x)
			}
			continue
		}
		if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("Parse(%.60q) = %v, %v; want invalid with %q", c.raw, x, err, c.say)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || len(err.Error()) > 600) {
			t.Errorf("the message repeats what it must not: %v", err)
		}
	}
}

func TestLength(t *testing.T) {
	long := "https://example.com/" + strings.Repeat("字", MaxURL-20)
	if _, err := Parse(long); err != nil {
		t.Errorf("2,000 characters that are not ASCII: %v", err)
	}
	if _, err := Parse(long + "字"); !errors.Is(err, fault.Invalid) {
		t.Errorf("2,001 characters: %v", err)
	}
	if _, err := (Limits{MaxURL: 21}).Parse("https://example.com/ab"); !errors.Is(err, fault.Invalid) {
		t.Errorf("a limit of the caller does not hold: %v", err)
	}
}

func TestDeclaredNameNeedNotLookLikeADomain(t *testing.T) {
	l := Limits{Declared: func(host string, port int) bool { return host == "--.test" && port == 8080 }}
	if _, err := l.Parse("http://--.test:8080/"); err != nil {
		t.Error(err)
	}
	if _, err := l.Parse("http://--.test/"); !errors.Is(err, fault.Invalid) {
		t.Errorf("another port of a declared name: %v", err)
	}
}

func TestKey(t *testing.T) {
	same := [][]string{
		{"https://example.com/~a?x=%41#f", "https://EXAMPLE.com:443/%7ea?x=A", "https://example.com./%7Ea?x=%41#g"},
		{"https://example.com/a%2fb", "https://example.com/x/../a%2Fb"},
		{"https://example.com/?p=50%", "https://example.com/?p=50%25"},
		{"http://127.0.0.1/", "http://2130706433/", "http://0x7f.1:80"},
	}
	differ := []string{
		"https://example.com/a", "https://example.com/A", "https://example.com/a/", "https://example.com/a?x=1&y=2",
		"https://example.com/a?y=2&x=1", "https://example.com/a%2Fb", "https://example.com/a/b", "http://example.com/a",
		"https://example.com:8443/a", "https://www.example.com/a", "https://example.com/?%2541", "https://example.com/?%41",
	}
	for _, group := range same {
		for _, raw := range group[1:] {
			if a, b := must(t, group[0]).Key(), must(t, raw).Key(); a != b {
				t.Errorf("%q and %q have keys %q and %q", group[0], raw, a, b)
			}
		}
	}
	seen := map[string]string{}
	for _, raw := range differ {
		key := must(t, raw).Key()
		if other, ok := seen[key]; ok {
			t.Errorf("%q and %q share the key %q", raw, other, key)
		}
		seen[key] = raw
	}
}

func TestJoin(t *testing.T) {
	const base = "https://docs.example/a/b?q=1#top"
	for _, c := range []struct{ ref, want, fragment string }{
		{"/x", "https://docs.example/x", "top"},
		{"./x/", "https://docs.example/a/x/", "top"},
		{"x#s", "https://docs.example/a/x", "s"},
		{"../x", "https://docs.example/x", "top"},
		{"../../../x", "https://docs.example/x", "top"},
		{"?p=2", "https://docs.example/a/b?p=2", "top"},
		{"#only", "https://docs.example/a/b?q=1", "only"},
		{"//other.example/x", "https://other.example/x", "top"},
		{"https:x", "https://docs.example/a/x", "top"},
		{"http:x.example", "http://x.example/", "top"},
		{"HTTPS://Docs.Example./x", "https://docs.example/x", "top"},
		{"\t/x\r\n", "https://docs.example/x", "top"},
		{"ht\ntps://docs\t.example/x", "https://docs.example/x", "top"},
		{`\x\y`, "https://docs.example/x/y", "top"},
		{`\\other.example\x`, "https://other.example/x", "top"},
		{`https:\\127.0.0.1/`, "https://127.0.0.1/", "top"},
		{"/caf\xe9", "https://docs.example/caf%E9", "top"},
		{"/café", "https://docs.example/caf%C3%A9", "top"},
		{"https://例子.测试/ü", "https://xn--fsqu00a.xn--0zwm56d/%C3%BC", "top"},
		{"/%0d%0aX:1", "https://docs.example/%0d%0aX:1", "top"},
		{"/a%2F..%2Fb", "https://docs.example/a%2F..%2Fb", "top"},
		{"http://2130706433/", "http://127.0.0.1/", "top"},
		{"http://localhost:8080/", "http://localhost:8080/", "top"},
	} {
		x, err := must(t, base).Join(c.ref)
		if err != nil || x.String() != c.want || x.Fragment() != c.fragment {
			t.Errorf("Join(%q) = %q#%s, %v; want %q#%s", c.ref, x, x.Fragment(), err, c.want, c.fragment)
			continue
		}
		sound(t, x)
	}
}

func TestJoinRefuses(t *testing.T) {
	for _, ref := range []string{
		"", " \r\n", "file:///etc/passwd", "data:text/html,x", "javascript:1", "JaVa\tScript:1", "ftp://a.example/", "mailto:a@b",
		"http://user@127.0.0.1/", "//u:p@a.example/", "http://", "http:///", "//", "https://a.example:99999/", "https://[::1", "https://a b/",
		"https://exa\x00mple.com/", "/" + strings.Repeat("a", MaxURL),
	} {
		x, err := must(t, "https://docs.example/").Join(ref)
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.Refused || e.Cause != fault.Location {
			t.Errorf("Join(%.40q) = %v, %v; want refused/location", ref, x, err)
		}
	}
	if _, err := (Target{}).Join("/x"); !errors.Is(err, fault.Internal) {
		t.Errorf("a join on the zero Target: %v", err)
	}
}

func TestSecureAndTrimmed(t *testing.T) {
	for raw, want := range map[string]string{
		"http://a.example/x":      "https://a.example/x",
		"http://a.example:80/x":   "https://a.example/x",
		"http://a.example:8080/x": "https://a.example:8080/x",
		"http://a.example:443/x":  "https://a.example/x",
		"http://[::1]:3000/x?q":   "https://[::1]:3000/x?q",
		"https://a.example:80/x":  "https://a.example:80/x",
		"https://a.example/x":     "https://a.example/x",
	} {
		if got := must(t, raw).Secure().String(); got != want {
			t.Errorf("Secure(%q) = %q", raw, got)
		}
	}
	for raw, want := range map[string]string{
		"https://a.example/Model.kt.": "https://a.example/Model.kt",
		"https://a.example/x).":       "https://a.example/x",
		"https://a.example/x_(y)":     "",
		"https://a.example/x_(y)),":   "https://a.example/x_(y)",
		"https://a.example/x?q=a!":    "https://a.example/x?q=a",
		"https://a.example/x":         "",
		"https://a.example/":          "",
		"https://a.example/x?q=.":     "https://a.example/x?q=",
	} {
		got, ok := must(t, raw).Trimmed()
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("Trimmed(%q) = %q, %v", raw, got, ok)
		}
	}
}

func TestZeroTarget(t *testing.T) {
	var x Target
	if !x.IsZero() || x.String() != "" || x.Key() != "" || must(t, "https://a.example/").IsZero() {
		t.Errorf("the zero Target prints %q", x)
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("https://docs.example.org/guide/install?page=2#linux"); err != nil {
			b.Fatal(err)
		}
	}
}
