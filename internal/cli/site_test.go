// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
)

// site is the other side of the tests: a web site on loopback, once with and
// once without TLS. Below /at/ are pages that no file can be.
type site struct{ plain, secure *httptest.Server }

func newSite(folder string) *site {
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(folder)))
	mux.HandleFunc("/at/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/at/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/new", http.StatusFound)
	})
	mux.HandleFunc("/at/picture", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		io.WriteString(w, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"+strings.Repeat("\x00\x01", 50))
	})
	mux.HandleFunc("/at/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, "the reason is \x1b[31mred\x1b]0;title\x07 today\n")
	})
	mux.HandleFunc("/at/terminal", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<title>A \x1b[31mred\x1b[0m title</title><main><h1>Head\x1b[2Jline</h1><p>Words \x1b]0;owned\x07 and \u202emore words\u202c of a page that wants to steer a terminal.</p></main>")
	})
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"object":"list","data":[{"id":"scripted","object":"model"}]}`)
	})
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"model": "scripted", "object": "chat.completion",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": "Ships leave at dawn, says the model."}}},
			"usage":   map[string]int{"prompt_tokens": 100, "completion_tokens": 8}})
	})
	s := &site{plain: httptest.NewServer(mux), secure: httptest.NewUnstartedServer(mux)}
	s.secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.secure.StartTLS()
	return s
}

func (s *site) close() {
	for _, server := range []*httptest.Server{s.plain, s.secure} {
		server.CloseClientConnections() // pages that hang wait for their clients
		server.Close()
	}
}

// certificate is the issuer of the TLS side, whose names include example.com.
func (s *site) certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.secure.Certificate().Raw})
}

func (s *site) tlsPort() string {
	_, port, err := net.SplitHostPort(s.secure.Listener.Addr().String())
	if err != nil {
		panic(err) // the address of a listener always has a port
	}
	return port
}
