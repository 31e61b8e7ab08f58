// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html/atom"
)

// add counts what one node says about the page.
func (f *pageFacts) add(t *tree, i int32, stats []stat) {
	n := t.node(i)
	if n.kind == textNode && n.mark&markHidden == 0 {
		for _, r := range t.content(i) {
			if !unicode.IsSpace(r) {
				f.TextChars++
			}
		}
	}
	if n.kind != elementNode {
		return
	}
	switch n.tag {
	case atom.Form:
		f.Forms++
	case atom.Input:
		if t.isWord(i, keyType, "password") {
			f.PasswordInputs++
		}
	case atom.Noscript:
		if len(f.NoscriptText) < factsWindow {
			f.NoscriptText += noscriptText(t.rawText(i, factsWindow)) + "\n"
		}
	case atom.Meta:
		if f.MetaRefresh == "" && t.isWord(i, keyHTTPEquiv, "refresh") {
			f.MetaRefresh = refreshTarget(t.get(i, keyContent))
		}
	case atom.Div, atom.Main, 0:
		if id := t.get(i, keyID); stats[i].letters == 0 && (isRootID(id) || n.tag == 0 && strings.HasSuffix(t.name(i), "-root")) && len(f.RootIDs) < 8 {
			if id == "" {
				id = t.name(i)
			}
			f.RootIDs = append(f.RootIDs, id)
		}
	}
}

func isRootID(id string) bool {
	return slices.Contains([]string{"root", "app", "__next", "__nuxt", "___gatsby", "svelte", "application", "react-root", "main-app", "app-root", "q-app", "ember-app"}, id)
}

// noscriptText gives the words of a noscript element, whose content the
// tokenizer leaves as raw text.
func noscriptText(raw string) string {
	if !strings.Contains(raw, "<") {
		return strings.Join(strings.Fields(raw), " ")
	}
	inner := parse(raw)
	hide(inner, nil)
	return inner.shownText(bodyNode, factsWindow)
}

// refreshTarget reads the address in a meta refresh: "5; url=/next". A refresh
// without one only loads the same page again.
func refreshTarget(content string) string {
	_, rest, ok := strings.Cut(content, ";")
	if !ok {
		_, rest, ok = strings.Cut(content, ",")
	}
	rest = strings.TrimSpace(rest)
	if !ok || len(rest) < 4 || !strings.EqualFold(rest[:3], "url") {
		return ""
	}
	rest = strings.TrimSpace(rest[3:])
	rest, ok = strings.CutPrefix(rest, "=")
	if !ok {
		return ""
	}
	return clip(strings.Trim(strings.TrimSpace(rest), `'"`), 500)
}
