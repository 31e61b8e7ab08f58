// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// Where net/http has words instead of values, this package matches words. Each is
// called forth here from net/http alone, so that a Go version with others is noticed.
func TestWordsOfNetHTTP(t *testing.T) {
	long := strings.Repeat("v", 3500) // longer, and HPACK refuses the one field
	for _, row := range []struct {
		name, text string
		h1         string
		h2         func(p *peer, id uint32)
	}{
		{"header of HTTP/1", saysHeaders, page("200 OK", pageText, "X-A: "+long, "X-B: "+long, "X-C: "+long), nil},
		{"header of HTTP/2", saysHeaders2, "", func(p *peer, id uint32) {
			_ = p.headers(id, true, ":status", "200", "x-a", long, "x-b", long, "x-c", long)
		}},
		{"broken HTTP/2", saysConn2, "", func(p *peer, id uint32) { _ = p.WriteContinuation(id, true, nil) }},
		{"broken HTTP/2 in the body", saysConn2, "", func(p *peer, id uint32) {
			_ = p.headers(id, false, ":status", "200")
			_ = p.WriteContinuation(id, true, nil)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			play, alpn := says(row.h1), "http/1.1"
			if row.h2 != nil {
				play, alpn = h2Server(row.h2), "h2"
			}
			_, h := site(t, play, []string{alpn}, Options{Limits: Limits{HeaderBytes: 8 << 10}}, "words.example")
			if err := bare(t, h); err == nil || !strings.Contains(err.Error(), row.text) {
				t.Errorf("%v does not say %q", err, row.text)
			}
		})
	}
}

// net/http has HTTP/2 inside, and gives its stream errors the type of x/net on asking.
func TestStreamErrorsOfNetHTTP(t *testing.T) {
	_, h := site(t, h2Server(func(p *peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeInternal) }), []string{"h2"}, Options{}, "words.example")
	var stream http2.StreamError
	if err := bare(t, h); !errors.As(err, &stream) || stream.Code != http2.ErrCodeInternal {
		t.Errorf("got %v", err)
	}
}

// bare asks a place with its transport alone and reads the answer.
func bare(t *testing.T, h *HTTP) error {
	t.Helper()
	p, err := h.judge(t.Context(), target(t, "https://words.example/"))
	want(t, err, "")
	tr := h.transport(p)
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(h.request(t.Context(), Request{}, p))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
