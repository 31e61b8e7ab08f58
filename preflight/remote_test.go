// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dipper-web/dipper/fault"
)

func TestRemote(t *testing.T) {
	answer := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	const sure, unsure = "blocked/remote", "unverified/remote"
	for _, c := range []struct {
		name  string
		serve http.HandlerFunc
		want  string
	}{
		{"may", answer(200, `{"domain":"docs.example","can_fetch":true}`), ""},
		{"may, other spelling", answer(200, ` {"domain":"Docs.Example.","can_fetch":true,"more":[1]}`), ""},
		{"may not", answer(200, `{"domain":"docs.example","can_fetch":false}`), sure},
		{"another domain", answer(200, `{"domain":"evil.example","can_fetch":true}`), unsure},
		{"no domain", answer(200, `{"can_fetch":true}`), unsure},
		{"no answer in it", answer(200, `{"domain":"docs.example"}`), unsure},
		{"null", answer(200, `{"domain":"docs.example","can_fetch":null}`), unsure},
		{"a word for a truth value", answer(200, `{"domain":"docs.example","can_fetch":"true"}`), unsure},
		{"a number for a truth value", answer(200, `{"domain":"docs.example","can_fetch":1}`), unsure},
		{"a list", answer(200, `[{"domain":"docs.example","can_fetch":true}]`), unsure},
		{"two answers", answer(200, `{"domain":"docs.example","can_fetch":true}{"can_fetch":false}`), unsure},
		{"not JSON", answer(200, `<html>sign in</html>`), unsure},
		{"empty", answer(200, ``), unsure},
		{"endless", answer(200, `{"domain":"docs.example","can_fetch":true,"x":"`+strings.Repeat("x", maxRemoteAnswer)+`"}`), unsure},
		{"201", answer(201, `{"domain":"docs.example","can_fetch":true}`), unsure},
		{"204", answer(204, ``), unsure},
		{"403", answer(403, `{"domain":"docs.example","can_fetch":false}`), unsure},
		{"502", answer(502, `{"domain":"docs.example","can_fetch":true}`), unsure},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/again" {
				_, _ = io.WriteString(w, `{"domain":"docs.example","can_fetch":true}`)
				return
			}
			http.Redirect(w, r, "/again?domain=docs.example", http.StatusFound)
		}, unsure},
		{"breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "900")
			_, _ = io.WriteString(w, `{"domain":"docs.example","can_fetch":true}`)
		}, unsure},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.serve)
			defer server.Close()
			got, err := NewRemote(server.URL+"/domain_info", server.Client()).Check(t.Context(), Ask{Target: target(t, "https://docs.example/x")})
			if name(err) != c.want {
				t.Fatalf("%+v, %v, want %q", got, err, c.want)
			}
			if err == nil {
				if got.By != "remote" || got.At.IsZero() {
					t.Errorf("%+v", got)
				}
				return
			}
			e := fault.From(err)
			if !strings.Contains(e.Detail, "docs.example") || strings.Contains(e.Detail, "127.0.0.1") {
				t.Errorf("sentence: %s", e.Detail)
			}
			if c.want != unsure {
				return
			}
			// The check failed, and nothing may sound as if the site had been judged.
			if regexp.MustCompile(`(?i)domain \S+ is (not allowed|blocked)`).MatchString(e.Detail+e.Say()) || !strings.Contains(e.Say(), "preflight.skip") {
				t.Errorf("%s %s", e.Detail, e.Say())
			}
		})
	}
}

func TestRemoteIsToldTheHostAlone(t *testing.T) {
	var line, headers string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line, headers = r.Method+" "+r.RequestURI, fmt.Sprint(r.Header)
		_, _ = fmt.Fprintf(w, `{"domain":%q,"can_fetch":true}`, r.URL.Query().Get("domain"))
	}))
	defer server.Close()
	for url, want := range map[string]string{
		"https://docs.example:8443/secret/path?token=secret#secret": "GET /check?domain=docs.example&v=1",
		"http://[2001:db8::1]/secret":                               "GET /check?domain=2001%3Adb8%3A%3A1&v=1",
	} {
		client := *server.Client()
		client.Jar = jarOf(t, server.URL)
		if _, err := NewRemote(server.URL+"/check?v=1", &client).Check(t.Context(), Ask{Target: target(t, url), Person: true}); err != nil {
			t.Fatal(err)
		}
		if line != want || strings.Contains(headers, "secret") || strings.Contains(headers, "Cookie") {
			t.Errorf("%s sent %s with %s", url, line, headers)
		}
	}
}

// jarOf gives a jar that holds a cookie for a place.
func jarOf(t *testing.T, raw string) http.CookieJar {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	jar.SetCookies(target(t, raw).URL(), []*http.Cookie{{Name: "who", Value: "secret"}})
	return jar
}

