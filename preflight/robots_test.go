// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dipper-web/dipper/check"
	"github.com/dipper-web/dipper/fault"
)

// over reads robots.txt from a real server, one request at a time, and hands
// redirects back.
func over(client *http.Client) Fetch {
	return func(ctx context.Context, t check.Target) (File, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.String(), nil)
		if err != nil {
			return File{}, err
		}
		resp, err := client.Transport.RoundTrip(req)
		if err != nil {
			return File{}, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, MaxRobots))
		return File{Status: resp.StatusCode, Body: body, Cut: err != nil, Moved: resp.Header.Get("Location"), RetryAfter: 7 * time.Second}, nil
	}
}

const closed = "User-agent: *\nDisallow: /closed\n"

func TestRobotsFetch(t *testing.T) {
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	elsewhere := httptest.NewServer(status(200, closed))
	defer elsewhere.Close()
	moved := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/r.txt" {
				_, _ = io.WriteString(w, closed)
				return
			}
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}
	steps := func(last int) http.HandlerFunc { // /robots.txt → /1 → … → /last
		return func(w http.ResponseWriter, r *http.Request) {
			n := 0
			_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
			if n == last {
				_, _ = io.WriteString(w, closed)
				return
			}
			http.Redirect(w, r, fmt.Sprintf("/%d", n+1), http.StatusMovedPermanently)
		}
	}
	hangUp := func(bytes string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, bytes)
			_ = conn.Close()
		}
	}
	const rule, unsure, allow = "blocked/robots", "unverified/robots", ""
	for _, c := range []struct {
		name  string
		serve http.HandlerFunc
		want  string
	}{
		{"200 with rules", status(200, closed), rule},
		{"200 without rules", status(200, "<html>Not found</html>"), allow},
		{"204", status(204, ""), allow},
		{"301 on the host", moved("/r.txt"), rule},
		{"302 to another host", moved(elsewhere.URL + "/robots.txt"), rule},
		{"302 to itself", moved("/robots.txt"), allow},
		{"five redirects", steps(5), rule},
		{"six redirects", steps(6), allow},
		{"302 to another scheme", moved("ftp://example.com/robots.txt"), unsure},
		{"302 with credentials", moved("https://user:pw@example.com/robots.txt"), unsure},
		{"304", status(304, ""), unsure},
		{"302 to nowhere", status(302, ""), unsure},
		{"400", status(400, closed), allow},
		{"401", status(401, closed), allow},
		{"403", status(403, closed), allow},
		{"404", status(404, closed), allow},
		{"410", status(410, closed), allow},
		{"429", status(429, ""), unsure},
		{"500", status(500, ""), unsure},
		{"503", status(503, closed), unsure},
		{"connection closed at once", hangUp(""), unsure},
		{"not HTTP", hangUp("220 mail.example ESMTP\r\n\r\n"), unsure},
		{"body breaks off", hangUp("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + closed), unsure},
		{"larger than the cap", status(200, closed+strings.Repeat("# filler\n", MaxRobots/8)), rule},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.serve)
			defer server.Close()
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			r := NewRobots(RobotsOptions{Mode: Obey, Agent: "Dipper/1.0", Fetch: over(client)})
			_, err := r.Check(t.Context(), Ask{Target: target(t, server.URL+"/closed")})
			if name(err) != c.want {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if _, open := r.Check(t.Context(), Ask{Target: target(t, server.URL+"/open")}); name(open) != strings.TrimPrefix(c.want, rule) {
				t.Errorf("/open: %v", open)
			}
			if e := fault.From(err); err != nil && !strings.Contains(e.Detail, server.URL+"/closed") {
				t.Errorf("the sentence does not name the page: %s", e.Detail)
			}
		})
	}
}

func TestRobotsUnverifiedSaysMore(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }))
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	_, err := NewRobots(RobotsOptions{Mode: Obey, Fetch: over(client)}).Check(t.Context(), Ask{Target: target(t, server.URL)})
	if e := fault.From(err); e.Code != 429 || e.RetryAfter != 7*time.Second || !strings.Contains(e.Say(), "preflight.robots") {
		t.Errorf("%+v", e)
	}
	paused := fault.New(fault.Limited, fault.BySelf, "wait")
	paused.RetryAfter = time.Minute
	r := NewRobots(RobotsOptions{Mode: Obey, Fetch: func(context.Context, check.Target) (File, error) { return File{}, paused }})
	_, err = r.Check(t.Context(), Ask{Target: target(t, "https://example.com/")})
	if e := fault.From(err); name(err) != "unverified/robots" || e.RetryAfter != time.Minute {
		t.Errorf("%+v", e)
	}
}

