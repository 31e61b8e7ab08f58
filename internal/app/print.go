// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
)

// masked stands for a secret that is set.
const masked = "(set, not shown)"

// Setting is one line of `dipper config`.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// Print lists every key with its effective value and where that came from, then
// the standard variables that are set. Secrets are never in it.
func (l *Loaded) Print() []Setting {
	var out []Setting
	for _, s := range settings() {
		out = append(out, Setting{s.key, visible(show(s.in(&l.Config), s.tag)), l.Origins[s.key]})
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "BRAVE_API_KEY",
		"TAVILY_API_KEY", "EXA_API_KEY", "SEARXNG_URL", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "NO_COLOR"} {
		if l.env[name] != "" || strings.HasSuffix(name, "_PROXY") && l.env.either(name) != "" {
			out = append(out, Setting{name, masked, FromEnvironment})
		}
	}
	return out
}

// show writes a value the way a file would hold it.
func show(v reflect.Value, tag reflect.StructTag) string {
	secret := tag.Get("secret")
	switch x := v.Interface().(type) {
	case string:
		switch {
		case secret == "yes" && x != "":
			return masked
		case secret == "address":
			return redact(x)
		}
		return x
	case time.Duration:
		return shortDuration(int64(x))
	}
	switch v.Kind() {
	case reflect.Slice:
		items := []string{}
		for i := range v.Len() {
			items = append(items, showItem(v.Index(i), tag))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.Map:
		return "{" + strings.Join(sortedPairs(v, tag), ", ") + "}"
	}
	return fmt.Sprint(v.Interface())
}

func showItem(v reflect.Value, tag reflect.StructTag) string {
	switch {
	case isRecord(v.Type()):
		var fields []string
		for i := range v.NumField() {
			if f := v.Type().Field(i); !v.Field(i).IsZero() {
				fields = append(fields, f.Tag.Get("key")+": "+showItem(v.Field(i), f.Tag))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case v.Kind() == reflect.String:
		return jsonText(show(v, tag))
	case v.CanInterface():
		if s, ok := v.Interface().(fmt.Stringer); ok && v.Kind() == reflect.Struct {
			return jsonText(s.String())
		}
	}
	return show(v, tag)
}

// jsonText is a text in double quotes, which YAML reads as well.
func jsonText(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string always encodes, and a Builder never fails
	return strings.TrimSuffix(b.String(), "\n")
}

// sortedPairs writes the entries of a table by name.
func sortedPairs(v reflect.Value, tag reflect.StructTag) []string {
	var pairs []string
	for _, k := range v.MapKeys() {
		pairs = append(pairs, jsonText(k.String())+": "+showItem(v.MapIndex(k), tag))
	}
	slices.Sort(pairs)
	return pairs
}

// redact takes the password out of an address. What cannot be read as one is
// not shown where it could hold one.
func redact(address string) string {
	if u, err := url.Parse(address); err == nil && u.User == nil {
		return address
	} else if err == nil {
		return u.Redacted()
	}
	if strings.Contains(address, "@") {
		return masked
	}
	return address
}

// shortDuration writes a duration without the zero units at its end.
func shortDuration(n int64) string {
	text := time.Duration(n).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