func TestRemoteWithoutAService(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	where := l.Addr().String()
	_ = l.Close()
	for _, endpoint := range []string{"http://" + where + "/", "", "::", "http://%zz/", "ftp://example.com/", "relative"} {
		_, err := NewRemote(endpoint, nil).Check(t.Context(), Ask{Target: target(t, "https://docs.example/")})
		if name(err) != "unverified/remote" || where != "" && strings.Contains(fault.From(err).Detail, where) {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}

// piped gives a client whose requests a handler in the same bubble answers.
func piped(t *testing.T, h http.Handler) *http.Client {
	ends := make(chan net.Conn)
	server := &http.Server{Handler: h}
	l := pipeListener{ends, make(chan struct{}), new(sync.Once)}
	go func() { _ = server.Serve(l) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		select {
		case ends <- far:
			return near, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() { transport.CloseIdleConnections(); _ = server.Close() })
	return &http.Client{Transport: transport}
}

type pipeListener struct {
	ends chan net.Conn
	done chan struct{}
	once *sync.Once
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ends:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l pipeListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func TestRemoteSilenceEndsAfterTenSeconds(t *testing.T) {
	for _, c := range []struct {
		name        string
		limit, took time.Duration
		cancel      bool
		want        string
	}{
		{"its own deadline", time.Minute, 10 * time.Second, false, "unverified/remote"},
		{"the caller's deadline", 2 * time.Second, 2 * time.Second, false, "unverified/remote"},
		{"the caller gives up", 2 * time.Second, 2 * time.Second, true, "canceled"},
	} {
		for _, cache := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, ", cached ", cache), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := NewRemote("http://check.example/", piped(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })))
					if cache {
						r = Cached(r)
					}
					ctx, cancel := context.WithTimeout(t.Context(), c.limit)
					defer cancel()
					if c.cancel {
						var stop context.CancelFunc
						ctx, stop = context.WithCancel(t.Context())
						defer stop()
						time.AfterFunc(c.limit, stop)
					}
					start := time.Now()
					_, err := r.Check(ctx, Ask{Target: target(t, "https://docs.example/")})
					if name(err) != c.want || time.Since(start) != c.took {
						t.Errorf("%v after %v, want %q after %v", err, time.Since(start), c.want, c.took)
					}
				})
			})
		}
	}
}

func TestCachedKeepsClearancesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked int
		var verdict error
		c := Cached(CheckerFunc(func(context.Context, Ask) (Clearance, error) {
			asked++
			return Clearance{Reason: "x", By: "remote", At: time.Now()}, verdict
		}))
		look := func(url, want string, times int) Clearance {
			t.Helper()
			got, err := c.Check(t.Context(), Ask{Target: target(t, url)})
			if name(err) != want || asked != times {
				t.Errorf("%s: %v after %d questions, want %q after %d", url, err, asked, want, times)
			}
			return got
		}
		first := look("https://a.example/x", "", 1)
		time.Sleep(5*time.Minute - time.Second)
		if again := look("http://a.example:8080/y", "", 1); !again.At.Equal(first.At) {
			t.Error("a kept clearance looks like a new one")
		}
		look("https://b.example/", "", 2)
		time.Sleep(time.Second)
		verdict = fault.New(fault.Blocked, fault.ByRemote, "no")
		look("https://a.example/x", "blocked/remote", 3)
		look("https://a.example/x", "blocked/remote", 4)
		verdict = fault.New(fault.Unverified, fault.ByRemote, "who knows")
		look("https://a.example/x", "unverified/remote", 5)
		look("https://a.example/x", "unverified/remote", 6)
		verdict = io.ErrUnexpectedEOF
		look("https://a.example/x", "unverified/remote", 7)
		verdict = nil
		look("https://a.example/x", "", 8)
		look("https://a.example/x", "", 8)
	})
}

func TestCachedKeeps128Hosts(t *testing.T) {
	asked := map[string]int{}
	kept := Cached(CheckerFunc(func(_ context.Context, a Ask) (Clearance, error) {
		asked[a.Target.Host()]++
		return Clearance{By: "remote"}, nil
	}))
	for i := range 129 {
		_, _ = kept.Check(t.Context(), Ask{Target: target(t, fmt.Sprintf("https://h%d.example/", i))})
	}
	for _, c := range []struct {
		host string
		want int
	}{{"h1.example", 1}, {"h128.example", 1}, {"h0.example", 2}} {
		_, _ = kept.Check(t.Context(), Ask{Target: target(t, "https://"+c.host+"/")})
		if asked[c.host] != c.want {
			t.Errorf("%s was asked about %d times, want %d", c.host, asked[c.host], c.want)
		}
	}
}

func TestCachedSharesOneQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		c := Cached(CheckerFunc(func(context.Context, Ask) (Clearance, error) {
			asked.Add(1)
			time.Sleep(time.Second)
			return Clearance{By: "remote"}, nil
		}))
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := c.Check(t.Context(), Ask{Target: target(t, "https://a.example/")}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if asked.Load() != 1 {
			t.Errorf("%d questions", asked.Load())
		}
	})
}
