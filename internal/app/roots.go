// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"os"
	"slices"

	"github.com/dipper-web/dipper/fault"
)

// maxRoots bounds a file of root certificates: the largest system bundles have
// some 300 KB.
const maxRoots = 8 << 20

// roots are the issuers that are trusted.
type roots struct {
	pool   *x509.CertPool // nil: the system decides alone
	digest string         // of the files beside the system's, whatever their names and order; empty: none
}

// loadRoots gives the system's roots with those of the files beside them. A file
// that cannot be read, or holds no certificate, is fault.Invalid.
func loadRoots(files []string) (roots, error) {
	if len(files) == 0 {
		return roots{}, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without a store of its own
	}
	var sums [][]byte
	for _, path := range files {
		pem, err := readBounded(path, maxRoots)
		if err != nil {
			return roots{}, fault.Wrap(err, fault.Invalid, "", "network.cacert: %s cannot be read: %v", path, plainly(err))
		}
		if !pool.AppendCertsFromPEM(pem) {
			return roots{}, fault.New(fault.Invalid, "", "network.cacert: %s holds no certificate in PEM", path)
		}
		sum := sha256.Sum256(pem)
		sums = append(sums, sum[:])
	}
	slices.SortFunc(sums, bytes.Compare)
	return roots{pool, hex.EncodeToString(bytes.Join(slices.CompactFunc(sums, bytes.Equal), nil))}, nil
}

// unreadable reports whether a file is named and cannot be opened.
func unreadable(path string) bool {
	if path == "" {
		return false
	}
	f, err := os.Open(path)
	if err == nil {
		f.Close()
	}
	return err != nil
}
