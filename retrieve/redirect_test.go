// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
)

// web serves h on loopback under the name site.example, port 80, and whatever other
// names are given. Nothing is upgraded: the names lead into a private range.
func web(t testing.TB, h http.Handler, more map[string]string, o Options) *HTTP {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	declared := map[string]string{}
	for _, name := range []string{"site.example:80", "www.site.example:80", "other.example:80"} {
		declared[name] = s.Listener.Addr().String()
	}
	for name, to := range more {
		declared[name] = to
	}
	o.Guard = newGuard(t, guard.Options{Resolve: declared, Resolver: names{
		"inside.example": {"10.1.2.3"}, "mixed.example": {"93.184.215.14", "127.0.0.1"}, "outside.example": {"93.184.215.14"}, "meta.example": {"169.254.169.254"},
	}})
	return newHTTP(t, o)
}

func TestFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{"/next", "next", "./next", "//site.example/next", "http://site.example/next", "http://www.site.example:80/next", "HTTP://SITE.EXAMPLE/next", "/next#part"} {
			t.Run(fmt.Sprintf("%d %s", status, to), func(t *testing.T) {
				mux := http.NewServeMux()
				mux.HandleFunc("/p", moving(status, to))
				mux.HandleFunc("/next", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "here") })
				p, err := get(t, web(t, mux, nil, Options{}), "http://site.example/p")
				want(t, err, "")
				if string(p.Body) != "here" || p.Moved != nil || p.Final.Path() != "/next" || len(p.Hops) != 1 || p.Hops[0] != p.Final.String() {
					t.Errorf("body %q moved %v final %v hops %q", p.Body, p.Moved, p.Final, p.Hops)
				}
			})
		}
	}
}

func TestNotFollowed(t *testing.T) {
	for _, row := range []struct{ name, to, moved, fails string }{
		{"another host", "http://outside.example/landing?x=1&y=2", "http://outside.example/landing?x=1&y=2", ""},
		{"a name that does not exist", "http://nobody.example/x", "http://nobody.example/x", ""},
		{"a subdomain", "http://docs.site.example/", "http://docs.site.example/", ""},
		{"another port of an allowed range", "http://127.0.0.1:1/x", "http://127.0.0.1:1/x", ""},
		{"a private address", "http://10.0.0.1/", "", "unsafe/address"},
		{"metadata", "http://169.254.169.254/latest/meta-data/", "", "unsafe/address"},
		{"metadata inside IPv6", "http://[::ffff:a9fe:a9fe]/", "", "unsafe/address"},
		{"a name for a private address", "http://inside.example/", "", "unsafe/address"},
		{"a name for metadata", "https://meta.example/", "", "unsafe/address"},
		{"a closed port", "http://outside.example:22/", "", "unsafe/port"},
		{"a closed port of the same host", "http://site.example:22/", "", ""},
		{"a file", "file:///etc/passwd", "", "refused/location"},
		{"data", "data:text/html,x", "", "refused/location"},
		{"a script", "javascript:1", "", "refused/location"},
		{"no host", "http://", "", "refused/location"},
		{"nothing", "", "", "refused/location"},
		{"too long", "/" + strings.Repeat("x", 3000), "", "refused/location"},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := web(t, moving(302, row.to), nil, Options{})
			p, err := get(t, h, "http://site.example/p")
			if row.moved == "" && row.fails == "" {
				if p.Moved == nil && !errors.Is(err, fault.Unsafe) { // by the ports of the machine's ranges
					t.Errorf("page %v, err %v", p.Moved, err)
				}
				return
			}
			want(t, err, row.fails)
			if row.moved != "" && (p.Moved == nil || *p.Moved != Moved{"http://site.example/p", row.moved, 302}) {
				t.Errorf("moved %+v", p.Moved)
			}
		})
	}
}

func TestLocationHeaders(t *testing.T) {
	for _, row := range []struct{ name, headers, fails string }{
		{"missing", "", "refused/location"},
		{"two different", "Location: /a\r\nLocation: /b\r\n", "refused/location"},
		{"the same twice", "Location: /next\r\nLocation: /next\r\n", ""},
		{"bytes that are no text", "Location: /gr\xfc\xdfe\r\n", ""},
		{"text beyond ASCII", "Location: /grüße\r\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := listen(t, func(s *tcp, c net.Conn, _ int) {
				br := bufio.NewReader(c)
				s.head(br)
				s.put(c, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"+row.headers+"\r\n")
				s.head(br)
				s.put(c, page("200 OK", pageText))
			})
			p, err := get(t, newHTTP(t, Options{}), s.url+"/p")
			want(t, err, row.fails)
			if row.name == "bytes that are no text" && p.Final.Path() != "/gr%FC%DFe" {
				t.Errorf("went to %s", p.Final)
			}
		})
	}
}

