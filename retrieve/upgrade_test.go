// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
)

func TestUpgrade(t *testing.T) {
	a := newAuthority(t)
	secureSite := listen(t, secure(a.config(t, tomorrow(), "site.example"), answerAll(page("200 OK", "over https"))))
	plainSite := listen(t, answerAll(page("200 OK", "over http")))
	declared := map[string]string{"site.example:443": secureSite.Addr().String(), "site.example:80": plainSite.Addr().String(), "site.example:8443": secureSite.Addr().String()}
	for _, row := range []struct{ mode, url, body, final string }{
		{"auto", "http://site.example/", "over http", "http://site.example/"}, // leads into an allowed private range
		{"", "https://site.example/", "over https", "https://site.example/"},
		{"always", "http://site.example/", "over https", "https://site.example/"},
		{"never", "http://site.example/", "over http", "http://site.example/"},
		{"auto", plainSite.url + "/", "over http", plainSite.url + "/"},
		{"always", "http://site.example:8443/", "over https", "https://site.example:8443/"},
	} {
		h := newHTTP(t, Options{Guard: newGuard(t, guard.Options{Resolve: declared}), Roots: a.pool(), Upgrade: row.mode})
		p, err := get(t, h, row.url)
		want(t, err, "")
		if string(p.Body) != row.body || p.Final.String() != row.final || len(p.Hops) != 0 {
			t.Errorf("%s %s: %q from %s, hops %q", row.mode, row.url, p.Body, p.Final, p.Hops)
		}
	}
}

