// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/cenkalti/backoff/v5"

	"github.com/dipper-web/dipper/fault"
)

const (
	// maxReason is how much of a service's own words an error repeats, in characters.
	maxReason = 300
	// overloaded is what some services answer in the place of 503; it is in no registry.
	overloaded = 529
)

// Fail makes the fault.Model of an answer that is not what was asked for; the
// format goes on after "the answer of the model service at HOST".
func (s *Service) Fail(format string, args ...any) *fault.Error {
	return s.fail(nil, "the answer of the model service at %s %s", s.Host(), fmt.Sprintf(format, args...))
}

func (s *Service) fail(err error, format string, args ...any) *fault.Error {
	f := fault.New(fault.Model, "", format, args...)
	if err != nil {
		f.Err = errors.New(s.conceal(err.Error()))
	}
	return f
}

// conceal takes the key out of text that is shown or logged.
func (s *Service) conceal(text string) string {
	if s.o.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, s.o.Key, "[key]")
}

// unreached turns the failure of a connection into a sentence with the cure.
func (s *Service) unreached(err error) error {
	why, lasting := reached(err)
	f := s.fail(err, "the model service at %s cannot be reached%s", s.Host(), why)
	if lasting {
		return backoff.Permanent(f)
	}
	return f
}

// reached says how far a connection came, and whether that will stay so.
func reached(err error) (why string, lasting bool) {
	var known *fault.Error
	var cert *tls.CertificateVerificationError
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &known):
		return ": " + known.Detail, true
	case errors.As(err, &cert):
		return ": its certificate is not trusted; name its issuer in network.cacert", true
	case errors.Is(err, http.ErrSchemeMismatch):
		return ": it does not speak TLS; check the scheme of model.baseURL", true
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return ": the proxy does not answer; check network.proxy and HTTPS_PROXY", false
	case errors.As(err, &dns) && dns.IsNotFound:
		return ": there is no such name; check model.baseURL", true
	case errors.Is(err, syscall.ECONNREFUSED):
		return ": nothing listens there", false
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ": it took too long", false
	}
	return "", false
}

// refused turns an error status into a failure, to be tried again where the
// service may recover.
func (s *Service) refused(resp *http.Response, body []byte) error {
	f := s.fail(nil, "the model service at %s answered %d%s", s.Host(), resp.StatusCode, s.reason(body))
	f.Code = resp.StatusCode
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		f.Advice = "Check the key of the model service, then call again; mode extract needs no model."
	case http.StatusNotFound:
		f.Advice = "Check model.name and model.baseURL, then call again; mode extract needs no model."
	case http.StatusProxyAuthRequired:
		f.Advice = "The proxy wants a login; the user can write it into the proxy's URL: http://user:password@host:port."
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, overloaded:
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
	const day = 24 * 3600 // seconds; a longer wait is as good as a failure
	v := h.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n > 0 {
		return time.Duration(min(n, day)) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// reason gives the service's own words about an error, harmless and without the
// key: "error" is an object with a message, or the message.
func (s *Service) reason(body []byte) string {
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
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '<' || r == '>' {
			return ' '
		}
		return r
	}, s.conceal(detail.Message))
	if r := []rune(text); len(r) > maxReason {
		text = string(r[:maxReason]) + "…"
	}
	return fmt.Sprintf(": %q", text)
}
