// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"reflect"
	"strings"
)

// setting is one key of Config: a leaf of the tree that the tags describe.
type setting struct {
	key  string // "network.perHost.every"
	path []int  // where it lies in Config
	typ  reflect.Type
	tag  reflect.StructTag
}

// settings lists every key in the order of the struct.
func settings() []setting {
	var all []setting
	walk(reflect.TypeFor[Config](), "", nil, func(s setting) { all = append(all, s) })
	return all
}

func walk(t reflect.Type, prefix string, path []int, visit func(setting)) {
	for i := range t.NumField() {
		f := t.Field(i)
		s := setting{key: prefix + f.Tag.Get("key"), path: append(path[:len(path):len(path)], i), typ: f.Type, tag: f.Tag}
		if f.Type.Kind() == reflect.Struct {
			walk(f.Type, s.key+".", s.path, visit)
			continue
		}
		visit(s)
	}
}

// in gives the place of the key in c, to read or to set.
func (s setting) in(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(s.path) }

// variable names the environment variable that sets the key.
func (s setting) variable() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

// adds reports whether the entries of several levels add up.
func (s setting) adds() bool { return s.typ.Kind() == reflect.Slice || s.typ.Kind() == reflect.Map }

// field finds the field of a struct type that a key of a file names.
func field(t reflect.Type, key string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("key") == key {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// nearestKey gives the known name closest to an unknown dotted one, whatever
// case it is written in. Names of the same section come before others that are
// as close, a beginning of a name before a name that merely looks like it.
func nearestKey(unknown string) string {
	names := map[string]bool{}
	for _, s := range settings() {
		for key := s.key; key != ""; key, _ = cutLast(key) {
			names[key] = true
		}
	}
	parent, last := cutLast(unknown)
	return nearest(names, func(name string) int {
		p, l := cutLast(name)
		lower, known := strings.ToLower(last), strings.ToLower(l)
		away := 2 * EditDistance(lower, known)
		if lower != "" && strings.HasPrefix(known, lower) {
			away = min(away, 2)
		}
		if p != parent {
			away += 3
		}
		return away
	})
}

// nearestField gives the key of a record that is closest to an unknown one.
func nearestField(t reflect.Type, unknown string) string {
	names := map[string]bool{}
	for i := range t.NumField() {
		names[t.Field(i).Tag.Get("key")] = true
	}
	return nearest(names, func(name string) int { return EditDistance(strings.ToLower(unknown), strings.ToLower(name)) })
}

// nearest gives the name with the smallest distance, the first in the alphabet
// among equals.
func nearest(names map[string]bool, away func(string) int) string {
	best, least := "", 0
	for name := range names {
		if d := away(name); best == "" || d < least || d == least && name < best {
			best, least = name, d
		}
	}
	return best
}

func cutLast(key string) (parent, last string) {
	i := strings.LastIndexByte(key, '.')
	return key[:max(i, 0)], key[i+1:]
}

// maxDistance bounds the work of EditDistance for a name of any length.
const maxDistance = 64

// EditDistance counts the insertions, deletions and exchanges of bytes that lead
// from one name to the other (Levenshtein), by rows. Of a name only the first
// sixty-four bytes count.
func EditDistance(a, b string) int {
	a, b = a[:min(len(a), maxDistance)], b[:min(len(b), maxDistance)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
