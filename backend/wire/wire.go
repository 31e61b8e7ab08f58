// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package wire carries the calls to a model service that speaks JSON over HTTP:
// a key in the header, a few retries, bounds on what comes back, and failures in
// sentences that hold no key. What the messages say is for the backends.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/dipper-web/dipper/fault"
)

// Limits of one call.
const (
	// MaxAnswer bounds the body of an answer, in bytes: the longest text a model
	// may write is far below it.
	MaxAnswer = 4 << 20
	// defaultTries is how often a call is made before it counts as failed.
	defaultTries = 3
	// FirstPause is the wait before the second try; each further one doubles it.
	FirstPause = 500 * time.Millisecond
	// longestPause is the longest wait that a service may ask for: the time of a
	// whole call does not allow more.
	longestPause = 20 * time.Second
	// maxCall bounds one request where nobody else does.
	maxCall = 10 * time.Minute
)

// Options describe a service.
type Options struct {
	// Base is the address that paths are added to; see ParseBase.
	Base *url.URL
	// Key is what no error may repeat; empty: there is none.
	Key string
	// Header is sent with every request: the key, in the service's own form.
	Header http.Header
	// Joined turns the event stream of a service that knows nothing else into the
	// JSON of the answer that it carries; nil: streams are not understood.
	Joined func(stream []byte) ([]byte, error)
	// HTTP makes the requests; nil is a plain client. Redirects are never followed.
	HTTP *http.Client
	// MaxRetries is how often a call is repeated after a failure that may pass;
	// 0 is two repetitions, a negative number none.
	MaxRetries int
	// FirstPause is the wait before the first repetition; 0 is the constant.
	FirstPause time.Duration
}

// Service is a model service. It is safe for use by several goroutines.
type Service struct {
	o     Options
	http  http.Client
	tries uint
}

// New makes a Service. Nothing is sent.
func New(o Options) *Service {
	s := &Service{o: o, http: http.Client{Transport: http.DefaultTransport}, tries: defaultTries}
	if o.HTTP != nil {
		s.http = *o.HTTP
	}
	if s.http.Timeout == 0 {
		s.http.Timeout = maxCall
	}
	// The key is sent to no other place than the configured one.
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if o.MaxRetries != 0 {
		s.tries = uint(max(o.MaxRetries, 0)) + 1
	}
	if o.FirstPause == 0 {
		s.o.FirstPause = FirstPause
	}
	return s
}

// ParseBase reads the base URL of a service, without its last slash. One that is
// no http or https address, or holds a user name, is fault.Invalid; example
// shows a right one.
func ParseBase(raw, example string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, fault.New(fault.Invalid, "", "model.baseURL must be an http or https address without a user name, such as %s", example)
	}
	u.Path, u.RawPath, u.RawQuery, u.Fragment = strings.TrimRight(u.Path, "/"), "", "", ""
	return u, nil
}

// Host names the service, with its port where one is written.
func (s *Service) Host() string { return s.o.Base.Host }

// Local reports whether the service runs on this machine or at a literal private
// address.
func (s *Service) Local() bool {
	host := strings.TrimSuffix(strings.ToLower(s.o.Base.Hostname()), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	a = a.Unmap()
	return err == nil && (a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast())
}

// Get asks for a path and decodes the JSON answer; see Post.
func (s *Service) Get(ctx context.Context, path string, into any) error {
	return s.call(ctx, http.MethodGet, path, nil, into)
}

// Post sends body as JSON, tries again where that may help, and decodes the
// answer. The end of ctx is returned as its cause; everything else is
// fault.Model, with the status where the service gave one.
func (s *Service) Post(ctx context.Context, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "", "the request to the model could not be written")
	}
	return s.call(ctx, http.MethodPost, path, raw, into)
}

func (s *Service) call(ctx context.Context, method, path string, raw []byte, into any) error {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval, pause.Multiplier = s.o.FirstPause, longestPause, 2
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, s.once(ctx, method, path, raw, into) },
		backoff.WithBackOff(pause), backoff.WithMaxTries(s.tries), backoff.WithMaxElapsedTime(0))
	var failure *fault.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &failure):
		return failure
	}
	return s.fail(err, "the connection to the model service at %s failed", s.Host())
}

// once makes one try. What another try cannot cure is a permanent error.
func (s *Service) once(ctx context.Context, method, path string, raw []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, s.o.Base.String()+path, bytes.NewReader(raw))
	if err != nil {
		return backoff.Permanent(s.fail(err, "the request to the model service could not be made"))
	}
	if s.o.Header != nil {
		req.Header = s.o.Header.Clone()
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "Dipper")
	resp, err := s.http.Do(req)
	if err != nil {
		return s.unreached(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	switch {
	case err != nil:
		return s.fail(err, "the answer of the model service at %s broke off", s.Host())
	case len(answer) > MaxAnswer:
		return backoff.Permanent(s.Fail("is larger than %d MiB", MaxAnswer>>20))
	case resp.StatusCode != http.StatusOK:
		return s.refused(resp, answer)
	}
	if err := s.decode(resp.Header.Get("Content-Type"), answer, into); err != nil {
		return backoff.Permanent(s.fail(err, "the answer of the model service at %s cannot be understood: check model.baseURL", s.Host()))
	}
	return nil
}

func (s *Service) decode(contentType string, answer []byte, into any) (err error) {
	if s.o.Joined != nil && strings.HasPrefix(contentType, "text/event-stream") {
		if answer, err = s.o.Joined(answer); err != nil {
			return err
		}
	}
	return json.Unmarshal(answer, into)
}

// maxEvent bounds one line of an event stream, in bytes.
const maxEvent = 1 << 20

// Events calls fn with the data of every event of a stream (WHATWG HTML, section
// 9.2), until fn fails. Events without data, overlong ones and the mark [DONE]
// are left out.
func Events(stream []byte, fn func(data []byte) error) error {
	for len(stream) > 0 {
		line, rest, _ := bytes.Cut(stream, []byte("\n"))
		stream = rest
		data, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r"), []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 || len(data) > maxEvent || string(data) == "[DONE]" {
			continue
		}
		if err := fn(data); err != nil {
			return err
		}
	}
	return nil
}
