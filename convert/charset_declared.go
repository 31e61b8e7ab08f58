// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// How far into a body a declaration is looked for, in bytes.
const (
	prescanWindow = 1024     // WHATWG HTML, prescan a byte stream to determine its encoding
	lateWindow    = 64 << 10 // a parser that meets a meta element later starts again; heads longer than this are not pages
)

// mediaType is the type and subtype of a Content-Type header in lower case,
// without parameters.
func mediaType(contentType string) string {
	essence, _, _ := strings.Cut(contentType, ";")
	essence, _, _ = strings.Cut(essence, ",") // two headers merged into one
	return strings.ToLower(strings.TrimSpace(essence))
}

// charsetParam is the first charset parameter of a Content-Type header, as
// written but without quotes; "" for none. mime.ParseMediaType refuses a
// header with two, and servers send such headers.
func charsetParam(contentType string) string {
	_, rest, _ := strings.Cut(contentType, ";")
	for rest != "" {
		var param string
		param, rest = cutParam(rest)
		key, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(key), "charset") {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// cutParam cuts at the first semicolon outside quotes.
func cutParam(s string) (param, rest string) {
	quoted := false
	for i := range len(s) {
		switch s[i] {
		case '"':
			quoted = !quoted
		case ';':
			if !quoted {
				return s[:i], s[i+1:]
			}
		}
	}
	return s, ""
}

// declaredInside is the encoding that the first window bytes of a body declare
// of themselves, in an XML declaration or, for HTML, in a meta element; "" for
// none or an unknown label. UTF-16 declared in bytes that could be read as
// ASCII means UTF-8, as the HTML standard says.
func declaredInside(body []byte, html bool, window int) string {
	body = body[:min(len(body), window)]
	name := labelName(xmlEncoding(body))
	if name == "" && html {
		name = metaCharset(body)
	}
	if strings.HasPrefix(name, "utf-16") {
		return utf8Name
	}
	if name == "x-user-defined" {
		return latinName
	}
	return name
}

var xmlEncodingPattern = regexp.MustCompile(`^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']`)

// xmlEncoding is the label in an XML declaration, "" for none.
func xmlEncoding(body []byte) string {
	m := xmlEncodingPattern.FindSubmatch(body[:min(len(body), prescanWindow)])
	if m == nil {
		return ""
	}
	return string(m[1])
}

// metaCharset is the encoding that the first meta element with a known label
// names, "" for none.
func metaCharset(body []byte) string {
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			tag, more := z.TagName()
			if string(tag) != "meta" || !more {
				continue
			}
			if name := labelName(metaLabel(tagAttributes(z))); name != "" {
				return name
			}
		}
	}
}

// tagAttributes gives the attributes of the tag at hand; the first of two
// equal names counts.
func tagAttributes(z *html.Tokenizer) map[string]string {
	attributes := map[string]string{}
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, seen := attributes[string(key)]; !seen {
			attributes[string(key)] = string(value)
		}
	}
	return attributes
}

func metaLabel(attributes map[string]string) string {
	if label, ok := attributes["charset"]; ok {
		return label
	}
	if strings.EqualFold(strings.TrimSpace(attributes["http-equiv"]), "content-type") {
		return charsetParam(";" + metaParams(attributes["content"]))
	}
	return ""
}

// metaParams is what follows the type in the content of a meta element; some
// pages write a comma or a blank instead of the semicolon.
func metaParams(content string) string {
	i := strings.Index(strings.ToLower(content), "charset")
	if i < 0 {
		return ""
	}
	value, _, _ := strings.Cut(content[i:], ",")
	return value
}

// languageHint is the language that the html element names, in lower case and
// without region; it breaks ties between encodings.
func languageHint(body []byte, isHTML bool) string {
	if !isHTML {
		return ""
	}
	z := html.NewTokenizer(bytes.NewReader(body[:min(len(body), prescanWindow)]))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			tag, more := z.TagName()
			if string(tag) != "html" {
				continue
			}
			if !more {
				return ""
			}
			a := tagAttributes(z)
			return primaryLanguage(a["lang"], a["xml:lang"])
		}
	}
}

func primaryLanguage(tags ...string) string {
	for _, tag := range tags {
		if tag = strings.ToLower(strings.TrimSpace(tag)); tag != "" {
			if strings.HasPrefix(tag, "zh-hant") || tag == "zh-tw" || tag == "zh-hk" {
				return "zh-hant"
			}
			primary, _, _ := strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
			return primary
		}
	}
	return ""
}
