// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"strconv"
	"strings"
)

// colour is an RGB colour, as far as it is known.
type colour struct {
	r, g, b uint8
	alpha   float64
	known   bool
}

var (
	black = colour{0, 0, 0, 1, true}
	white = colour{255, 255, 255, 1, true}
)

// near reports whether two known colours cannot be told apart.
func (c colour) near(o colour) bool {
	return c.known && o.known && o.alpha > 0.9 &&
		distance(c.r, o.r) <= closest && distance(c.g, o.g) <= closest && distance(c.b, o.b) <= closest
}

func distance(a, b uint8) int {
	if a > b {
		return int(a - b)
	}
	return int(b - a)
}

// background finds the colour in a background shorthand. An image leaves the
// colour unknown; a transparent one shows what is behind.
func background(v string, behind colour) colour {
	if strings.Contains(v, "url(") || strings.Contains(v, "gradient") || strings.Contains(v, "var(") {
		return colour{}
	}
	if v == "none" || v == "inherit" || v == "initial" {
		return behind
	}
	if c := parseColour(v); c.known {
		return c.over(behind)
	}
	for _, w := range strings.Fields(v) {
		if c := parseColour(w); c.known {
			return c.over(behind)
		}
	}
	return behind
}

func (c colour) over(behind colour) colour {
	switch {
	case c.alpha < faintest:
		return behind
	case c.alpha < 0.9:
		return colour{}
	}
	return c
}

// parseColour reads the colour forms of CSS that pages use; others are unknown.
func parseColour(v string) colour {
	v = strings.TrimSpace(v)
	if hex, ok := strings.CutPrefix(v, "#"); ok {
		return hexColour(hex)
	}
	if name, args, ok := strings.Cut(v, "("); ok && (name == "rgb" || name == "rgba") {
		return rgbColour(strings.TrimSuffix(args, ")"))
	} else if ok && (name == "hsl" || name == "hsla") {
		return hslColour(strings.TrimSuffix(args, ")"))
	}
	switch v {
	case "transparent":
		return colour{known: true}
	case "white":
		return white
	case "black":
		return black
	case "snow":
		return colour{255, 250, 250, 1, true}
	case "whitesmoke":
		return colour{245, 245, 245, 1, true}
	case "ghostwhite":
		return colour{248, 248, 255, 1, true}
	case "ivory":
		return colour{255, 255, 240, 1, true}
	case "red":
		return colour{255, 0, 0, 1, true}
	case "blue":
		return colour{0, 0, 255, 1, true}
	case "green":
		return colour{0, 128, 0, 1, true}
	case "gray", "grey":
		return colour{128, 128, 128, 1, true}
	case "yellow":
		return colour{255, 255, 0, 1, true}
	case "silver":
		return colour{192, 192, 192, 1, true}
	case "navy":
		return colour{0, 0, 128, 1, true}
	}
	return colour{}
}

func hexColour(h string) colour {
	if len(h) == 3 || len(h) == 4 {
		var long []byte
		for i := range len(h) {
			long = append(long, h[i], h[i])
		}
		h = string(long)
	}
	n, err := strconv.ParseUint(h, 16, 64)
	switch {
	case err != nil:
		return colour{}
	case len(h) == 6:
		return colour{uint8(n >> 16), uint8(n >> 8), uint8(n), 1, true}
	case len(h) == 8:
		return colour{uint8(n >> 24), uint8(n >> 16), uint8(n >> 8), float64(n&0xff) / 255, true}
	}
	return colour{}
}

func fields(args string) []string {
	return strings.FieldsFunc(args, func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
}

func rgbColour(args string) colour {
	f := fields(args)
	if len(f) < 3 {
		return colour{}
	}
	var ch [3]uint8
	for i := range 3 {
		x, ok := number(f[i])
		if strings.HasSuffix(f[i], "%") {
			x *= 255
		}
		if !ok {
			return colour{}
		}
		ch[i] = uint8(max(0, min(255, x)))
	}
	return colour{ch[0], ch[1], ch[2], alpha(f), true}
}

// hslColour tells only light, dark and clear apart; hues stay unknown.
func hslColour(args string) colour {
	f := fields(args)
	if len(f) < 3 {
		return colour{}
	}
	c := colour{alpha: alpha(f)}
	switch l, ok := number(f[2]); {
	case ok && l >= 0.98:
		c.r, c.g, c.b, c.known = 255, 255, 255, true
	case ok && l <= 0.02:
		c.known = true
	case c.alpha < faintest:
		c.known = true
	}
	return c
}

func alpha(f []string) float64 {
	if len(f) < 4 {
		return 1
	}
	if a, ok := number(f[3]); ok {
		return a
	}
	return 1
}

// length reads a CSS length in px. Percentages are not lengths here.
func length(v string, em float64) (float64, bool) {
	v = strings.TrimSpace(v)
	cut := len(v)
	for cut > 0 && (v[cut-1] < '0' || v[cut-1] > '9') && v[cut-1] != '.' {
		cut--
	}
	f, err := strconv.ParseFloat(v[:cut], 64)
	if err != nil {
		return 0, false
	}
	switch v[cut:] {
	case "", "px":
		return f, true
	case "em", "ex", "ch":
		return f * em, true
	case "rem":
		return f * 16, true
	case "pt":
		return f * 4 / 3, true
	case "vw", "vh", "vmin", "vmax":
		return f * 10, true
	case "in":
		return f * 96, true
	case "cm":
		return f * 38, true
	case "mm":
		return f * 3.8, true
	}
	return 0, false
}

// fontSize computes a font size in px; what it cannot read keeps the parent's.
func fontSize(v string, parent float64) float64 {
	if n, ok := strings.CutSuffix(v, "%"); ok {
		if f, ok := number(n); ok {
			return parent * f / 100
		}
	}
	if f, ok := length(v, parent); ok {
		return f
	}
	return parent
}

// plainCSS takes comments out and decodes escapes (CSS Syntax 4.3.7), so that
// display:\6eone is read as it is meant.
func plainCSS(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				return b.String()
			}
			i += end + 3
		case s[i] == '\\':
			j := i + 1
			for j < len(s) && j < i+7 && isHex(s[j]) {
				j++
			}
			if j == i+1 {
				continue // the next byte stands for itself
			}
			n, _ := strconv.ParseUint(s[i+1:j], 16, 32)
			b.WriteRune(rune(n))
			if j < len(s) && isBlank(s[j]) {
				j++
			}
			i = j - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
