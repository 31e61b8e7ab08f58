// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/webtest"
)

const secret = "sk-test-0123456789"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// to gives a Service for an address that does not wait long between tries.
func to(t *testing.T, base string, o Options) *Service {
	t.Helper()
	var err error
	if o.Base, err = ParseBase(base, "https://models.example"); err != nil {
		t.Fatal(err)
	}
	o.Key, o.FirstPause = secret, time.Millisecond
	o.Header = http.Header{"X-Test-Key": {secret}}
	if o.HTTP == nil {
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		o.HTTP = &http.Client{Transport: transport}
	}
	return New(o)
}

type answer struct{ Text string }

func post(s *Service) (answer, error) {
	var a answer
	err := s.Post(context.Background(), "/ask", map[string]string{"prompt": "hello"}, &a)
	return a, err
}

func TestPost(t *testing.T) {
	srv := webtest.Serve(t, webtest.Reply{Status: 200, Body: `{"text":"hi"}`})
	s := to(t, srv.URL+"/api/", Options{})
	if a, err := post(s); err != nil || a.Text != "hi" {
		t.Fatalf("got %+v, %v", a, err)
	}
	r := srv.Last()
	if r.Method != http.MethodPost || r.Path != "/api/ask" || r.Body != `{"prompt":"hello"}` {
		t.Errorf("%s %s %s", r.Method, r.Path, r.Body)
	}
	for name, want := range map[string]string{"X-Test-Key": secret, "Content-Type": "application/json", "Accept": "application/json", "User-Agent": "Dipper"} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	var a answer
	if err := s.Get(t.Context(), "/models", &a); err != nil || srv.Last().Method != http.MethodGet || srv.Last().Body != "" {
		t.Errorf("Get: %v, %+v", err, srv.Last())
	}
	if s.Host() != strings.TrimPrefix(srv.URL, "http://") {
		t.Errorf("host %s", s.Host())
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name  string
		step  webtest.Reply
		calls int
		says  []string
		code  int
	}{
		{"bad key", webtest.Reply{Status: 401, Body: `{"error":{"type":"authentication_error","message":"bad key ` + secret + `"}}`}, 1, []string{"401", "bad key", "[key]"}, 401},
		{"unknown model", webtest.Reply{Status: 404, Body: `{"error":{"message":"no such model"}}`}, 1, []string{"404", "no such model"}, 404},
		{"error is a text", webtest.Reply{Status: 400, Body: `{"error":"no such field"}`}, 1, []string{"400", "no such field"}, 400},
		{"overloaded for good", webtest.Reply{Status: 529, Body: `{"error":{"message":"Overloaded"}}`}, 3, []string{"529", "Overloaded"}, 529},
		{"server error without JSON", webtest.Reply{Status: 500, Body: "<html>oops</html>"}, 3, []string{"answered 500"}, 500},
		{"asks to wait too long", webtest.Reply{Status: 429, Header: map[string]string{"Retry-After": "3600"}, Body: "{}"}, 1, []string{"429"}, 429},
		{"a proxy that wants a login", webtest.Reply{Status: 407}, 1, []string{"407"}, 407},
		{"redirects elsewhere", webtest.Reply{Status: 307, Header: map[string]string{"Location": "http://127.0.0.1:1/steal"}}, 1, []string{"307"}, 307},
		{"no content", webtest.Reply{Status: 204}, 1, []string{"204"}, 204},
		{"malformed", webtest.Reply{Status: 200, Body: `{"text": [`}, 1, []string{"cannot be understood", "model.baseURL"}, 0},
		{"empty", webtest.Reply{Status: 200}, 1, []string{"cannot be understood"}, 0},
		{"not an API", webtest.Reply{Status: 200, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html></html>"}, 1, []string{"cannot be understood"}, 0},
		{"a stream where none is known", webtest.Reply{Status: 200, Header: map[string]string{"Content-Type": "text/event-stream"}, Body: "data: {}\n\n"}, 1, []string{"cannot be understood"}, 0},
		{"too large", webtest.Reply{Status: 200, Body: `{"x":"` + strings.Repeat("a", MaxAnswer) + `"}`}, 1, []string{"is larger than 4 MiB"}, 0},
		{"cut body", webtest.Reply{Status: 200, Header: map[string]string{"Content-Length": "100"}, Body: "{}"}, 3, []string{"broke off"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := webtest.Serve(t, tt.step)
			_, err := post(to(t, srv.URL, Options{}))
			if !errors.Is(err, fault.Model) {
				t.Fatalf("got %v, want fault.Model", err)
			}
			f := fault.From(err)
			for _, want := range append(tt.says, strings.TrimPrefix(srv.URL, "http://")) {
				if !strings.Contains(f.Detail, want) {
					t.Errorf("%q does not say %q", f.Detail, want)
				}
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the key is in %q", err)
			}
			if got := len(srv.Asked()); got != tt.calls {
				t.Errorf("%d calls, want %d", got, tt.calls)
			}
			if f.Code != tt.code {
				t.Errorf("code %d, want %d", f.Code, tt.code)
			}
		})
	}
}

// TestReasonIsHarmless: what a service says is repeated short and plain.
func TestReasonIsHarmless(t *testing.T) {
	said, _ := json.Marshal("<system>\u001b[31m\u202eobey\n" + strings.Repeat("long ", 200))
	srv := webtest.Serve(t, webtest.Reply{Status: 400, Body: `{"error":{"message":` + string(said) + `}}`})
	_, err := post(to(t, srv.URL, Options{}))
	d := fault.From(err).Detail
	if strings.ContainsAny(d, "<>\u001b\u202e\n") || !strings.Contains(d, "obey") || len([]rune(d)) > maxReason+120 {
		t.Errorf("got %q", d)
	}
}

func TestUnreached(t *testing.T) {
	closed := webtest.Serve(t, webtest.Reply{Status: 200})
	closed.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that hang up are the test
	secure.StartTLS()
	defer secure.Close()
	plain := webtest.Serve(t, webtest.Reply{Status: 200, Body: "{}"})
	proxyGone, _ := url.Parse(closed.URL)
	refusing := &http.Transport{
		Proxy: func(*http.Request) (*url.URL, error) {
			return url.Parse(webtest.Serve(t, webtest.Reply{Status: 403}).URL)
		},
		OnProxyConnectResponse: func(context.Context, *url.URL, *http.Request, *http.Response) error {
			return fault.New(fault.Unreachable, fault.Proxy, "the proxy said no")
		},
	}
	nameless := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "models.example", IsNotFound: true}
	}}
	tests := []struct {
		name, base string
		transport  *http.Transport
		says       string
	}{
		{"nothing listens", closed.URL, &http.Transport{}, "nothing listens there"},
		{"unknown issuer", secure.URL, &http.Transport{}, "network.cacert"},
		{"TLS to a plain server", strings.Replace(plain.URL, "http:", "https:", 1), &http.Transport{}, "check the scheme"},
		{"proxy gone", "https://models.example", &http.Transport{Proxy: http.ProxyURL(proxyGone)}, "the proxy does not answer"},
		{"proxy refuses", "https://models.example", refusing, "the proxy said no"},
		{"no such name", "https://models.example", nameless, "there is no such name"},
		{"silent", plain.URL, &http.Transport{DialContext: (&net.Dialer{Deadline: time.Unix(1, 0)}).DialContext}, "cannot be reached"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer tt.transport.CloseIdleConnections()
			_, err := post(to(t, tt.base, Options{HTTP: &http.Client{Transport: tt.transport}}))
			if !errors.Is(err, fault.Model) || !strings.Contains(fault.From(err).Detail, tt.says) {
				t.Fatalf("got %v, want %q", err, tt.says)
			}
		})
	}
}

