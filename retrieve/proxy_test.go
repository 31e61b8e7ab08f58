// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/dipper-web/dipper/internal/guard"
)

// relay is a proxy that notes what it is asked. It answers plain requests itself and
// leads every tunnel to one place.
type relay struct {
	*tcp
	mu    sync.Mutex
	lines []string
}

func newRelay(t testing.TB, to, refusal string) *relay {
	t.Helper()
	r := &relay{}
	r.tcp = listen(t, func(s *tcp, c net.Conn, _ int) {
		br := bufio.NewReader(c)
		head := s.head(br)
		line, _, _ := strings.Cut(head, "\r\n")
		r.mu.Lock()
		r.lines = append(r.lines, line)
		r.mu.Unlock()
		switch {
		case refusal != "":
			s.put(c, refusal)
		case strings.HasPrefix(line, "CONNECT "):
			tunnel(s, c, br, to)
		default:
			s.put(c, page("200 OK", "by proxy"))
		}
	})
	return r
}

func tunnel(s *tcp, c net.Conn, br *bufio.Reader, to string) {
	far, err := net.Dial("tcp", to)
	if err != nil {
		s.put(c, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
		return
	}
	defer far.Close()
	s.put(c, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(far, br); far.Close() }()
	_, _ = io.Copy(c, far)
}

func (r *relay) asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.lines...)
}

// always names one proxy for every URL.
func always(t testing.TB, raw string) ProxyFunc {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return func(*url.URL) (*url.URL, error) { return u, nil }
}

func TestProxy(t *testing.T) {
	a := newAuthority(t)
	far := listen(t, secure(a.config(t, tomorrow(), "public.example"), answerAll(page("200 OK", "by tunnel"))))
	g := newGuard(t, guard.Options{Allow: []netip.Prefix{}, Resolver: names{"public.example": {"93.184.215.14"}, "inside.example": {"10.0.0.1"}, "mixed.example": {"93.184.215.14", "10.0.0.1"}}})
	for _, row := range []struct {
		name, mode, url string
		resolves        bool
		body, line      string
		fails           string
	}{
		{"http as written", "never", "http://public.example/p?q=1", false, "by proxy", "GET http://public.example/p?q=1 HTTP/1.1", ""},
		{"https", "auto", "https://public.example/p", false, "by tunnel", "CONNECT public.example:443 HTTP/1.1", ""},
		{"http upgraded", "auto", "http://public.example/p", false, "by tunnel", "CONNECT public.example:443 HTTP/1.1", ""},
		{"a private address", "never", "http://10.0.0.1/", false, "", "", "unsafe/address"},
		{"metadata", "auto", "http://169.254.169.254/", true, "", "", "unsafe/address"},
		{"a name that leads inside", "auto", "https://inside.example/", false, "", "", "unsafe/address"},
		{"a name that leads inside, with proxyResolves", "auto", "https://inside.example/", true, "", "", "unsafe/address"},
		{"a name with one bad answer", "auto", "https://mixed.example/", true, "", "", "unsafe/address"},
		{"a name that does not resolve", "never", "http://far.example/", false, "", "", "unsafe/name"},
		{"a name that only the proxy knows", "never", "http://far.example/", true, "by proxy", "GET http://far.example/ HTTP/1.1", ""},
		{"a closed port", "never", "http://public.example:22/", true, "", "", "unsafe/port"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRelay(t, far.Addr().String(), "")
			h := newHTTP(t, Options{Guard: g, Proxy: always(t, r.url), ProxyResolves: row.resolves, Upgrade: row.mode, Roots: a.pool()})
			p, err := get(t, h, row.url)
			want(t, err, row.fails)
			if string(p.Body) != row.body || strings.Join(r.asked(), "|") != row.line {
				t.Errorf("body %q, the proxy was asked %q", p.Body, r.asked())
			}
			if err == nil && strings.Contains(row.url, "public") && p.Addr != netip.MustParseAddr("93.184.215.14") {
				t.Errorf("address %v", p.Addr)
			}
			if err == nil && strings.Contains(row.url, "far") && p.Addr.IsValid() {
				t.Errorf("address %v", p.Addr)
			}
		})
	}
}

