// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import "testing"

func TestAttrKeyOf(t *testing.T) {
	for name, want := range map[string]attrKey{
		"alt": keyAlt, "href": keyHref, "xml:lang": keyLang, "lang": keyLang, "data-language": keyDataLang, "data-lang": keyDataLang,
		"data-tex": keyDataLatex, "data-lazy-srcset": keyDataSrcset, "shadowroot": keyShadow, "shadowrootmode": keyShadow, "http-equiv": keyHTTPEquiv,
		"data-line-number": keyDataLine, "width": keyWidth,
		"": keyNone, "onclick": keyNone, "data-x": keyNone, "HREF": keyNone,
	} {
		if got := attrKeyOf([]byte(name)); got != want {
			t.Errorf("%q is key %d, want %d", name, got, want)
		}
	}
	reached := map[attrKey]bool{keyNone: true, keyOther: true}
	for _, k := range attrKeys() {
		reached[k] = true
	}
	for k := range keyWidth + 1 {
		if !reached[k] {
			t.Errorf("no name leads to key %d", k)
		}
	}
}