func TestCircles(t *testing.T) {
	for _, row := range []struct {
		name  string
		to    func(n int, path string) string
		fails string
		asked int
	}{
		{"to itself", func(int, string) string { return "/p" }, "refused/loop", 1},
		{"to and fro", func(_ int, path string) string { return map[string]string{"/p": "/a", "/a": "/p"}[path] }, "refused/loop", 2},
		{"a new query each time", func(n int, _ string) string { return fmt.Sprintf("/p?n=%d", n) }, "refused/hops", 11},
		{"a long chain", func(n int, _ string) string { return fmt.Sprintf("/hop/%d", n) }, "refused/hops", 11},
		{"ten hops", func(n int, _ string) string {
			if n < 10 {
				return fmt.Sprintf("/hop/%d", n)
			}
			return ""
		}, "", 11},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := 0
			h := web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				to := row.to(n, r.URL.Path)
				if n++; to != "" {
					http.Redirect(w, r, to, http.StatusFound)
				}
			}), nil, Options{})
			_, err := get(t, h, "http://site.example/p")
			want(t, err, row.fails)
			if n != row.asked {
				t.Errorf("%d requests, want %d", n, row.asked)
			}
		})
	}
}

// A redirect's body is not read, and the next request does not meet it.
func TestRedirectBody(t *testing.T) {
	for _, row := range []struct {
		name, first string
		conns       int64
	}{
		{"none", "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n", 1},
		{"short", "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 5\r\n\r\nhello", 1},
		{"longer than told", "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 5\r\n\r\nhello, HTTP/1.1 200 OK\r\n\r\nSMUGGLED", 2},
		{"that stands still", "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 50\r\n\r\nhello", 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := listen(t, func(s *tcp, c net.Conn, _ int) {
				br := bufio.NewReader(c)
				for head := s.head(br); head != ""; head = s.head(br) {
					if strings.HasPrefix(head, "GET /p ") {
						s.put(c, row.first)
					} else {
						s.put(c, page("200 OK", pageText))
					}
				}
			})
			p, err := get(t, newHTTP(t, Options{}), s.url+"/p")
			want(t, err, "")
			if string(p.Body) != pageText || s.conns.Load() != row.conns {
				t.Errorf("body %q on %d connections, want %d", p.Body, s.conns.Load(), row.conns)
			}
		})
	}
}

func TestRedirectBodyEndless(t *testing.T) {
	s := listen(t, func(s *tcp, c net.Conn, n int) {
		if n > 0 {
			says(page("200 OK", pageText))(s, c, n)
			return
		}
		endless("HTTP/1.1 302 Found\r\nLocation: /next\r\n\r\n", strings.Repeat("x", 65536))(s, c, n)
	})
	start := time.Now()
	p, err := get(t, newHTTP(t, Options{}), s.url+"/p")
	want(t, err, "")
	s.Close()
	if string(p.Body) != pageText || time.Since(start) > slack || s.sent.Load() > drainLimit+socketSlack {
		t.Errorf("%q after %v and %d bytes", p.Body, time.Since(start), s.sent.Load())
	}
}

// gate notes what it is asked and refuses one path.
type gate struct {
	seen []string
	no   string
}

func (g *gate) Pass(_ context.Context, hop check.Target) error {
	g.seen = append(g.seen, hop.String())
	if hop.Path() == g.no {
		return fault.New(fault.Denied, fault.ByRule, "no")
	}
	return nil
}

func TestGate(t *testing.T) {
	var asked []string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		if to := map[string]string{"/p": "/a", "/a": "/closed/plan"}[r.URL.Path]; to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	g := &gate{no: "/closed/plan"}
	_, err := web(t, handler, nil, Options{}).Get(t.Context(), Request{Target: target(t, "http://site.example/p"), Gate: g})
	want(t, err, "denied/rule")
	if strings.Join(asked, " ") != "/p /a" {
		t.Errorf("asked %q", asked)
	}
	if strings.Join(g.seen, " ") != "http://site.example/a http://site.example/closed/plan" {
		t.Errorf("the gate saw %q", g.seen)
	}
}

