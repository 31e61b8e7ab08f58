// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"strings"
)

// maxJSONKeys bounds the outline of a JSON object.
const maxJSONKeys = 500

// jsonOutline lists the keys of the outermost object with the part of the text
// that each one holds, nil for anything but an object. It counts brackets and
// never recurses, so depth costs nothing; what is broken ends the list.
func jsonOutline(text string) []Section {
	s := jsonScan{text: text}
	s.blanks()
	if s.peek() != '{' {
		return nil
	}
	s.pos++
	var found []Section
	ids := map[string]int{}
	for len(found) < maxJSONKeys {
		s.blanks()
		begin := s.pos
		key, ok := s.key()
		if !ok {
			break
		}
		s.value()
		found = append(found, Section{ID: uniqueSlug(ids, key), Title: key, Level: 1, Start: begin, End: s.pos, Path: []string{key}})
		if s.peek() != ',' {
			break
		}
		s.pos++
	}
	return found
}

// A jsonScan walks JSON text.
type jsonScan struct {
	text string
	pos  int
}

func (s *jsonScan) peek() byte {
	if s.pos >= len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

func (s *jsonScan) blanks() {
	for s.pos < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// key reads a key and the colon behind it.
func (s *jsonScan) key() (string, bool) {
	if s.peek() != '"' {
		return "", false
	}
	begin := s.pos
	s.skipString()
	var key string
	if json.Unmarshal([]byte(s.text[begin:s.pos]), &key) != nil {
		return "", false
	}
	s.blanks()
	if s.peek() != ':' {
		return "", false
	}
	s.pos++
	key, _ = Clean(key)
	return key, true
}

// skipString goes behind the string that begins here.
func (s *jsonScan) skipString() {
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case '\\':
			s.pos++
		case '"':
			s.pos++
			return
		}
	}
	s.pos = min(s.pos, len(s.text))
}

// value goes to the comma or bracket behind the value that begins here.
func (s *jsonScan) value() {
	for depth := 0; s.pos < len(s.text); {
		switch s.text[s.pos] {
		case '"':
			s.skipString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
		case ',':
			if depth == 0 {
				return
			}
		}
		s.pos++
	}
}