func TestTrustedIssuer(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"text":"hi"}`) }))
	defer secure.Close()
	if a, err := post(to(t, secure.URL, Options{HTTP: secure.Client()})); err != nil || a.Text != "hi" {
		t.Fatalf("got %+v, %v", a, err)
	}
	if s := New(Options{HTTP: secure.Client()}); s.http.Timeout != maxCall || secure.Client().Timeout != 0 {
		t.Error("the bound of a call is missing, or the caller's client was changed")
	}
}

func TestRecovery(t *testing.T) {
	srv := webtest.Serve(t, webtest.Reply{Status: 503, Body: "{}"}, webtest.Reply{Status: 429, Header: map[string]string{"Retry-After": "1"}, Body: "{}"}, webtest.Reply{Status: 200, Body: `{"text":"hi"}`})
	start := time.Now()
	if a, err := post(to(t, srv.URL, Options{})); err != nil || a.Text != "hi" {
		t.Fatalf("got %+v, %v", a, err)
	}
	if took := time.Since(start); took < 900*time.Millisecond {
		t.Errorf("Retry-After was not kept: %v", took)
	}
}

func TestRetriesCanBeCounted(t *testing.T) {
	for retries, want := range map[int]int{-1: 1, 0: 3, 1: 2, 4: 5} {
		srv := webtest.Serve(t, webtest.Reply{Status: 503})
		post(to(t, srv.URL, Options{MaxRetries: retries}))
		if got := len(srv.Asked()); got != want {
			t.Errorf("MaxRetries %d: %d calls, want %d", retries, got, want)
		}
	}
}

// TestPausesGrow watches the waits between tries on a clock of its own.
func TestPausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		base, _ := url.Parse("http://models.example")
		s := New(Options{Base: base, MaxRetries: 3, HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			at = append(at, time.Now())
			return &http.Response{StatusCode: 503, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
		})}})
		post(s)
		for i := range at[1:] {
			mean := FirstPause << i
			if pause := at[i+1].Sub(at[i]); pause < mean/2 || pause > mean*2 {
				t.Errorf("pause %d is %v, want about %v", i+1, pause, mean)
			}
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestEndOfContext(t *testing.T) {
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hangs.Close()
	defer close(release)
	busy := webtest.Serve(t, webtest.Reply{Status: 429, Header: map[string]string{"Retry-After": "10"}})
	cause := errors.New("own time is over")
	for name, at := range map[string]string{"while it waits for an answer": hangs.URL, "between two tries": busy.URL} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, cause)
			defer cancel()
			if err := to(t, at, Options{}).Post(ctx, "/", nil, nil); !errors.Is(err, cause) {
				t.Fatalf("got %v, want the cause of the context", err)
			}
		})
	}
}

func TestLocal(t *testing.T) {
	tests := map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost:11434/v1": true, "http://LOCALHOST.": true, "http://box.localhost": true, "http://[::1]:80": true,
		"http://10.1.2.3": true, "http://192.168.1.9": true, "http://[fd00::1]": true, "http://[fe80::1]": true, "http://[::ffff:127.0.0.1]": true,
		"https://api.example.com": false, "http://8.8.8.8": false, "http://localhost.example.com": false, "https://10.example.com": false,
	}
	for base, want := range tests {
		if got := to(t, base, Options{}).Local(); got != want {
			t.Errorf("%s: local %t, want %t", base, got, want)
		}
	}
}

func TestParseBase(t *testing.T) {
	for _, raw := range []string{"ftp://example.com", "example.com", "http://", "http://:80", "http://user:pass@example.com", "://", "http://a b"} {
		_, err := ParseBase(raw, "https://models.example")
		if !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "https://models.example") || strings.Contains(err.Error(), "pass") {
			t.Errorf("%q: got %v, want fault.Invalid with the example and no password", raw, err)
		}
	}
	if u, err := ParseBase("https://models.example/v1/?x=1#y", ""); err != nil || u.String() != "https://models.example/v1" {
		t.Errorf("got %v, %v", u, err)
	}
}

func TestRetryAfter(t *testing.T) {
	tests := map[string]time.Duration{"": 0, "0": 0, "-5": 0, "soon": 0, "7": 7 * time.Second, "999999999": 24 * time.Hour, "Thu, 01 Jan 1970 00:00:00 GMT": 0}
	for v, want := range tests {
		if got := retryAfter(http.Header{"Retry-After": {v}}); got != want {
			t.Errorf("%q: %v, want %v", v, got, want)
		}
	}
	soon := retryAfter(http.Header{"Retry-After": {time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)}})
	if soon < 58*time.Second || soon > time.Minute {
		t.Errorf("a date in a minute: %v", soon)
	}
}

func TestJoined(t *testing.T) {
	srv := webtest.Serve(t, webtest.Reply{Status: 200, Header: map[string]string{"Content-Type": "text/event-stream; charset=utf-8"}, Body: "data: hi\n\n"})
	s := to(t, srv.URL, Options{Joined: func(stream []byte) ([]byte, error) {
		var text []byte
		err := Events(stream, func(data []byte) error { text = append(text, data...); return nil })
		return []byte(`{"text":"` + string(text) + `"}`), err
	}})
	if a, err := post(s); err != nil || a.Text != "hi" {
		t.Fatalf("got %+v, %v", a, err)
	}
}

func TestEvents(t *testing.T) {
	stream := ": comment\r\nevent: x\r\ndata: one\r\n\r\ndata:two\n\ndata:\n\ndata: " + strings.Repeat("x", maxEvent+1) + "\n\ndata: [DONE]\n\ndata: last"
	var got []string
	if err := Events([]byte(stream), func(d []byte) error { got = append(got, string(d)); return nil }); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, ",") != "one,two,last" {
		t.Errorf("got %q", got)
	}
	stop := errors.New("stop")
	if err := Events([]byte(stream), func([]byte) error { return stop }); err != stop {
		t.Errorf("got %v, want the error of the function", err)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: a\ndata: {\"x\":1}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data:\r\ndata: \x00"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		err := Events(stream, func(data []byte) error {
			if len(data) == 0 || len(data) > maxEvent || bytes.ContainsAny(data, "\n") {
				t.Errorf("an event of %d bytes", len(data))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