// What a Fetch that follows redirects by itself may say.
func TestRobotsFetchThatFollowsByItself(t *testing.T) {
	for _, c := range []struct {
		name string
		file File
		err  error
		want string
	}{
		{"five hops", File{Status: 200, Body: []byte(closed), Hops: 5}, nil, "blocked/robots"},
		{"six hops", File{Status: 200, Body: []byte(closed), Hops: 6}, nil, ""},
		{"circle", File{}, fault.New(fault.Refused, fault.Loop, "x"), ""},
		{"too many", File{}, fault.New(fault.Refused, fault.Hops, "x"), ""},
		{"no usable address", File{}, fault.New(fault.Refused, fault.Location, "x"), "unverified/robots"},
		{"private address", File{}, fault.New(fault.Unsafe, fault.BadAddress, "x"), "unverified/robots"},
		{"no such name", File{}, fault.New(fault.Unreachable, fault.DNS, "x"), "unverified/robots"},
		{"any error", File{}, io.ErrUnexpectedEOF, "unverified/robots"},
		{"no status", File{}, nil, "unverified/robots"},
		{"a status that is none", File{Status: 999}, nil, "unverified/robots"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewRobots(RobotsOptions{Mode: Obey, Fetch: func(context.Context, check.Target) (File, error) { return c.file, c.err }})
			if _, err := r.Check(t.Context(), Ask{Target: target(t, "https://example.com/closed")}); name(err) != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// counting serves rules from memory and counts how often it is asked for which.
type counting struct {
	mu    sync.Mutex
	asked map[string]int
	file  File
	err   error
}

func (c *counting) fetch(_ context.Context, t check.Target) (File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked == nil {
		c.asked = map[string]int{}
	}
	c.asked[t.String()]++
	return c.file, c.err
}

func (c *counting) sum() (n int) {
	for _, k := range c.asked {
		n += k
	}
	return n
}

func TestRobotsModes(t *testing.T) {
	for _, c := range []struct {
		mode   string
		person bool
		want   string
		asked  int
	}{
		{"obey", false, "blocked/robots", 1},
		{"obey", true, "blocked/robots", 1},
		{"autonomous", false, "blocked/robots", 1},
		{"autonomous", true, "", 0},
		{"", false, "blocked/robots", 1},
		{"", true, "", 0},
		{"ignore", false, "", 0},
		{"a word that is none", true, "blocked/robots", 1},
	} {
		site := &counting{file: File{Status: 200, Body: []byte(closed)}}
		r := NewRobots(RobotsOptions{Mode: c.mode, Fetch: site.fetch})
		_, err := r.Check(t.Context(), Ask{Target: target(t, "https://example.com/closed"), Person: c.person})
		if name(err) != c.want || site.sum() != c.asked {
			t.Errorf("%q, person %v: %v after %d fetches", c.mode, c.person, err, site.sum())
		}
	}
}

// Offline nobody is asked: what is known holds, and what is not is unverified.
func TestRobotsOfAKeptPage(t *testing.T) {
	site := &counting{file: File{Status: 200, Body: []byte(closed)}}
	r := NewRobots(RobotsOptions{Mode: Obey, Fetch: site.fetch})
	ask := Ask{Target: target(t, "https://example.com/closed"), Kept: true}
	if _, err := r.Check(t.Context(), ask); name(err) != "unverified/robots" || site.sum() != 0 {
		t.Errorf("not known: %v after %d fetches, want unverified/robots after none", err, site.sum())
	}
	r.Check(t.Context(), Ask{Target: target(t, "https://example.com/open")})
	if _, err := r.Check(t.Context(), ask); name(err) != "blocked/robots" || site.sum() != 1 {
		t.Errorf("known: %v after %d fetches, want blocked/robots after one", err, site.sum())
	}
}

func TestRobotsItselfMayAlwaysBeRead(t *testing.T) {
	site := &counting{file: File{Status: 200, Body: []byte("User-agent: *\nDisallow: /\n")}}
	r := NewRobots(RobotsOptions{Mode: Obey, Fetch: site.fetch})
	if _, err := r.Check(t.Context(), Ask{Target: target(t, "https://example.com/robots.txt")}); err != nil || site.sum() != 0 {
		t.Errorf("%v after %d fetches", err, site.sum())
	}
	for _, u := range []string{"https://example.com/robots.txt/x", "https://example.com/a/robots.txt", "https://example.com/"} {
		if _, err := r.Check(t.Context(), Ask{Target: target(t, u)}); name(err) != "blocked/robots" {
			t.Errorf("%s: %v", u, err)
		}
	}
}

func TestRobotsAreKeptPerOrigin(t *testing.T) {
	site := &counting{file: File{Status: 200, Body: []byte(closed)}}
	r := NewRobots(RobotsOptions{Mode: Obey, Fetch: site.fetch})
	for _, u := range []string{"https://example.com/a?x=1", "https://example.com/b", "https://EXAMPLE.com:443/c", "http://example.com/",
		"https://example.com:8443/", "https://www.example.com/"} {
		if _, err := r.Check(t.Context(), Ask{Target: target(t, u)}); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
	for _, u := range []string{"https://example.com/robots.txt", "http://example.com/robots.txt", "https://example.com:8443/robots.txt", "https://www.example.com/robots.txt"} {
		if site.asked[u] != 1 {
			t.Errorf("%s was fetched %d times", u, site.asked[u])
		}
	}
	if site.sum() != 4 {
		t.Errorf("fetched: %v", site.asked)
	}
}

func TestRobotsAreKeptForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := &counting{file: File{Status: 200, Body: []byte(closed)}}
		r := NewRobots(RobotsOptions{Mode: Obey, Fetch: site.fetch})
		look := func(want string, asked int) {
			t.Helper()
			if _, err := r.Check(t.Context(), Ask{Target: target(t, "https://example.com/closed")}); name(err) != want || site.sum() != asked {
				t.Errorf("%v after %d fetches, want %q after %d", err, site.sum(), want, asked)
			}
		}
		look("blocked/robots", 1)
		site.file = File{Status: 503}
		time.Sleep(23 * time.Hour)
		look("blocked/robots", 1)
		time.Sleep(time.Hour)
		look("unverified/robots", 2) // too old to go by
		look("unverified/robots", 3) // and no failure is kept
		site.file = File{Status: 404}
		look("", 4)
		look("", 4)
	})
}

func TestRobotsSilenceEndsAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(ctx context.Context, _ check.Target) (File, error) {
			<-ctx.Done()
			return File{}, ctx.Err()
		}
		r := NewRobots(RobotsOptions{Mode: Obey, Fetch: silent})
		for _, c := range []struct {
			limit, took time.Duration
			cancel      bool
			want        string
		}{
			{time.Minute, 10 * time.Second, false, "unverified/robots"},
			{4 * time.Second, 4 * time.Second, false, "unverified/robots"},
			{3 * time.Second, 3 * time.Second, true, "canceled"},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			if c.cancel {
				ctx, cancel = context.WithCancel(t.Context())
				time.AfterFunc(c.limit, cancel)
			}
			start := time.Now()
			_, err := r.Check(ctx, Ask{Target: target(t, "https://example.com/")})
			cancel()
			if name(err) != c.want || time.Since(start) != c.took {
				t.Errorf("%v after %v, want %q after %v", err, time.Since(start), c.want, c.took)
			}
		}
	})
}

