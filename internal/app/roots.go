// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"crypto/x509"

	"github.com/dipper-web/dipper/fault"
)

// maxRoots bounds a file of root certificates: the largest system bundles have
// some 300 KB.
const maxRoots = 8 << 20

// loadRoots gives the system's roots with those of the files beside them, nil
// where there are no files: then the system decides alone.
func loadRoots(files []string) (*x509.CertPool, error) {
	if len(files) == 0 {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without a store of its own
	}
	for _, path := range files {
		pem, err := readBounded(path, maxRoots)
		if err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "", "network.cacert: %s cannot be read: %v", path, err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fault.New(fault.Invalid, "", "network.cacert: %s holds no certificate in PEM", path)
		}
	}
	return pool, nil
}
