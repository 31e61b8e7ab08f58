// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/internal/guard"
)

// authority is an issuer of a test's own.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t testing.TB) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{key, cert}
}

func (a authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// config is a server's, with a certificate for names that is good until end.
func (a authority) config(t testing.TB, end time.Time, names ...string) *tls.Config {
	t.Helper()
	form := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Test server"},
		NotBefore: time.Now().Add(-47 * time.Hour), NotAfter: end, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			form.IPAddresses = append(form.IPAddresses, ip)
		} else {
			form.DNSNames = append(form.DNSNames, n)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, form, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// tomorrow is the end of a certificate that is good.
func tomorrow() time.Time { return time.Now().Add(24 * time.Hour) }

// secure plays each connection after a TLS handshake.
func secure(c *tls.Config, play func(*tcp, net.Conn, int)) func(*tcp, net.Conn, int) {
	return func(s *tcp, raw net.Conn, n int) {
		conn := tls.Server(raw, c)
		if conn.Handshake() == nil {
			play(s, conn, n)
			conn.Close()
		}
	}
}

func TestTrust(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	old := ours.config(t, tomorrow(), "127.0.0.1")
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS10
	for _, row := range []struct {
		name   string
		config *tls.Config
		fails  string
		says   string // in the advice or the sentence
	}{
		{"good", ours.config(t, tomorrow(), "127.0.0.1"), "", ""},
		{"expired", ours.config(t, time.Now().Add(-24*time.Hour), "127.0.0.1"), "unreachable/tls", "expired"},
		{"wrong name", ours.config(t, tomorrow(), "other.example"), "unreachable/tls", "name"},
		{"unknown issuer", theirs.config(t, tomorrow(), "127.0.0.1"), "unreachable/tls", "--cacert"},
		{"TLS 1.0 only", old, "unreachable/tls", "1.2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := listen(t, secure(row.config, says(page("200 OK", pageText))))
			p, err := get(t, newHTTP(t, Options{Roots: ours.pool()}), "https"+strings.TrimPrefix(s.url, "http")+"/p")
			want(t, err, row.fails)
			if row.fails == "" {
				if string(p.Body) != pageText {
					t.Errorf("body %q", p.Body)
				}
				return
			}
			var f *fault.Error
			if errors.As(err, &f); !strings.Contains(f.Detail+f.Advice, row.says) {
				t.Errorf("%q %q does not say %q", f.Detail, f.Advice, row.says)
			}
			if s.asked.Load() != 0 {
				t.Error("a request was sent")
			}
		})
	}
}

func TestNoTLS(t *testing.T) {
	for _, row := range []struct {
		name  string
		play  func(*tcp, net.Conn, int)
		fails string
	}{
		{"plain HTTP", func(s *tcp, c net.Conn, _ int) { s.put(c, page("400 Bad Request", "plain HTTP here")); silent(c) }, "unreachable/tls"},
		{"closed", func(*tcp, net.Conn, int) {}, "unreachable/reset"},
		{"silence", func(_ *tcp, c net.Conn, _ int) { silent(c) }, "timeout/connect"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := listen(t, row.play)
			_, err := get(t, newHTTP(t, Options{Timeouts: quick}), "https"+strings.TrimPrefix(s.url, "http")+"/p")
			want(t, err, row.fails)
		})
	}
}

// TLS 1.2 lets a server ask to begin anew; nobody is answered but the first handshake.
func TestRenegotiationIsRefused(t *testing.T) {
	a := newAuthority(t)
	c := a.config(t, tomorrow(), "127.0.0.1")
	c.MaxVersion = tls.VersionTLS12
	s := listen(t, secure(c, func(s *tcp, c net.Conn, _ int) {
		s.head(bufio.NewReader(c))
		// A HelloRequest (RFC 5246 section 7.4.1.1) outside of the encryption.
		_, _ = c.(*tls.Conn).NetConn().Write([]byte{22, 3, 3, 0, 4, 0, 0, 0, 0})
		silent(c)
	}))
	_, err := get(t, newHTTP(t, Options{Roots: a.pool(), Timeouts: quick}), "https"+strings.TrimPrefix(s.url, "http")+"/p")
	if !errors.Is(err, fault.Unreachable) {
		t.Errorf("got %v", err)
	}
}

// site serves play over TLS on loopback for the names of example.
func site(t testing.TB, play func(*tcp, net.Conn, int), alpn []string, o Options, hosts ...string) (*tcp, *HTTP) {
	t.Helper()
	a := newAuthority(t)
	c := a.config(t, tomorrow(), hosts...)
	c.NextProtos = alpn
	s := listen(t, secure(c, play))
	declared := map[string]string{}
	for _, host := range hosts {
		declared[host+":443"] = s.Addr().String()
	}
	o.Guard = newGuard(t, guard.Options{Resolve: declared})
	o.Roots = a.pool()
	return s, newHTTP(t, o)
}

func answerAll(answer string) func(*tcp, net.Conn, int) {
	return func(s *tcp, c net.Conn, _ int) {
		br := bufio.NewReader(c)
		for s.head(br) != "" {
			s.put(c, answer)
		}
		_, _ = io.Copy(io.Discard, br)
	}
}