func TestRobotsDeadlineHoldsAgainstADeafFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := func(context.Context, check.Target) (File, error) {
			time.Sleep(time.Hour)
			return File{Status: 200}, nil
		}
		start := time.Now()
		_, err := NewRobots(RobotsOptions{Mode: Obey, Fetch: deaf}).Check(t.Context(), Ask{Target: target(t, "https://example.com/")})
		if name(err) != "unverified/robots" || time.Since(start) != robotsDeadline {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		time.Sleep(2 * time.Hour) // it ends by itself in the end
	})
}

func TestOneFetchServesAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fetches atomic.Int32
		r := NewRobots(RobotsOptions{Mode: Obey, Fetch: func(ctx context.Context, _ check.Target) (File, error) {
			fetches.Add(1)
			select {
			case <-time.After(5 * time.Second):
				return File{Status: 200, Body: []byte(closed)}, nil
			case <-ctx.Done():
				return File{}, ctx.Err()
			}
		}})
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				ctx := t.Context()
				if i == 0 { // the one who starts the fetch does not wait for its end
					short, cancel := context.WithTimeout(ctx, time.Second)
					defer cancel()
					ctx = short
				} else {
					time.Sleep(time.Millisecond)
				}
				_, err := r.Check(ctx, Ask{Target: target(t, fmt.Sprintf("https://example.com/closed/%d", i))})
				if want := map[bool]string{true: "unverified/robots", false: "blocked/robots"}[i == 0]; name(err) != want {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if fetches.Load() != 1 {
			t.Errorf("%d fetches", fetches.Load())
		}
	})
}

func TestFetchEndsWhenNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		r := NewRobots(RobotsOptions{Mode: Obey, Fetch: func(ctx context.Context, _ check.Target) (File, error) {
			<-ctx.Done()
			ended.Store(true)
			return File{}, ctx.Err()
		}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := r.Check(ctx, Ask{Target: target(t, "https://example.com/")}); name(err) != "canceled" {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		if !ended.Load() {
			t.Error("the fetch goes on with nobody waiting")
		}
	})
}

func TestRobotsKeepsABoundedNumber(t *testing.T) {
	site := &counting{file: File{Status: 404}}
	r := NewRobots(RobotsOptions{Mode: Obey, Fetch: site.fetch}).(*robots)
	for i := range robotsOrigins + 50 {
		if _, err := r.Check(t.Context(), Ask{Target: target(t, fmt.Sprintf("https://h%d.example/", i))}); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.rules.order.Len(); n != robotsOrigins || len(r.rules.byKey) != n {
		t.Errorf("%d origins kept", n)
	}
	large := File{Status: 200, Body: []byte("User-agent: *\n" + strings.Repeat("Disallow: /a\nAllow: /b\n", 20000))}
	for i := range large.Body { // no two rules alike
		if large.Body[i] == 'a' || large.Body[i] == 'b' {
			large.Body[i] += byte(i % 20)
		}
	}
	site.file = large
	for i := range 40 {
		if _, err := r.Check(t.Context(), Ask{Target: target(t, fmt.Sprintf("https://large%d.example/", i))}); err != nil {
			t.Fatal(err)
		}
	}
	if r.rules.weight > robotsWeight {
		t.Errorf("%d bytes of rules kept", r.rules.weight)
	}
}

func TestShelf(t *testing.T) {
	s := shelf[int]{age: time.Hour, maxCount: 10, maxWeight: 100}
	for i := range 5 {
		s.put(fmt.Sprint(i), i, 30)
	}
	for key, want := range map[string]bool{"0": false, "1": false, "2": true, "3": true, "4": true} {
		if _, ok := s.get(key); ok != want {
			t.Errorf("%s: kept %v", key, ok)
		}
	}
	s.put("huge", 9, 1000)
	if _, ok := s.get("huge"); !ok || s.order.Len() != 1 || s.weight != 1000 {
		t.Errorf("%d kept, weight %d", s.order.Len(), s.weight)
	}
	s.put("huge", 8, 10)
	if v, _ := s.get("huge"); v != 8 || s.weight != 10 {
		t.Errorf("value %d, weight %d", v, s.weight)
	}
}

func TestRobotsSentenceIsBounded(t *testing.T) {
	long := "/" + strings.Repeat("ignore all of this ", 100)
	site := &counting{file: File{Status: 200, Body: []byte("User-agent: *\nDisallow: /\nDisallow: " + long)}}
	r := NewRobots(RobotsOptions{Mode: Obey, Agent: "Some-Agent/2 (x)", Fetch: site.fetch})
	at := target(t, "https://example.com/ignore%20all%20of%20this%20"+strings.TrimSpace(strings.Repeat("ignore%20all%20of%20this%20", 30)))
	_, err := r.Check(t.Context(), Ask{Target: at})
	if e := fault.From(err); name(err) != "blocked/robots" || strings.Contains(strings.ReplaceAll(e.Detail, at.String(), ""), "ignore all") ||
		!strings.Contains(e.Detail, "Some-Agent") || !strings.Contains(e.Detail, "Disallow: /") {
		t.Errorf("%v", err)
	}
}

func TestRobotsNeverPassesOnABrokenConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	where := l.Addr().String()
	_ = l.Close()
	client := &http.Client{Transport: &http.Transport{}}
	r := NewRobots(RobotsOptions{Mode: Obey, Fetch: over(client)})
	_, err = r.Check(t.Context(), Ask{Target: target(t, "http://"+where+"/")})
	var inner *net.OpError
	if name(err) != "unverified/robots" || !errors.As(err, &inner) {
		t.Errorf("%v", err)
	}
}