func TestProxyFails(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	g := newGuard(t, guard.Options{Resolver: names{"public.example": {"93.184.215.14"}}})
	for _, row := range []struct {
		name, refusal, url string
		says               string
	}{
		{"forbidden", "HTTP/1.1 403 Forbidden\r\n\r\n", "https://public.example/", "403"},
		{"wants a login", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "https://public.example/", "407"},
		{"wants a login for http", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "http://public.example/", "407"},
		{"no HTTP", "SSH-2.0-x\r\n", "https://public.example/", "no usable answer"},
		{"speaks before us", "HTTP/1.1 200 OK\r\n\r\nhello", "https://public.example/", "no usable answer"},
		{"not there", "", "https://public.example/", "cannot be reached"},
		{"not there for http", "", "http://public.example/", "cannot be reached"},
	} {
		t.Run(row.name, func(t *testing.T) {
			at := "http://" + gone.Addr().String()
			if row.refusal != "" {
				at = newRelay(t, "", row.refusal).url
			}
			_, err := get(t, newHTTP(t, Options{Guard: g, Proxy: always(t, at), Upgrade: UpgradeNever}), row.url)
			want(t, err, "unreachable/proxy")
			if !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v does not say %q", err, row.says)
			}
		})
	}
}

// A proxy is spoken to in HTTP/1, whatever else it offers, over TLS of its own.
func TestProxyOverTLS(t *testing.T) {
	a := newAuthority(t)
	far := listen(t, secure(a.config(t, tomorrow(), "public.example"), answerAll(page("200 OK", "by tunnel"))))
	c := a.config(t, tomorrow(), "127.0.0.1")
	c.NextProtos = []string{"h2", "http/1.1"}
	s := listen(t, secure(c, func(s *tcp, c net.Conn, _ int) {
		br := bufio.NewReader(c)
		if strings.HasPrefix(s.head(br), "CONNECT ") {
			tunnel(s, c, br, far.Addr().String())
			return
		}
		s.put(c, page("200 OK", "by proxy"))
	}))
	g := newGuard(t, guard.Options{Resolver: names{"public.example": {"93.184.215.14"}}})
	h := newHTTP(t, Options{Guard: g, Proxy: always(t, "https://"+s.Addr().String()), Upgrade: UpgradeNever, Roots: a.pool()})
	for to, body := range map[string]string{"http://public.example/": "by proxy", "https://public.example/": "by tunnel"} {
		p, err := get(t, h, to)
		want(t, err, "")
		if string(p.Body) != body {
			t.Errorf("%s: body %q", to, p.Body)
		}
	}
	h.Close()
	h = newHTTP(t, Options{Guard: g, Proxy: always(t, "https://"+s.Addr().String()), Upgrade: UpgradeNever, Roots: newAuthority(t).pool()})
	_, err := get(t, h, "https://public.example/")
	want(t, err, "unreachable/proxy")
}

// A redirect to a name that only the proxy may know is reported like any other.
func TestMovedBehindAProxy(t *testing.T) {
	g := newGuard(t, guard.Options{Resolver: names{"public.example": {"93.184.215.14"}, "inside.example": {"10.0.0.1"}}})
	for to, fails := range map[string]string{"http://far.example/": "", "http://inside.example/": "unsafe/address"} {
		r := newRelay(t, "", "HTTP/1.1 302 Found\r\nLocation: "+to+"\r\nContent-Length: 0\r\n\r\n")
		p, err := get(t, newHTTP(t, Options{Guard: g, Proxy: always(t, r.url), Upgrade: UpgradeNever}), "http://public.example/")
		want(t, err, fails)
		if fails == "" && (p.Moved == nil || p.Moved.To != to) {
			t.Errorf("moved %+v", p.Moved)
		}
	}
}

func TestSilentProxy(t *testing.T) {
	s := listen(t, func(_ *tcp, c net.Conn, _ int) { silent(c) })
	g := newGuard(t, guard.Options{Resolver: names{"public.example": {"93.184.215.14"}}})
	_, err := get(t, newHTTP(t, Options{Guard: g, Proxy: always(t, s.url), Timeouts: quick}), "https://public.example/")
	want(t, err, "timeout/connect")
}

func TestProxyLogin(t *testing.T) {
	g := newGuard(t, guard.Options{Resolver: names{"public.example": {"93.184.215.14"}}})
	login := "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("ann:s3cret"))
	for _, to := range []string{"http://public.example/", "https://public.example/"} {
		r := newRelay(t, "127.0.0.1:1", "")
		at := strings.Replace(r.url, "://", "://ann:s3cret@", 1)
		_, err := get(t, newHTTP(t, Options{Guard: g, Proxy: always(t, at), Upgrade: UpgradeNever}), to)
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the password is repeated: %v", err)
		}
		if heads := r.requests(); len(heads) != 1 || !strings.Contains(heads[0], login) {
			t.Errorf("%s: sent %q", to, heads)
		}
	}
}

