// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/cenkalti/backoff/v5"

	"github.com/dipper-web/dipper/fault"
)

// Limits of one call.
const (
	// maxAnswer bounds the body of an answer, in bytes: the longest text a model
	// may write is far below it.
	maxAnswer = 4 << 20
	// defaultTries is how often a call is made before it counts as failed.
	defaultTries = 3
	// firstPause is the wait before the second try; each further one doubles it.
	firstPause = 500 * time.Millisecond
	// longestPause is the longest wait that a service may ask for: the time of a
	// whole call does not allow more.
	longestPause = 20 * time.Second
	// maxCall bounds one request where the caller sets no deadline.
	maxCall = 10 * time.Minute
	// maxReason is how much of a service's own words an error repeats, in characters.
	maxReason = 300
)

// plainClient gives a copy of h that follows no redirect, so that the key is
// sent to no other place than the configured one.
func plainClient(h *http.Client) *http.Client {
	c := &http.Client{Timeout: maxCall, Transport: http.DefaultTransport}
	if h != nil {
		*c = *h
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// parseBase reads the base URL of a service.
func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(raw, "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, fault.New(fault.Invalid, "", "model.baseURL must be an http or https address without a user name, such as %s", exampleBase)
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// local reports whether a host is this machine or a literal private address.
func local(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	a = a.Unmap()
	return err == nil && (a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast())
}

// send makes one call, tries again where that may help, and decodes the answer.
// The end of ctx is returned as its cause; everything else is fault.Model.
func (c *Client) send(ctx context.Context, method, path string, body, into any) error {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return fault.Wrap(err, fault.Internal, "", "the request to the model could not be written")
		}
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval, pause.Multiplier = c.pause, longestPause, 2
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.once(ctx, method, path, raw, into) },
		backoff.WithBackOff(pause), backoff.WithMaxTries(uint(c.tries)), backoff.WithMaxElapsedTime(0))
	var failure *fault.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &failure):
		return failure
	}
	return c.fail(err, "the connection to the model service at %s failed", c.base.Host)
}

// once makes one try. What another try cannot cure is a permanent error.
func (c *Client) once(ctx context.Context, method, path string, raw []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, bytes.NewReader(raw))
	if err != nil {
		return backoff.Permanent(c.fail(err, "the request to the model service could not be made"))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	c.authorize(req.Header)
	resp, err := c.http.Do(req)
	if err != nil {
		return c.fail(err, "the model service at %s cannot be reached", c.base.Host)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return c.fail(err, "the answer of the model service at %s broke off", c.base.Host)
	case len(answer) > maxAnswer:
		return backoff.Permanent(c.fail(nil, "the answer of the model service at %s is larger than %d MiB", c.base.Host, maxAnswer>>20))
	case resp.StatusCode != http.StatusOK:
		return c.refused(resp, answer)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		answer, err = joined(answer)
	}
	if err == nil {
		err = json.Unmarshal(answer, into)
	}
	if err != nil {
		return backoff.Permanent(c.fail(err, "the answer of the model service at %s cannot be understood: check model.baseURL", c.base.Host))
	}
	return nil
}

// refused turns an error status into a failure, to be tried again where the
// service may recover.
func (c *Client) refused(resp *http.Response, body []byte) error {
	f := c.fail(nil, "the model service at %s answered %d%s", c.base.Host, resp.StatusCode, c.reason(body))
	f.Code = resp.StatusCode
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		f.Advice = "Check the key of the model service, then call again; mode extract needs no model."
	case http.StatusNotFound:
		f.Advice = "Check model.name and model.baseURL, then call again; mode extract needs no model."
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, 529:
		f.RetryAfter = retryAfter(resp.Header)
		switch {
		case f.RetryAfter > longestPause:
			return backoff.Permanent(f)
		case f.RetryAfter > 0:
			return errors.Join(f, &backoff.RetryAfterError{Duration: f.RetryAfter})
		}
		return f
	}
	return backoff.Permanent(f)
}

// retryAfter reads how long a service asks to wait, 0 where it does not say (RFC 9110, section 10.2.3).
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.Atoi(v); err == nil && s > 0 {
		return time.Duration(min(s, 24*3600)) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// reason gives the service's own words about an error, harmless and without the key.
func (c *Client) reason(body []byte) string {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	var detail struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &e) != nil {
		return ""
	}
	if json.Unmarshal(e.Error, &detail) != nil && json.Unmarshal(e.Error, &detail.Message) != nil || detail.Message == "" {
		return ""
	}
	s := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '<' || r == '>' {
			return ' '
		}
		return r
	}, c.conceal(detail.Message))
	if r := []rune(s); len(r) > maxReason {
		s = string(r[:maxReason]) + "…"
	}
	return fmt.Sprintf(": %q", s)
}

// conceal takes the key out of text that is shown or logged.
func (c *Client) conceal(s string) string {
	if c.key == "" {
		return s
	}
	return strings.ReplaceAll(s, c.key, "[key]")
}

// fail makes a failure of the model.
func (c *Client) fail(err error, format string, args ...any) *fault.Error {
	f := fault.New(fault.Model, "", format, args...)
	if err != nil {
		f.Err = errors.New(c.conceal(err.Error()))
	}
	return f
}

// maxEvent bounds one line of an event stream, in bytes.
const maxEvent = 1 << 20

// events calls fn with the data of every event of a stream (WHATWG HTML, section 9.2).
func events(body []byte, fn func(data []byte) error) error {
	for len(body) > 0 {
		l, rest, _ := bytes.Cut(body, []byte("\n"))
		body = rest
		data, ok := bytes.CutPrefix(bytes.TrimRight(l, "\r"), []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 || len(data) > maxEvent || string(data) == "[DONE]" {
			continue
		}
		if err := fn(data); err != nil {
			return err
		}
	}
	return nil
}