func TestSettle(t *testing.T) {
	g := newGuard(t, guard.Options{
		Resolve: map[string]string{"only443.example:443": "93.184.215.14:443", "only80.example:80": "93.184.215.14:80", "home.example:80": "127.0.0.1:1", "home.example:443": "127.0.0.1:2", "home.example:8000": "127.0.0.1:3", "abroad.example:9999": "93.184.215.14:9999"},
		Ports:   []int{80, 443, 8000},
		Resolver: names{
			"public.example": {"93.184.215.14"}, "private.example": {"127.0.0.1"}, "inside.example": {"10.0.0.1"}, "mixed.example": {"93.184.215.14", "10.0.0.1"},
		},
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	for _, row := range []struct{ mode, url, to, fails string }{
		{"auto", "http://public.example/", "https://public.example/", ""},
		{"auto", "http://public.example:80/", "https://public.example/", ""},
		{"auto", "http://93.184.215.14/", "https://93.184.215.14/", ""},
		{"auto", "http://public.example:443/", "https://public.example/", ""},
		{"auto", "http://public.example:8000/", "https://public.example:8000/", ""},
		{"auto", "http://private.example:8000/", "http://private.example:8000/", ""},
		{"auto", "http://127.0.0.1:3000/", "http://127.0.0.1:3000/", ""},
		{"auto", "http://home.example:8000/", "http://home.example:8000/", ""},
		{"auto", "http://abroad.example:9999/", "https://abroad.example:9999/", ""},
		{"auto", "http://nobody.example:8000/", "", "unreachable/dns"},
		{"never", "http://public.example:8000/", "http://public.example:8000/", ""},
		{"always", "http://private.example:8000/", "https://private.example:8000/", ""},
		{"always", "http://home.example:8000/", "https://home.example:8000/", ""},
		{"auto", "https://public.example/", "https://public.example/", ""},
		{"auto", "http://private.example/", "http://private.example/", ""},
		{"auto", "http://home.example/", "http://home.example/", ""},
		{"auto", "http://only443.example/", "https://only443.example/", ""},
		{"auto", "http://only80.example/", "http://only80.example/", ""},
		{"auto", "http://inside.example/", "", "unsafe/address"},
		{"auto", "http://mixed.example/", "", "unsafe/address"},
		{"auto", "http://nobody.example/", "", "unreachable/dns"},
		{"auto", "http://public.example:8080/", "", "unsafe/port"},
		{"never", "http://public.example/", "http://public.example/", ""},
		{"never", "http://only443.example/", "", "unreachable/dns"},
		{"always", "http://private.example/", "https://private.example/", ""},
		{"always", "http://home.example/", "https://home.example/", ""},
		{"always", "http://only80.example/", "", "unreachable/dns"},
	} {
		h := newHTTP(t, Options{Guard: g, Upgrade: row.mode})
		p, err := h.settle(t.Context(), target(t, row.url))
		if got := failure(err); got != row.fails || err == nil && p.target.String() != row.to {
			t.Errorf("%s %s: %s %v, want %s %s", row.mode, row.url, p.target, err, row.to, row.fails)
		}
	}
}

// A redirect within the site is followed after an upgrade, whatever the port; one
// back to http on that port goes in a circle.
func TestRedirectAfterUpgradeOnAnotherPort(t *testing.T) {
	a := newAuthority(t)
	s := listen(t, secure(a.config(t, tomorrow(), "site.example"), func(s *tcp, c net.Conn, _ int) {
		br := bufio.NewReader(c)
		for head := s.head(br); head != ""; head = s.head(br) {
			switch {
			case strings.HasPrefix(head, "GET /old "):
				s.put(c, page("301 Moved Permanently", "", "Location: /new"))
			case strings.HasPrefix(head, "GET /circle "):
				s.put(c, page("301 Moved Permanently", "", "Location: http://site.example:8000/circle"))
			default:
				s.put(c, page("200 OK", pageText))
			}
		}
	}))
	h := newHTTP(t, Options{Upgrade: UpgradeAlways, Roots: a.pool(), Guard: newGuard(t, guard.Options{Resolve: map[string]string{"site.example:8000": s.Addr().String()}})})
	p, err := get(t, h, "http://site.example:8000/old")
	want(t, err, "")
	if p.Final.String() != "https://site.example:8000/new" || len(p.Hops) != 1 {
		t.Errorf("%s by %q", p.Final, p.Hops)
	}
	_, err = get(t, h, "http://site.example:8000/circle")
	want(t, err, "refused/loop")
}

// A port that speaks http only says what a user can do about it.
func TestUpgradeOfAPlainPort(t *testing.T) {
	for fails, play := range map[string]func(*tcp, net.Conn, int){
		"unreachable/tls": func(s *tcp, c net.Conn, _ int) { s.put(c, page("400 Bad Request", "")); silent(c) },
		"timeout/connect": says(page("200 OK", pageText)), // waits for the end of a request
	} {
		s := listen(t, play)
		_, err := get(t, newHTTP(t, Options{Upgrade: UpgradeAlways, Timeouts: quick}), s.url+"/")
		want(t, err, fails)
		var f *fault.Error
		if !errors.As(err, &f) || !strings.Contains(f.Advice, "network.upgrade: never") || s.asked.Load() != 0 {
			t.Errorf("advice of %+v after %d requests in clear", f, s.asked.Load())
		}
	}
}

// An https page that was asked for by an http URL and sends back there goes in a circle.
func TestUpgradeCircle(t *testing.T) {
	a := newAuthority(t)
	s := listen(t, secure(a.config(t, tomorrow(), "site.example"), answerAll("HTTP/1.1 301 Moved Permanently\r\nLocation: http://site.example/p\r\nContent-Length: 0\r\n\r\n")))
	h := newHTTP(t, Options{Upgrade: UpgradeAlways, Roots: a.pool(), Guard: newGuard(t, guard.Options{Resolve: map[string]string{"site.example:443": s.Addr().String(), "site.example:80": s.Addr().String()}})})
	_, err := get(t, h, "http://site.example/p")
	want(t, err, "refused/loop")
	p, err := get(t, h, "https://site.example/p") // asked as https, it is a downgrade to report
	want(t, err, "")
	if p.Moved == nil || p.Moved.To != "http://site.example/p" {
		t.Errorf("moved %+v", p.Moved)
	}
}

func TestNoWayBackFromHTTPS(t *testing.T) {
	a := newAuthority(t)
	broken := listen(t, secure(a.config(t, tomorrow(), "wrong.example"), answerAll(page("200 OK", "over https"))))
	plain := listen(t, answerAll(page("200 OK", "over http")))
	h := newHTTP(t, Options{Upgrade: UpgradeAlways, Roots: newAuthority(t).pool(), Guard: newGuard(t, guard.Options{Resolve: map[string]string{
		"site.example:443": broken.Addr().String(), "site.example:80": plain.Addr().String()}})})
	_, err := get(t, h, "http://site.example/")
	want(t, err, "unreachable/tls")
	if plain.conns.Load() != 0 {
		t.Error("the page was asked in clear text")
	}
}