func TestSOCKS(t *testing.T) {
	far := listen(t, answerAll(page("200 OK", "by socks")))
	s := listen(t, func(s *tcp, c net.Conn, _ int) {
		b := make([]byte, 256)
		_, _ = io.ReadFull(c, b[:3]) // version, one method, none
		_, _ = c.Write([]byte{5, 0})
		_, _ = io.ReadFull(c, b[:5]) // version, connect, 0, name, length
		_, _ = io.ReadFull(c, b[5:5+int(b[4])+2])
		s.mu.Lock()
		s.heads = append(s.heads, string(b[5:5+b[4]]))
		s.mu.Unlock()
		_, _ = c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
		conn, err := net.Dial("tcp", far.Addr().String())
		if err != nil {
			return
		}
		defer conn.Close()
		go func() { _, _ = io.Copy(conn, c); conn.Close() }()
		_, _ = io.Copy(c, conn)
	})
	g := newGuard(t, guard.Options{Resolver: names{"public.example": {"93.184.215.14"}}})
	h := newHTTP(t, Options{Guard: g, Proxy: always(t, "socks5://"+s.Addr().String()), Upgrade: UpgradeNever})
	p, err := get(t, h, "http://public.example/")
	want(t, err, "")
	if string(p.Body) != "by socks" || s.requests()[0] != "public.example" {
		t.Errorf("body %q, asked %q", p.Body, s.requests())
	}
	h.Close()
}

func TestNewProxy(t *testing.T) {
	for _, row := range []struct {
		explicit, http, https, no string
		url, want                 string // want "" is none
	}{
		{"", "", "", "", "http://a.example/", ""},
		{"", "http://p:1", "", "", "http://a.example/", "http://p:1"},
		{"", "http://p:1", "", "", "https://a.example/", ""},
		{"", "", "p:2", "", "https://a.example/", "http://p:2"},
		{"", "http://p:1", "http://p:2", "a.example", "https://a.example/", ""},
		{"", "http://p:1", "http://p:2", ".example", "https://a.example/", ""},
		{"http://q:3", "http://p:1", "", "", "https://a.example/", "http://q:3"},
		{"http://q:3", "", "", "a.example", "http://a.example/", ""},
		{"socks5://q:3", "", "", "", "http://a.example/", "socks5://q:3"},
		{"off", "http://p:1", "http://p:2", "", "http://a.example/", ""},
		{"http://q:3", "", "", "", "http://127.0.0.1:8080/", "http://q:3"}, // who names a proxy means it
		{"http://q:3", "", "", "", "https://localhost/", "http://q:3"},
		{"http://q:3", "", "", "a.example, localhost", "https://localhost/", ""},
		{"http://q:3", "", "", "*", "http://[::1]/", ""},
		{"http://q:3", "", "", "127.0.0.0/8", "http://127.0.0.1:8080/", ""},
		{"http://q:3", "", "", "10.0.0.0/8, 127.0.0.2", "http://127.0.0.1:8080/", "http://q:3"},
		{"http://q:3", "", "", "127.0.0.1:8080", "http://127.0.0.1:8080/", ""},
		{"http://q:3", "", "", "127.0.0.1:8080", "http://127.0.0.1/", "http://q:3"},
		{"http://q:3", "", "", "LOCALHOST:443", "https://localhost/", ""},
		{"http://q:3", "", "", "[::1]:80,::2", "http://[::1]/", ""},
		{"http://q:3", "", "", "::1", "http://[::1]:3000/", ""},
		{"http://q:3", "", "", ".localhost", "http://localhost/", "http://q:3"},
		{"", "http://p:1", "", "", "http://127.0.0.1:8080/", ""}, // the environment's is for elsewhere
	} {
		f, err := NewProxy(row.explicit, row.http, row.https, row.no)
		want(t, err, "")
		got := ""
		if f != nil {
			to, _ := url.Parse(row.url)
			u, err := f(to)
			want(t, err, "")
			if u != nil {
				got = u.String()
			}
		}
		if got != row.want {
			t.Errorf("%+v: %q", row, got)
		}
	}
	for _, bad := range []string{"ftp://p:1", "http://", "http://user:s3cret@p:x"} {
		_, err := NewProxy(bad, "", "", "")
		want(t, err, "invalid")
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the password is repeated: %v", err)
		}
	}
}

// Waiting connections of one proxy are not used without it.
func TestProxyHasItsOwnConnections(t *testing.T) {
	a, b := place{target: target(t, "http://a.example/")}, place{target: target(t, "http://a.example/")}
	b.proxy = &url.URL{Scheme: "http", Host: "p:1"}
	if routeKey(a) == routeKey(b) {
		t.Error("one key for both")
	}
}

func ExampleNewProxy() {
	proxy, err := NewProxy("", "http://proxy.example:3128", "http://proxy.example:3128", "intern.example")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, to := range []string{"https://docs.example.org/", "https://wiki.intern.example/"} {
		req, _ := http.NewRequest(http.MethodGet, to, nil)
		u, _ := proxy(req.URL)
		fmt.Println(u)
	}
	// Output:
	// http://proxy.example:3128
	// <nil>
}
