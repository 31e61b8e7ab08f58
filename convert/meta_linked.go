// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"encoding/json"
	"strings"
)

const (
	// maxState bounds JSON in a page that is parsed, in bytes.
	maxState = 4 << 20
	// maxStateDepth bounds its nesting; encoding/json itself stops at 10,000.
	maxStateDepth = 40
	maxLinked     = 200 // objects of JSON-LD
)

// linkedData is one object of JSON-LD (schema.org vocabulary).
type linkedData map[string]any

// parseLinked reads the objects of one script, those in @graph too. What is not
// valid JSON is no data.
func parseLinked(s string) (out []linkedData) {
	if len(s) > maxState {
		return nil
	}
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return nil
	}
	var collect func(v any, depth int)
	collect = func(v any, depth int) {
		if depth > 4 || len(out) >= maxLinked {
			return
		}
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				collect(e, depth+1)
			}
		case map[string]any:
			out = append(out, v)
			collect(v["@graph"], depth+1)
			collect(v["mainEntity"], depth+1)
		}
	}
	collect(v, 0)
	return out
}

// is reports whether the object has one of the types.
func (d linkedData) is(types ...string) bool {
	has := func(v any) bool {
		s, _ := v.(string)
		for _, t := range types {
			if s == t || strings.HasSuffix(s, "/"+t) {
				return true
			}
		}
		return false
	}
	if list, ok := d["@type"].([]any); ok {
		for _, v := range list {
			if has(v) {
				return true
			}
		}
		return false
	}
	return has(d["@type"])
}

// isWork reports whether the object is a text with an author and a date.
func (d linkedData) isWork() bool {
	return d.is("Article", "NewsArticle", "BlogPosting", "TechArticle", "ReportageNewsArticle", "ScholarlyArticle", "OpinionNewsArticle",
		"AnalysisNewsArticle", "Report", "SocialMediaPosting", "DiscussionForumPosting", "LiveBlogPosting", "Review", "Recipe", "HowTo", "Question")
}

func (d linkedData) text(key string) string {
	s, _ := d[key].(string)
	return s
}

func (d linkedData) author() string    { return nameOf(d["author"], 0) }
func (d linkedData) publisher() string { return nameOf(d["publisher"], 0) }

// nameOf reads a name from a string, an object with one, or a list of these.
func nameOf(v any, depth int) string {
	if depth > 2 {
		return ""
	}
	switch v := v.(type) {
	case string:
		if !strings.HasPrefix(v, "http") {
			return v
		}
	case map[string]any:
		return nameOf(v["name"], depth+1)
	case []any:
		var names []string
		for _, e := range v {
			if n := nameOf(e, depth+1); n != "" && len(names) < 5 {
				names = append(names, n)
			}
		}
		return strings.Join(names, ", ")
	}
	return ""
}
