// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxAgent is more than any program calls itself, and keeps one header small.
const maxAgent = 256

// place is where a text was written: relative file names are seen from base,
// and ~ is home.
type place struct {
	base, home string
	// inFile: base is the folder of the configuration file itself, so a list
	// file may stand beside it under a bare name. Elsewhere base is the working
	// folder, where a stranger's file must not turn a host into a list.
	inFile bool
	// strange: the text is not the user's own, so an error never repeats any of it:
	// it may end up in front of a model.
	strange bool
}

// scalar reads one value from its text. The error is a sentence that says what
// was expected.
func (p place) scalar(t reflect.Type, tag reflect.StructTag, text string) (reflect.Value, error) {
	v, err := p.parse(t, tag, text)
	if err != nil {
		return reflect.Value{}, err
	}
	return reflect.ValueOf(v).Convert(t), nil
}

func (p place) parse(t reflect.Type, tag reflect.StructTag, text string) (any, error) {
	switch reflect.Zero(t).Interface().(type) {
	case bool:
		return parseBool(text)
	case int:
		n, err := strconv.Atoi(text)
		return n, bounded(err == nil, int64(n), wholeBounds(t, tag), "a whole number")
	case float64:
		n, err := strconv.ParseFloat(text, 64)
		b := wholeBounds(t, tag)
		if err != nil || math.IsNaN(n) || n < float64(b.low) || n > float64(b.high) {
			return 0, fmt.Errorf("a number from %d to %d expected", b.low, b.high)
		}
		return n, nil
	case time.Duration:
		d, err := ParseDuration(text)
		if err != nil {
			return d, err
		}
		return d, bounded(true, int64(d), bounds{parsed(ParseDuration, tag.Get("min"), 0), parsed(ParseDuration, tag.Get("max"), math.MaxInt64), shortDuration}, "a duration")
	case Size:
		n, err := ParseSize(text)
		if err != nil {
			return n, err
		}
		return n, bounded(true, int64(n), bounds{parsed(ParseSize, tag.Get("min"), 0), parsed(ParseSize, tag.Get("max"), math.MaxInt64), func(n int64) string { return Size(n).String() }}, "a size")
	case netip.Prefix:
		return parseRange(text)
	}
	return p.form(tag, text)
}

func parseBool(text string) (bool, error) {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, errors.New("true or false expected")
	}
	return b, nil
}

// bounds are inclusive; write puts a bound into words.
type bounds struct {
	low, high int64
	write     func(int64) string
}

// wholeBounds reads min and max of a number. The entries of a list of whole
// numbers are ports: min is then the least number of entries.
func wholeBounds(t reflect.Type, tag reflect.StructTag) bounds {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	if t.Kind() == reflect.Int && tag.Get("max") == "" {
		return bounds{1, math.MaxUint16, number}
	}
	whole := func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
	return bounds{parsed(whole, tag.Get("min"), math.MinInt64), parsed(whole, tag.Get("max"), math.MaxInt64), number}
}

func parsed[T ~int64](parse func(string) (T, error), text string, missing int64) int64 {
	if n, err := parse(text); text != "" && err == nil {
		return int64(n)
	}
	return missing
}

func bounded(ok bool, n int64, b bounds, what string) error {
	if ok && n >= b.low && n <= b.high {
		return nil
	}
	if b.low == math.MinInt64 || b.high == math.MaxInt64 {
		return fmt.Errorf("%s of at least %s expected", what, b.write(b.low))
	}
	return fmt.Errorf("%s from %s to %s expected", what, b.write(b.low), b.write(b.high))
}

// parseRange reads a CIDR range, or one address as a range of its own. An IPv4
// range written inside IPv6 is the IPv4 range: no judged address would match
// the other spelling.
func parseRange(text string) (netip.Prefix, error) {
	bad := errors.New("a range of addresses like 127.0.0.0/8 expected")
	if !strings.Contains(text, "/") {
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
			return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
		}
		return netip.Prefix{}, bad
	}
	r, err := netip.ParsePrefix(text)
	if err != nil {
		return r, bad
	}
	if r.Addr().Is4In6() {
		if r.Bits() < 96 {
			return r, bad
		}
		r = netip.PrefixFrom(r.Addr().Unmap(), r.Bits()-96)
	}
	return r.Masked(), nil
}

