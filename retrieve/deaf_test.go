// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package retrieve

import (
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// deaf is the address of a listener that accepts nobody and whose queue is full.
func deaf(t testing.TB) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		t.Cleanup(func() { syscall.Close(fd) })
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		err = syscall.Listen(fd, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(at.(*syscall.SockaddrInet4).Port))
	for range 4 {
		c, err := net.DialTimeout("tcp", addr, 20*time.Millisecond)
		if err == nil {
			t.Cleanup(func() { c.Close() })
		}
	}
	return addr
}

func TestListenerThatNeverAccepts(t *testing.T) {
	addr := deaf(t)
	start := time.Now()
	_, err := get(t, newHTTP(t, Options{Timeouts: quick}), "http://"+addr+"/p")
	want(t, err, "timeout/connect")
	if took := time.Since(start); took > quick.Connect+slack {
		t.Errorf("took %v", took)
	}
}
