// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package permit

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/fault"
)

func trusted(t testing.TB, add, remove []string, builtin bool) *Trusted {
	t.Helper()
	tr, err := NewTrusted(add, remove, builtin)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestBuiltinList(t *testing.T) {
	list := trusted(t, nil, nil, true).List()
	if len(list) < 80 || len(list) > 110 {
		t.Errorf("%d entries", len(list))
	}
	seen := map[string]bool{}
	for _, e := range list {
		if seen[e.String()] {
			t.Errorf("%s stands there twice", e)
		}
		seen[e.String()] = true
		if e.Reason == "" || e.Tier != Docs && e.Tier != Open {
			t.Errorf("%+v", e)
		}
		if e.Path == "" && (e.Host == "github.com" || e.Host == "vercel.com" || e.Host == "huggingface.co") {
			t.Errorf("%s is trusted as a whole", e.Host)
		}
	}
	for _, want := range strings.Fields(`docs.python.org developer.mozilla.org kubernetes.io docs.aws.amazon.com react.dev modelcontextprotocol.io
		platform.claude.com code.claude.com platform.anthropic.com learn.microsoft.com developer.apple.com en.cppreference.com docs.oracle.com
		git-scm.com pkg.go.dev docs.rs huggingface.co/docs docs.netlify.com devcenter.heroku.com github.com/anthropics vercel.com/docs`) {
		if !seen[want] {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestTrustOfBuiltinPlaces(t *testing.T) {
	tr := trusted(t, nil, nil, true)
	for _, c := range []struct{ url, want string }{
		{"https://docs.python.org/3/library/json.html", Docs},
		{"https://DOCS.PYTHON.ORG./3/", Docs},
		{"https://vercel.com/docs", Docs},
		{"https://vercel.com/docs/", Docs},
		{"https://vercel.com/docs/functions?x=1#y", Docs},
		{"https://vercel.com/%64ocs/functions", Docs},
		{"https://vercel.com/blog/../docs/x", Docs},
		{"https://github.com/anthropics", Docs},
		{"https://github.com/anthropics/claude-code/issues/1", Docs},
		{"https://huggingface.co/docs/transformers", Docs},
		{"https://pkg.go.dev/net/http", Open},
		{"https://docs.rs/serde", Open},
		{"https://en.cppreference.com/w/cpp", Open},
		{"https://learn.microsoft.com/en-us/dotnet/", Docs},
		{"https://learn.microsoft.com/en-us/answers/questions/1", Open},
		{"https://learn.microsoft.com/answers/x", Docs}, // the place for strangers lies below a language
		{"https://developer.apple.com/documentation/", Docs},
		{"https://developer.apple.com/forums/thread/1", Open},

		{"https://docs.python.org.evil.example/", ""},
		{"https://evildocs.python.org/", ""},
		{"https://sub.docs.python.org/", ""},
		{"https://python.org/", ""},
		{"https://evil.example/docs.python.org/", ""},
		{"https://evil.example/?u=https://docs.python.org/", ""},
		{"https://docs-python.org/", ""},
		{"https://github.com/", ""},
		{"https://github.com/anthropics-evil/x", ""},
		{"https://github.com/anthropicsx", ""},
		{"https://github.com/evil/anthropics", ""},
		{"https://github.com//anthropics", ""},
		{"https://github.com/anthropics/../evil/x", ""},
		{"https://github.com/anthropics/%2e%2e/evil/x", ""},
		{"https://github.com/anthropics/..%2fevil/x", ""},
		{"https://github.com/anthropics%2f..%2fevil/x", ""},
		{"https://github.com/anthropics/x%2F..%2F..%2Fevil", ""},
		{"https://github.com/anthropics/..%5cevil", ""},
		{"https://github.com/anthropics/%252e%252e/evil", ""},
		{"https://github.com/anthropics/..;/evil", ""},
		{"https://github.com/anthropics/%2e%2e;x=1/evil", ""},
		{"https://github.com/anthropics//evil", ""},
		{"https://github.com/anthropics%00/evil", ""},
		{"https://www.github.com/anthropics/x", ""},
		{"https://gist.github.com/anthropics/x", ""},
		{"https://huggingface.co/evil/model", ""},
		{"https://huggingface.co/", ""},
		{"https://vercel.com/", ""},
		{"https://vercel.com/DOCS/x", ""},
	} {
		if got := book(t, Options{Trusted: tr}).Trust(target(t, c.url)); got != c.want {
			t.Errorf("%s: %q, want %q", c.url, got, c.want)
		}
	}
}

// A deny or ask rule beats every built-in entry, whatever its form.
func TestRulesBeatEveryBuiltinEntry(t *testing.T) {
	tr := trusted(t, nil, nil, true)
	for _, e := range tr.List() {
		u := target(t, "https://"+strings.ReplaceAll(e.Host+e.Path, "*", "en")+"/page")
		if tier := book(t, Options{Trusted: tr}).Trust(u); tier != e.Tier {
			t.Errorf("%s: tier %q of %s", u, tier, e)
		}
		if _, err := book(t, Options{Trusted: tr, Default: "deny"}).Judge(t.Context(), Request{Target: u, By: Agent}); err != nil {
			t.Errorf("%s is not let through: %v", e, err)
		}
		for _, rule := range []string{"domain:" + e.Host, "WebFetch(domain:" + e.Host + ")", "https://" + e.Host + "/", "WebFetch", "domain:*"} {
			o := Options{Trusted: tr, Default: "allow", Allow: sourced(t, "WebFetch"), Deny: sourced(t, rule)}
			if _, err := book(t, o).Judge(t.Context(), Request{Target: u, By: Person, Yes: true}); name(err) != "denied/rule" {
				t.Errorf("deny %s, %s: %v", rule, u, err)
			}
			o.Deny, o.Ask = nil, sourced(t, rule)
			if _, err := book(t, o).Judge(t.Context(), Request{Target: u, By: Person}); name(err) != "unasked/rule" {
				t.Errorf("ask %s, %s: %v", rule, u, err)
			}
		}
	}
}

func TestTrustedAddAndRemove(t *testing.T) {
	for _, c := range []struct {
		name        string
		add, remove []string
		url, want   string
	}{
		{"host", []string{"docs.example.org"}, nil, "https://docs.example.org/x", Docs},
		{"host, any port", []string{"docs.example.org"}, nil, "https://docs.example.org:8443/x", Docs},
		{"host in capitals", []string{"Docs.Example.ORG."}, nil, "https://docs.example.org/x", Docs},
		{"host does not cover names below", []string{"example.org"}, nil, "https://docs.example.org/", ""},
		{"tier", []string{"wiki.example.org open"}, nil, "https://wiki.example.org/x", Open},
		{"tier said", []string{"docs.example.org docs"}, nil, "https://docs.example.org/x", Docs},
		{"path", []string{"example.org/manual"}, nil, "https://example.org/manual/x", Docs},
		{"path itself", []string{"example.org/manual/"}, nil, "https://example.org/manual", Docs},
		{"path border", []string{"example.org/manual"}, nil, "https://example.org/manuals", ""},
		{"path with a star", []string{"example.org/*/manual"}, nil, "https://example.org/de/manual/x", Docs},
		{"a star is one segment", []string{"example.org/*/manual"}, nil, "https://example.org/de/at/manual/x", ""},
		{"names below", []string{"*.example.org"}, nil, "https://a.b.example.org/", Docs},
		{"names below, not the host", []string{"*.example.org"}, nil, "https://example.org/", ""},
		{"names below, border", []string{"*.example.org"}, nil, "https://evilexample.org/", ""},
		{"port", []string{"docs.example.org:8443"}, nil, "https://docs.example.org:8443/", Docs},
		{"another port", []string{"docs.example.org:8443"}, nil, "https://docs.example.org/", ""},
		{"IPv4", []string{"127.0.0.1"}, nil, "http://127.0.0.1:43210/x", Docs},
		{"IPv4, port", []string{"127.0.0.1:43210"}, nil, "http://127.0.0.1:43210/x", Docs},
		{"IPv4, another port", []string{"127.0.0.1:43211"}, nil, "http://127.0.0.1:43210/x", ""},
		{"IPv4, another spelling", []string{"127.0.0.1"}, nil, "http://127.0.0.2/", ""},
		{"IPv6", []string{"[::1]"}, nil, "http://[::1]:8080/", Docs},
		{"IPv6, port", []string{"[::1]:8080"}, nil, "http://[::1]:8080/", Docs},
		{"IPv6, another port", []string{"[::1]:8081"}, nil, "http://[::1]:8080/", ""},
		{"localhost", []string{"localhost"}, nil, "http://localhost:8080/", Docs},
		{"international name", []string{"bücher.example"}, nil, "https://xn--bcher-kva.example/", Docs},
		{"the longer path speaks", []string{"example.org", "example.org/talk open"}, nil, "https://example.org/talk/x", Open},
		{"the longer path speaks, whatever the order", []string{"example.org/talk open", "example.org"}, nil, "https://example.org/talk/x", Open},
		{"open speaks between equals", []string{"example.org open", "example.org docs"}, nil, "https://example.org/", Open},

		{"remove a built-in host", nil, []string{"docs.python.org"}, "https://docs.python.org/3/", ""},
		{"remove another", nil, []string{"peps.python.org"}, "https://docs.python.org/3/", Docs},
		{"remove a built-in path", nil, []string{"github.com/anthropics"}, "https://github.com/anthropics/x", ""},
		{"remove all paths of a host", nil, []string{"github.com"}, "https://github.com/anthropics/x", ""},
		{"remove a part of a host", nil, []string{"kubernetes.io/blog"}, "https://kubernetes.io/blog/x", ""},
		{"remove a part of a host, the rest stays", nil, []string{"kubernetes.io/blog"}, "https://kubernetes.io/docs/blog", Docs},
		{"remove a part, coded", nil, []string{"kubernetes.io/blog"}, "https://kubernetes.io/%62log/x", ""},
		{"remove a part, hidden behind a coded slash", nil, []string{"kubernetes.io/blog"}, "https://kubernetes.io/docs%2f..%2fblog/x", ""},
		{"remove all below a name", nil, []string{"*.python.org"}, "https://docs.python.org/3/", ""},
		{"remove beats add", []string{"docs.example.org"}, []string{"docs.example.org"}, "https://docs.example.org/", ""},
		{"remove what was never there", nil, []string{"nowhere.example"}, "https://docs.python.org/", Docs},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := trusted(t, c.add, c.remove, true)
			if e, found := tr.Match(target(t, c.url)); e.Tier != c.want || found != (c.want != "") {
				t.Errorf("%s: %+v, want %q", c.url, e, c.want)
			}
		})
	}
}

func TestTrustedList(t *testing.T) {
	tr := trusted(t, []string{"docs.example.org", "a.example.org/manual open"}, []string{"git-scm.com", "*.python.org", "github.com", "kubernetes.io/blog"}, true)
	var places []string
	for _, e := range tr.List() {
		places = append(places, e.String())
	}
	for _, gone := range []string{"git-scm.com", "docs.python.org", "peps.python.org", "github.com/anthropics"} {
		if slices.Contains(places, gone) {
			t.Errorf("%s is still listed", gone)
		}
	}
	for _, there := range []string{"docs.example.org", "a.example.org/manual", "kubernetes.io"} {
		if !slices.Contains(places, there) {
			t.Errorf("%s is not listed", there)
		}
	}
	if got := trusted(t, []string{"docs.example.org"}, nil, false).List(); len(got) != 1 || got[0].From != "trusted.add" {
		t.Errorf("without the built-in list: %+v", got)
	}
	var none *Trusted
	if _, found := none.Match(target(t, page)); found || none.List() != nil {
		t.Error("a nil list is not empty")
	}
}

func TestTrustedRefusesWhatIsNoPlace(t *testing.T) {
	for _, s := range []string{"", " ", "*", "*.", "ex*mple.org", "https://example.org/", "example.org/a/../b%2fc", "/manual", "user@example.org",
		"example.org?x", "example.org#x", "example.org doc", "example.org docs more", "example.org:port", "a.example b.example"} {
		if _, err := NewTrusted([]string{s}, nil, false); !errors.Is(err, fault.Invalid) {
			t.Errorf("add %q: %v", s, err)
		}
		if _, err := NewTrusted(nil, []string{s}, false); !errors.Is(err, fault.Invalid) {
			t.Errorf("remove %q: %v", s, err)
		}
	}
}
