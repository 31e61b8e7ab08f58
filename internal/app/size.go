// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes.
type Size int64

// units of sizes, largest first within a family; those of two are the IEC's.
func units() []unit {
	return []unit{
		{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
		{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
	}
}

type unit struct {
	name  string
	bytes int64
}

// ParseSize reads a number of bytes with an optional unit: "50MiB", "1.5GB",
// "4096". Upper and lower case do not differ.
func ParseSize(text string) (Size, error) {
	number, factor := strings.TrimSpace(text), int64(1)
	for _, u := range units() {
		if len(number) > len(u.name) && strings.EqualFold(number[len(number)-len(u.name):], u.name) {
			number, factor = strings.TrimSpace(number[:len(number)-len(u.name)]), u.bytes
			break
		}
	}
	if strings.Trim(number, "0123456789.") != "" {
		return 0, fmt.Errorf("a size like 50MiB or 2GB expected")
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n*float64(factor) >= math.MaxInt64 {
		return 0, fmt.Errorf("a size like 50MiB or 2GB expected")
	}
	return Size(math.Round(n * float64(factor))), nil
}

// String writes the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range units() {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

// ParseDuration reads a length of time with units: "15m", "1h30m", "20ms" and,
// beyond time.ParseDuration, whole days: "7d". A bare number is refused, since
// seconds and milliseconds are both at home in configuration files; 0 is not.
func ParseDuration(text string) (time.Duration, error) {
	bad := fmt.Errorf("a duration like 20s or 15m expected")
	days, rest, found := strings.Cut(text, "d")
	if !found {
		days, rest = "0", text
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, bad
	}
	var d time.Duration
	if rest != "" {
		if d, err = time.ParseDuration(rest); err != nil || d < 0 || strings.ContainsAny(rest, "+-") {
			return 0, bad
		}
	}
	total := time.Duration(n)*24*time.Hour + d
	if total < 0 || !found && rest == "" {
		return 0, bad
	}
	return total, nil
}
