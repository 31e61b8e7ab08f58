// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package webtest

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Web is a small false web: one server for http and one for https on loopback,
// which answer for any number of names. Resolve leads the names to them.
type Web struct {
	plain, secure string // host:port of the two servers
	roots         *x509.CertPool

	mu    sync.Mutex
	pages map[string]http.Handler // by URL without query and fragment
	hosts map[string]bool         // host:port, as a request names it
	asked []string
}

// NewWeb starts a web without pages. It ends with the test.
func NewWeb(t testing.TB) *Web {
	t.Helper()
	w := &Web{pages: map[string]http.Handler{}, hosts: map[string]bool{}}
	issuer := newIssuer(t)
	w.roots = issuer.pool
	w.plain = w.serve(t, "http", nil)
	w.secure = w.serve(t, "https", &tls.Config{GetCertificate: issuer.certificate, NextProtos: []string{"h2", "http/1.1"}})
	return w
}

// serve starts one server and gives its address.
func (w *Web) serve(t testing.TB, scheme string, secure *tls.Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{
		Handler:           http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.answer(scheme, rw, r) }),
		TLSConfig:         secure,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // clients that hang up are part of the tests
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if secure != nil {
			s.ServeTLS(l, "", "")
		} else {
			s.Serve(l)
		}
	}()
	t.Cleanup(func() { s.Close(); <-ended })
	return l.Addr().String()
}

// Handle lets h answer for a URL; a path that ends in a slash answers for all
// below it as well. Later calls replace earlier ones.
func (w *Web) Handle(rawURL string, h http.Handler) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		panic("webtest: not a URL: " + rawURL)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[u.Scheme+"://"+u.Host+u.EscapedPath()] = h
	w.hosts[net.JoinHostPort(u.Hostname(), port)+" "+u.Scheme] = true
}

// Resolve gives the declared names, as guard.Options.Resolve has them.
func (w *Web) Resolve() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]string{}
	for h := range w.hosts {
		name, scheme, _ := strings.Cut(h, " ")
		out[name] = w.plain
		if scheme == "https" {
			out[name] = w.secure
		}
	}
	return out
}

// Roots are the issuers of the web's certificates.
func (w *Web) Roots() *x509.CertPool { return w.roots }

// Asked gives the requests since the last call, as URLs in the order of arrival.
// A conditional one has " if changed" behind it.
func (w *Web) Asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.asked
	w.asked = nil
	return out
}

func (w *Web) answer(scheme string, rw http.ResponseWriter, r *http.Request) {
	at := scheme + "://" + r.Host + r.URL.EscapedPath()
	line := scheme + "://" + r.Host + r.URL.RequestURI()
	if r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "" {
		line += " if changed"
	}
	w.mu.Lock()
	w.asked = append(w.asked, line)
	h := w.find(at)
	w.mu.Unlock()
	if h == nil {
		rw.Header().Set("Content-Type", "text/plain")
		rw.WriteHeader(http.StatusNotFound)
		fmt.Fprintln(rw, "no such page in this web")
		return
	}
	h.ServeHTTP(rw, r)
}

// find gives the page of a URL, or of the nearest folder above it.
func (w *Web) find(at string) http.Handler {
	if h, ok := w.pages[at]; ok {
		return h
	}
	for i := strings.LastIndexByte(at, '/'); i > len("https://"); i = strings.LastIndexByte(at[:i], '/') {
		if h, ok := w.pages[at[:i+1]]; ok && i+1 < len(at) && !isRoot(at[:i+1]) {
			return h
		}
	}
	return nil
}

// isRoot reports whether a URL is that of a host's front page, which answers for
// itself alone.
func isRoot(at string) bool { return strings.Count(at, "/") == 3 }
