// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/internal/webtest"
)

// newSecure is a service behind TLS, and a file with the certificate of its issuer.
func newSecure(t *testing.T, answer func(*http.Request) string) (*service, string) {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewUnstartedServer(s.handler(answer))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that hang up are part of the tests
	s.StartTLS()
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "roots.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return s, file
}

// tunnels is a proxy that leads every tunnel to one address.
type tunnels struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newTunnels(t *testing.T, to string, status int) *tunnels {
	p := &tunnels{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		p.mu.Unlock()
		if status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
		there, err := net.Dial("tcp", to)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		here, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			there.Close()
			return
		}
		io.WriteString(here, "HTTP/1.1 200 Connected\r\n\r\n")
		go func() { io.Copy(there, here); there.Close() }()
		go func() { io.Copy(here, there); here.Close() }()
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *tunnels) requests() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.asked, ", ")
}

// TestModelBehindProxy: the way to a model is the configured one, and nothing
// else decides it; the process environment does not.
func TestModelBehindProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	model, roots := newSecure(t, func(*http.Request) string { return chat("Nine hours.") })
	at := model.Listener.Addr().String()
	tests := []struct {
		name   string
		proxy  func(url string) (network string, env []string)
		status int
		asked  string // of the proxy
		says   string // of the failure
	}{
		{"configured", func(u string) (string, []string) { return "proxy: " + u, nil }, 200, "CONNECT example.com:443 ", ""},
		{"with a login", func(u string) (string, []string) { return "proxy: " + strings.Replace(u, "://", "://me:pw@", 1), nil }, 200, "CONNECT example.com:443 Basic bWU6cHc=", ""},
		{"from the environment that was loaded", func(u string) (string, []string) { return "", []string{"https_proxy=" + u} }, 200, "CONNECT example.com:443 ", ""},
		{"that refuses", func(u string) (string, []string) { return "proxy: " + u, nil }, 407, "CONNECT example.com:443 ", "answered 407"},
		{"that is gone", func(string) (string, []string) { return "proxy: 127.0.0.1:1", nil }, 200, "", "the proxy does not answer"},
		{"excepted", func(u string) (string, []string) { return "proxy: " + u, []string{"NO_PROXY=example.com"} }, 200, "", "there is no such name"},
		{"off", func(u string) (string, []string) { return `proxy: "off"`, []string{"HTTPS_PROXY=" + u} }, 200, "", "there is no such name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newTunnels(t, at, tt.status)
			network, env := tt.proxy(p.URL)
			n := newNook(t)
			n.Env = append(n.Env, env...)
			n.user(fmt.Sprintf("network:\n  cacert: [%q]\n  %s\ncache: { store: mem }\nmodel: { provider: openai, name: m, baseURL: 'https://example.com' }\n", roots, network))
			a := n.open()
			if tt.asked == "" && tt.says == "there is no such name" {
				a.suppliers.DialContext = nowhere // example.com is a real name, and stays unasked
			}
			err := ask(t, a)
			if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
			if got := p.requests(); !strings.HasPrefix(got, tt.asked) || tt.asked == "" && got != "" {
				t.Errorf("the proxy was asked %q, want %q", got, tt.asked)
			}
		})
	}
}

// nowhere is a dialer of a machine without a network.
func nowhere(context.Context, string, string) (net.Conn, error) {
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

// ask asks the helper model.
func ask(t *testing.T, a *App) error {
	_, err := a.Helper().Complete(t.Context(), extract.Prompt{Text: "How long?", MaxTokens: 10})
	return err
}

// TestModelRoots: a model's certificate is trusted by network.cacert, and not without.
func TestModelRoots(t *testing.T) {
	model, roots := newSecure(t, func(*http.Request) string { return chat("Nine hours.") })
	for _, tt := range []struct{ network, says string }{{fmt.Sprintf("cacert: [%q]", roots), ""}, {"cacert: []", "network.cacert"}} {
		n := newNook(t)
		n.user(fmt.Sprintf("network: { %s }\ncache: { store: mem }\nmodel: { name: m, baseURL: %q }\n", tt.network, model.URL))
		err := ask(t, n.open())
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: got %v, want %q", tt.network, err, tt.says)
		}
	}
}

// TestSuppliersAreNotJudged: a model on loopback needs no network.allow, and no
// other port than its own.
func TestSuppliersAreNotJudged(t *testing.T) {
	model := newService(t, func(*http.Request) string { return chat("Nine hours.") })
	n := newNook(t)
	n.user(fmt.Sprintf("model: { name: m, baseURL: %q }\n", model.URL))
	a := n.open()
	if err := ask(t, a); err != nil {
		t.Error(err)
	}
	wantFault(t, a, dipper.Request{URL: model.URL}, "unsafe/address")
}

// TestPagesGoTheSameWay: proxy and roots of the configuration hold for pages too.
func TestPagesGoTheSameWay(t *testing.T) {
	site, roots := newSecure(t, func(*http.Request) string { return `{"lamp":"nine hours"}` })
	p := newTunnels(t, site.Listener.Addr().String(), http.StatusOK)
	n := newNook(t)
	n.user(fmt.Sprintf("network: { cacert: [%q], proxy: %q, allow: ['127.0.0.0/8'], resolve: { 'www.example.com:443': 127.0.0.1 } }\npreflight: { robots: ignore }\n", roots, p.URL))
	if ans := fetch(t, n.open(), dipper.Request{URL: "https://www.example.com/lamps"}); !strings.Contains(ans.Result, "nine hours") || !strings.HasPrefix(p.requests(), "CONNECT www.example.com:443") {
		t.Errorf("%q by %s", ans.Result, p.requests())
	}
}