// What a redirect sets or asks for is not sent with the next request.
func TestNothingIsCarriedOn(t *testing.T) {
	var got http.Header
	h := web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/p" {
			w.Header().Set("Set-Cookie", "a=b; Path=/")
			w.Header().Set("Alt-Svc", `h2="127.0.0.1:1"`)
			w.Header().Set("Refresh", "0;url=http://127.0.0.1:1/")
			http.Redirect(w, r, "/next", http.StatusFound)
			return
		}
		w.Header().Set("Set-Cookie", "sid=COOKIE")
		got = r.Header
	}), nil, Options{})
	for range 2 {
		p, err := get(t, h, "http://site.example/p")
		want(t, err, "")
		if p.Header.Get("Set-Cookie") != "" {
			t.Error("the page carries a cookie")
		}
		for _, name := range []string{"Cookie", "Referer", "Authorization", "Proxy-Authorization"} {
			if v, ok := got[name]; ok {
				t.Errorf("%s: %q was sent", name, v)
			}
		}
	}
	if got.Get("Accept") != "text/markdown, text/html, */*" || got.Get("Accept-Encoding") != "gzip, deflate, br, zstd" {
		t.Errorf("sent %v", got)
	}
	if ua := got.Get("User-Agent"); !strings.HasPrefix(ua, "Dipper/") || !strings.HasSuffix(ua, " (+https://github.com/dipper-web/dipper)") {
		t.Errorf("user agent %q", ua)
	}
}

func TestFollows(t *testing.T) {
	for _, row := range []struct {
		from, to string
		want     bool
	}{
		{"https://a.example/", "https://a.example/x", true},
		{"https://a.example/", "https://www.a.example/", true},
		{"https://www.a.example/", "https://a.example/", true},
		{"https://www.a.example/", "https://www.www.a.example/", false},
		{"http://a.example/", "https://a.example/", true},
		{"http://a.example/", "https://www.a.example/", true},
		{"http://a.example:8080/", "https://a.example:8080/", true},
		{"http://a.example:8080/", "https://a.example/", false},
		{"http://a.example/", "https://a.example:8443/", false},
		{"https://a.example/", "http://a.example/", false},
		{"https://a.example/", "http://a.example:443/", false},
		{"https://a.example/", "https://a.example:8443/", false},
		{"https://a.example/", "https://b.a.example/", false},
		{"https://a.example/", "https://a.example.evil.test/", false},
		{"https://a.example/", "https://wwwa.example/", false},
	} {
		if got := follows(target(t, row.from), target(t, row.to)); got != row.want {
			t.Errorf("%s to %s: %v", row.from, row.to, got)
		}
	}
}

// Whatever a Location says, what is followed stays on the site and on the web.
func FuzzRedirect(f *testing.F) {
	for _, s := range []string{"/a", "//b.example/", "http:\\\\127.0.0.1/", "http://user@127.0.0.1/", "https://www.site.example/?q", "http://2130706433/", "?x", "#y", "/%2e%2e/", "ht\ttps://site.example/", "\xff\xfe", "http://site.example:80@10.0.0.1/", "https://site.example%2f@b/"} {
		f.Add("https://site.example/dir/page?q=1", s)
		f.Add("http://www.site.example:8080/", s)
	}
	f.Fuzz(func(t *testing.T, base, location string) {
		from, err := check.Parse(base)
		if err != nil {
			t.Skip()
		}
		to, err := locate(from, []string{location}, 302)
		if err != nil {
			if !errors.Is(err, fault.Refused) && !errors.Is(err, fault.Unsafe) {
				t.Fatalf("%q: %v", location, err)
			}
			return
		}
		again, err := check.Parse(to.String())
		if err != nil || again.String() != to.String() {
			t.Fatalf("%q gives %q, which reads as %q (%v)", location, to, again, err)
		}
		if !follows(from, to) {
			return
		}
		bare := func(s string) string { return strings.TrimPrefix(s, "www.") }
		if bare(from.Host()) != bare(to.Host()) || from.Scheme() == "https" && to.Scheme() != "https" {
			t.Fatalf("%q is followed to %q", location, to)
		}
		if u := to.URL(); u.User != nil || u.Host == "" {
			t.Fatalf("%q gives %q", location, to)
		}
	})
}
