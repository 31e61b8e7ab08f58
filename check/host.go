// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Sizes of a name, RFC 1035 section 2.3.4: 63 octets a label, 255 on the wire,
// which leaves 253 for the text.
const (
	maxLabel = 63
	maxName  = 253
)

// host is the host of a URL in its one normal form.
type host struct {
	name string     // ASCII, lower case, no brackets, no trailing dot
	addr netip.Addr // valid when the host is an address
	odd  bool       // a name that does not look like a domain
}

// domainProfile maps a domain as browsers do: WHATWG URL, "domain to ASCII",
// with UTS 46 in its non-transitional form, beStrict false.
var domainProfile = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.BidiRule(),
	idna.CheckJoiners(true),
	idna.CheckHyphens(false),
	idna.StrictDomainName(false),
	idna.VerifyDNSLength(false),
)

// parseHost is the host parser of the WHATWG URL Standard for special schemes,
// narrowed to hosts that can be dialled: an address, or a name of letters,
// digits, hyphens and underscores.
func parseHost(raw string) (host, error) {
	if strings.HasPrefix(raw, "[") {
		return parseIPv6(raw)
	}
	decoded := decode(raw)
	if !utf8.ValidString(decoded) {
		return host{}, errors.New("the host name is not valid UTF-8")
	}
	name, err := domainProfile.ToASCII(decoded)
	if err != nil {
		return host{}, fmt.Errorf("the host %s is not a valid domain name", quote(decoded))
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if endsInNumber(name) {
		return parseIPv4(name)
	}
	odd, err := checkName(name)
	return host{name: name, odd: odd}, err
}

// parseIPv6 reads the bracketed form. Zone identifiers are not part of a web
// URL (WHATWG URL, "IPv6 parser"), and a page has no business naming one.
func parseIPv6(raw string) (host, error) {
	inner, closed := strings.CutSuffix(raw[1:], "]")
	a, err := netip.ParseAddr(inner)
	if !closed || err != nil || !a.Is6() || a.Zone() != "" {
		return host{}, fmt.Errorf("%s is not an IPv6 address", quote(raw))
	}
	name := a.String()
	if a.Is4In6() { // the standard writes hex where netip writes dots
		b := a.As16()
		name = fmt.Sprintf("::ffff:%x:%x", uint16(b[12])<<8|uint16(b[13]), uint16(b[14])<<8|uint16(b[15]))
	}
	return host{name: name, addr: a}, nil
}

// endsInNumber is the "ends in a number checker": when it says yes, the host is
// an IPv4 address or nothing, never a name for a resolver to guess at.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" {
		return false
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	digits, hex := strings.CutPrefix(last, "0x")
	return hex && strings.Trim(digits, "0123456789abcdef") == ""
}

// parseIPv4 is the "IPv4 parser": one to four numbers, decimal, octal after 0 or
// hexadecimal after 0x; the last one fills the bytes that are left.
func parseIPv4(name string) (host, error) {
	bad := fmt.Errorf("%s is not an IPv4 address", quote(name))
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return host{}, bad
	}
	var sum uint64
	for i, part := range parts {
		n, ok := parseIPv4Number(part)
		room, shift := 8, 24-8*i // bits that the part may fill, and where
		if i == len(parts)-1 {
			room, shift = 8*(4-i), 0
		}
		if !ok || n >= 1<<room {
			return host{}, bad
		}
		sum |= n << shift
	}
	a := netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	return host{name: a.String(), addr: a}, nil
}

// parseIPv4Number reads one part. "0x" alone is zero, as the standard has it.
func parseIPv4Number(s string) (uint64, bool) {
	base := 10
	switch {
	case s == "" || strings.Trim(s, "0123456789abcdefx") != "":
		return 0, false
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

// checkName refuses what no resolver should see, and reports names that no
// registry would hand out (a label of hyphens alone).
func checkName(name string) (odd bool, err error) {
	if len(name) > maxName {
		return false, fmt.Errorf("the host name has %d characters; at most %d are possible", len(name), maxName)
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return false, fmt.Errorf("the host %s has an empty part between its dots", quote(name))
		case len(label) > maxLabel:
			return false, fmt.Errorf("a part of the host name has %d characters; at most %d are possible", len(label), maxLabel)
		case strings.ContainsFunc(label, notInName):
			return false, fmt.Errorf("the host %s contains a character that no domain name has", quote(name))
		case strings.Trim(label, "-") == "":
			odd = true
		}
	}
	return odd, nil
}

func notInName(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}