func TestProxies(t *testing.T) {
	tests := []struct {
		name, proxy string
		env         []string
		want        proxies
	}{
		{"none", "", nil, proxies{}},
		{"exceptions alone", "", []string{"NO_PROXY=a.example"}, proxies{}},
		{"the environment", "", []string{"HTTP_PROXY=http://p:1", "https_proxy=http://q:2", "no_proxy=a.example"}, proxies{"http://p:1", "http://q:2", "a.example"}},
		{"a setting over it", "http://own:3", []string{"HTTP_PROXY=http://p:1", "NO_PROXY=a.example"}, proxies{"http://own:3", "http://own:3", "a.example"}},
		{"off over it", "off", []string{"HTTP_PROXY=http://p:1", "NO_PROXY=a.example"}, proxies{}},
		{"ALL_PROXY is not read", "", []string{"ALL_PROXY=http://p:1", "all_proxy=http://p:1"}, proxies{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNook(t)
			n.Env = append(n.Env, tt.env...)
			n.user(fmt.Sprintf("network: { proxy: %q }\n", tt.proxy))
			if got := n.load().proxies(); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestScope: the digest changes with each of its parts, and with nothing else.
func TestScope(t *testing.T) {
	_, roots := newSecure(t, nil)
	text, err := os.ReadFile(roots)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.pem")
	longer := filepath.Join(t.TempDir(), "longer.pem")
	if os.WriteFile(copied, text, 0o600) != nil || os.WriteFile(longer, append(text, text...), 0o600) != nil {
		t.Fatal("the certificates could not be written")
	}
	scope := func(network string, env ...string) string {
		t.Helper()
		n := newNook(t)
		n.Env = append(n.Env, env...)
		n.user("network: { " + network + " }\ncache: { store: mem }\n")
		return n.open().scope()
	}
	plain := scope("")
	differ := map[string]string{
		"resolve":       scope("resolve: { 'a.example:443': 10.0.0.1 }"),
		"its address":   scope("resolve: { 'a.example:443': 10.0.0.2 }"),
		"its port":      scope("resolve: { 'a.example:443': '10.0.0.1:444' }"),
		"its name":      scope("resolve: { 'b.example:443': 10.0.0.1 }"),
		"cacert":        scope("cacert: ['" + roots + "']"),
		"its content":   scope("cacert: ['" + longer + "']"),
		"a second file": scope("cacert: ['" + roots + "', '" + longer + "']"),
		"proxy":         scope("proxy: 'http://me:pw@proxy.example:3128'"),
		"its user":      scope("proxy: 'http://you:pw@proxy.example:3128'"),
		"its port too":  scope("proxy: 'http://me:pw@proxy.example:3129'"),
		"one scheme's":  scope("", "HTTPS_PROXY=http://proxy.example:3128"),
		"the other's":   scope("", "HTTP_PROXY=http://proxy.example:3128"),
		"exceptions":    scope("", "HTTP_PROXY=http://proxy.example:3128", "NO_PROXY=a.example"),
		"user agent":    scope("userAgent: Other/1.0"),
		"nothing":       plain,
	}
	by := map[string]string{}
	for name, s := range differ {
		if other, taken := by[s]; taken {
			t.Errorf("%s and %s have one scope", name, other)
		}
		by[s] = name
	}
	same := map[string][2]string{
		"the name of a file":     {scope("cacert: ['" + copied + "']"), differ["cacert"]},
		"the order of files":     {scope("cacert: ['" + longer + "', '" + roots + "']"), differ["a second file"]},
		"a file named twice":     {scope("cacert: ['" + roots + "', '" + copied + "']"), differ["cacert"]},
		"the password":           {scope("proxy: 'http://me:other@proxy.example:3128'"), differ["proxy"]},
		"no scheme":              {scope("", "HTTP_PROXY=proxy.example:3128"), differ["the other's"]},
		"a proxy that is off":    {scope("proxy: 'off'", "HTTPS_PROXY=http://proxy.example:3128"), plain},
		"exceptions from nobody": {scope("", "NO_PROXY=a.example"), plain},
		"the order of names": {scope("resolve: { 'b.example:443': 10.0.0.1, 'a.example:443': 10.0.0.1 }"),
			scope("resolve: { 'a.example:443': 10.0.0.1, 'b.example:443': 10.0.0.1 }")},
		"allowed ranges": {scope("allow: ['10.0.0.0/8']"), plain},
	}
	for name, pair := range same {
		if pair[0] != pair[1] {
			t.Errorf("%s changes the scope", name)
		}
	}
}

// TestScopeDividesTheLibrary: what was read as one user agent is not another's.
func TestScopeDividesTheLibrary(t *testing.T) {
	w := webtest.NewWeb(t)
	page(t, w, "http://docs.example.org/lamps", article)
	n := newNook(t).reach(w)
	for i, tt := range []struct{ agent, source string }{{"One/1", "network"}, {"One/1", "cache"}, {"Two/1", "network"}, {"One/1", "cache"}} {
		n.user("network: { userAgent: " + tt.agent + " }\n")
		if ans := fetch(t, n.open(), dipper.Request{URL: "http://docs.example.org/lamps"}); ans.Source != tt.source {
			t.Errorf("%d, as %s: from the %s, want %s", i, tt.agent, ans.Source, tt.source)
		}
	}
}
