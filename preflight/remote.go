// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dipper-web/dipper/fault"
)

const (
	// remoteDeadline is the time the service has. It answers from memory or not
	// at all, and the page has to be read in the rest of a minute.
	remoteDeadline = 10 * time.Second
	// maxRemoteAnswer bounds an answer that holds a name and a truth value.
	maxRemoteAnswer = 64 << 10
	// clearedFor and clearedHosts bound what Cached keeps: long enough for the
	// pages of one piece of work, short enough for a host that was taken over.
	clearedFor   = 5 * time.Minute
	clearedHosts = 128
)

const remoteAdvice = "Try once more later, or use another source. It was the check that failed, not the site; " +
	"the setting preflight.skip: true turns the remote check off."

type remote struct {
	endpoint string
	client   *http.Client
}

// NewRemote gives the Checker that asks a service about the host of a page, and
// about nothing else: GET endpoint?domain=HOST. The service answers 200 with
// {"domain": HOST, "can_fetch": true|false}. False is blocked/remote; every
// other answer, and none within 10 s, is unverified/remote. Redirects are not
// followed. A nil client is a plain one.
func NewRemote(endpoint string, client *http.Client) Checker {
	own := http.Client{}
	if client != nil {
		own = *client
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	own.Jar = nil
	return &remote{endpoint: endpoint, client: &own}
}

func (r *remote) Check(ctx context.Context, a Ask) (Clearance, error) {
	host := a.Target.Host()
	if a.Kept {
		return Clearance{Reason: "the preflight service was asked when the page was fetched", By: "remote", At: time.Now()}, nil
	}
	may, err := r.ask(ctx, host)
	if err != nil {
		return Clearance{}, err
	}
	if !may {
		return Clearance{}, fault.New(fault.Blocked, fault.ByRemote, "the preflight service says that %s may not be read", host)
	}
	return Clearance{Reason: "the preflight service allows the host", By: "remote", At: time.Now()}, nil
}

func (r *remote) ask(ctx context.Context, host string) (bool, error) {
	ours, cancel := context.WithTimeout(ctx, remoteDeadline)
	defer cancel()
	unsure := func(err error, what string) *fault.Error {
		e := unverified(ctx, err, fault.ByRemote, "whether %s may be read could not be found out: the preflight service %s", host, what)
		if e.Kind == fault.Unverified {
			e.Advice = remoteAdvice
		}
		return e
	}
	req, err := r.request(ours, host)
	if err != nil {
		return false, unsure(err, "has no usable address (preflight.url)")
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return false, unsure(err, "did not answer")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		e := unsure(nil, "answered "+resp.Status)
		e.Code = resp.StatusCode
		return false, e
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRemoteAnswer+1))
	switch {
	case err != nil:
		return false, unsure(err, "broke off its answer")
	case len(body) > maxRemoteAnswer:
		return false, unsure(nil, "gave an answer of more than 64 KiB")
	}
	var answer struct {
		Domain   *string `json:"domain"`
		CanFetch *bool   `json:"can_fetch"`
	}
	switch err := json.Unmarshal(body, &answer); {
	case err != nil:
		return false, unsure(err, "gave an answer that is not the JSON expected")
	case answer.Domain == nil || answer.CanFetch == nil:
		return false, unsure(nil, "left domain or can_fetch out of its answer")
	case !strings.EqualFold(strings.TrimSuffix(*answer.Domain, "."), host):
		return false, unsure(nil, "answered about another host")
	}
	return *answer.CanFetch, nil
}

func (r *remote) request(ctx context.Context, host string) (*http.Request, error) {
	u, err := url.Parse(r.endpoint)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	q.Set("domain", host)
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "Dipper")
	return req, nil
}

type cached struct {
	inner Checker
	hosts shelf[Clearance]
	out   flights[Clearance]
}

// Cached keeps the clearances of a Checker that judges hosts as wholes: for 5
// minutes, of at most 128 hosts, the oldest going first. What is blocked or
// unverified is asked again each time. Calls about one host at the same moment
// share one question.
func Cached(c Checker) Checker {
	return &cached{inner: c, hosts: shelf[Clearance]{age: clearedFor, maxCount: clearedHosts}}
}

func (c *cached) Check(ctx context.Context, a Ask) (Clearance, error) {
	host := a.Target.Host()
	if got, ok := c.hosts.get(host); ok {
		return got, nil
	}
	if a.Kept {
		return c.inner.Check(ctx, a) // nobody is asked, so there is nothing to keep
	}
	got, err := c.out.do(ctx, host, remoteDeadline, func(ctx context.Context) (Clearance, error) {
		got, err := c.inner.Check(ctx, a)
		if err == nil {
			c.hosts.put(host, got, 0)
		}
		return got, err
	})
	if err != nil && fault.From(err).Kind != fault.Blocked && fault.From(err).Kind != fault.Unverified {
		e := unverified(ctx, err, fault.ByRemote, "whether %s may be read could not be found out in time", host)
		if e.Kind == fault.Unverified {
			e.Advice = remoteAdvice
		}
		return Clearance{}, e
	}
	return got, err
}
