// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package webtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Reply is one answer of a Service: JSON, where Header says nothing else.
type Reply struct {
	Status int
	Header map[string]string
	Body   string
}

// Asked is one request that a Service got.
type Asked struct {
	Method, Path string
	Header       http.Header
	Body         string
}

// JSON reads the body as an object; nil where it is none.
func (a Asked) JSON() map[string]any {
	var body map[string]any
	if json.Unmarshal([]byte(a.Body), &body) != nil {
		return nil
	}
	return body
}

// Service is a real HTTP server that answers with replies in turn, the last one for
// ever, and remembers what it was asked.
type Service struct {
	*httptest.Server
	replies []Reply

	mu    sync.Mutex
	asked []Asked
}

// Serve starts a Service, which ends with the test.
func Serve(t testing.TB, replies ...Reply) *Service {
	t.Helper()
	s := &Service{replies: replies}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP gives the next reply.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a client that went away is the test's affair
	s.mu.Lock()
	s.asked = append(s.asked, Asked{r.Method, r.URL.Path, r.Header.Clone(), string(body)})
	reply := s.replies[min(len(s.asked), len(s.replies))-1]
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	for name, value := range reply.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(reply.Status)
	io.WriteString(w, reply.Body)
}

// Asked gives the requests so far, oldest first.
func (s *Service) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.asked...)
}

// Last gives the newest request, the zero one where there was none.
func (s *Service) Last() Asked {
	all := s.Asked()
	if len(all) == 0 {
		return Asked{}
	}
	return all[len(all)-1]
}