// form checks and normalises a text. An empty one stands for the default, so
// it is refused where the default is not empty, and as an entry of a list.
func (p place) form(tag reflect.StructTag, text string) (string, error) {
	if words := strings.Fields(tag.Get("one")); len(words) > 0 {
		return oneOf(words, tag.Get("def") == "", text)
	}
	if text == "" && tag.Get("def") == "" {
		return "", nil
	}
	switch tag.Get("is") {
	case "body":
		return text, without(text, func(r rune) bool { return r == 0 }, "a text without a zero byte")
	case "word":
		return text, without(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == ',' }, "one word")
	case "token":
		return text, without(text, func(r rune) bool { return r <= ' ' || r > '~' }, "visible ASCII characters without blanks")
	case "agent":
		return agent(text)
	case "url":
		return webURL(text)
	case "proxy":
		return proxyURL(text)
	case "listen":
		return listenAddr(text)
	case "host":
		return hostName(text)
	case "store":
		return storeName(text)
	case "rules":
		if !p.inFile && !filepath.IsAbs(text) && !strings.HasPrefix(text, "~/") {
			return "", errors.New("an absolute name expected, since a relative one could be any project's")
		}
		return p.file(text)
	case "file":
		return p.file(text)
	case "block":
		return p.block(text)
	}
	return plain(text)
}

func oneOf(words []string, empty bool, text string) (string, error) {
	if slices.Contains(words, text) || text == "" && empty {
		return text, nil
	}
	return "", fmt.Errorf("one of %s expected", strings.Join(words, ", "))
}

// without gives an error where any rune of the text is a bad one.
func without(text string, bad func(rune) bool, expected string) error {
	if text == "" && expected == "one word" || strings.ContainsFunc(text, bad) {
		return errors.New(expected + " expected")
	}
	return nil
}

func plain(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", errors.New("a text that is not blank expected")
	}
	return text, without(text, unicode.IsControl, "a text without control characters")
}

func agent(text string) (string, error) {
	expected := "a product like Dipper/1.0 in visible ASCII"
	if len(text) > maxAgent || strings.HasPrefix(text, " ") || strings.HasSuffix(text, " ") {
		return "", errors.New(expected + " expected")
	}
	return text, without(text, func(r rune) bool { return r < ' ' || r > '~' }, expected)
}

// webURL takes http and https addresses of suppliers. No rule of fetches
// applies to them: the user names them.
func webURL(text string) (string, error) {
	if _, ok := address(text, "http", "https"); !ok {
		return "", errors.New("a URL like https://host/path expected")
	}
	return text, nil
}

// address parses a URL of one of the schemes with a host, a good port or none,
// and no fragment.
func address(text string, schemes ...string) (*url.URL, bool) {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" || u.Fragment != "" || !goodPort(u.Port(), u.Host, 1) {
		return nil, false
	}
	return u, true
}

// proxyURL takes "off" and, as curl does, an address without a scheme.
func proxyURL(text string) (string, error) {
	if text == "off" {
		return text, nil
	}
	full := text
	if !strings.Contains(text, "://") {
		full = "http://" + text
	}
	u, ok := address(full, "http", "https", "socks5", "socks5h")
	if !ok || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", errors.New("off or a proxy like http://host:3128 expected (http, https or socks5)")
	}
	return full, nil
}

// goodPort takes no port at all where host does not end in a colon.
func goodPort(port, host string, least int) bool {
	if port == "" {
		return !strings.HasSuffix(host, ":")
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= least && n <= math.MaxUint16 && port[0] != '+'
}

func listenAddr(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil || port == "" || !goodPort(port, host, 0) || strings.ContainsFunc(host, unicode.IsSpace) {
		return "", errors.New("an address like 127.0.0.1:7788 expected")
	}
	return text, nil
}

func hostName(text string) (string, error) {
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return a.String(), nil
	}
	h, err := asciiHost(text)
	if err != nil {
		return "", errors.New("a host name like dipper.example.org expected")
	}
	return h, nil
}

func storeName(text string) (string, error) {
	if text == "mem" || text == "sqlite" {
		return text, nil
	}
	if _, ok := address(text, "redis", "rediss"); !ok {
		return "", errors.New("mem, sqlite or redis://host:port/db expected")
	}
	return text, nil
}

// block takes a host pattern as it is and makes the name of a list file
// absolute, which is how the two are told apart from here on. A file has a
// separator in its name, or stands beside the configuration file.
func (p place) block(text string) (string, error) {
	name, reason, explained := strings.Cut(text, " # ")
	isFile := strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, "~")
	if !isFile && p.inFile {
		info, err := os.Stat(filepath.Join(p.base, name))
		isFile = err == nil && info.Mode().IsRegular()
	}
	if !isFile {
		return plain(text)
	}
	name, err := p.file(strings.TrimSpace(name))
	if explained {
		name += " # " + reason
	}
	return name, err
}

// listFile gives the file that a checked entry of preflight.block names.
func listFile(entry string) (name string, ok bool) {
	name, _, _ = strings.Cut(entry, " # ")
	return name, filepath.IsAbs(name)
}

func (p place) file(text string) (string, error) {
	if _, err := plain(text); err != nil {
		return "", errors.New("the name of a file expected")
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok && p.home != "" {
		return filepath.Join(p.home, rest), nil
	}
	if filepath.IsAbs(text) || p.base == "" {
		return text, nil
	}
	return filepath.Join(p.base, text), nil
}
