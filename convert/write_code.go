// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"strings"

	"golang.org/x/net/html/atom"
)

// pre writes preformatted text as a fenced block.
func (w *writer) pre(i int32, c context) {
	text := w.codeText(i)
	if w.mode != inParagraph {
		w.flatCode(text, c)
		return
	}
	w.flush()
	if strings.TrimSpace(text) == "" {
		return
	}
	w.fence(text, w.language(i))
}

// fence writes a fenced block whose fence is longer than any run inside.
func (w *writer) fence(text, language string) {
	w.leaf()
	fence := strings.Repeat("`", longestRun(text, '`'))
	w.out = append(w.out, fence+language...)
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			w.out = append(w.out, '\n')
			w.out = append(w.out, bytes.TrimRight(w.prefix, " ")...)
			continue
		}
		w.newline()
		w.out = append(w.out, line...)
		if w.full() {
			break
		}
	}
	w.newline()
	w.out = append(w.out, fence...)
}

// longestRun gives the length of a fence that no run of c in s can close: 3,
// or one more than the longest run of at least 3.
func longestRun(s string, c byte) int {
	need, n := 3, 0
	for k := range len(s) {
		if s[k] != c {
			n = 0
			continue
		}
		n++
		need = max(need, n+1)
	}
	return need
}

// flatCode writes preformatted text into a cell: a code span for each line.
func (w *writer) flatCode(text string, c context) {
	w.gap()
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			w.para.put(plainRun, strings.TrimRight(line, " "), run{style: c.style&^(strong|em) | code, link: w.live(c.link), span: c.span})
		}
		w.gap()
	}
}

// codeText gives the text of preformatted content as the page shows it: line
// breaks from br and from blocks, without line numbers and buttons.
func (w *writer) codeText(i int32) string {
	b := &codeReader{w: w}
	b.children(i)
	s := strings.TrimRight(strings.ReplaceAll(b.out.String(), "\u00a0", " "), " \t\n\r")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	// The first line break after the tag is not part of the text (WHATWG
	// 13.2.6.4.7); more empty lines at the edges tell a reader nothing.
	for line, rest, ok := strings.Cut(s, "\n"); ok && strings.TrimSpace(line) == ""; line, rest, ok = strings.Cut(s, "\n") {
		s = rest
	}
	return s
}

type codeReader struct {
	w    *writer
	out  strings.Builder
	last byte
}

func (b *codeReader) write(s string) {
	if s != "" {
		b.out.WriteString(s)
		b.last = s[len(s)-1]
	}
}

// line begins a new line unless one has just begun.
func (b *codeReader) line() {
	if b.out.Len() > 0 && b.last != '\n' {
		b.write("\n")
	}
}

func (b *codeReader) children(i int32) {
	t := b.w.t
	for ch := t.nodes[i].first; ch != none; ch = t.nodes[ch].next {
		n := t.node(ch)
		if n.mark&(markHidden|markLeftOut) != 0 {
			continue
		}
		switch {
		case n.kind == textNode:
			b.write(t.content(ch))
		case n.kind == endNode:
		case n.tag == atom.Br:
			b.write("\n")
		case n.tag == atom.Button, isGutter(t, ch):
		case n.tag == atom.Img:
			b.write(t.get(ch, keyAlt))
		case isBlock(n.tag):
			b.w.remember(ch)
			b.line()
			b.children(ch)
			b.line()
		default:
			b.w.remember(ch)
			b.children(ch)
		}
	}
}

// isGutter reports whether an element holds line numbers rather than code.
func isGutter(t *tree, i int32) bool {
	class := t.get(i, keyClass)
	if class == "" && !t.has(i, keyDataLine) {
		return false
	}
	named := hasWord(class, "lineno", "linenos", "linenodiv", "line-number", "line-numbers", "line-numbers-rows", "linenumber", "linenumbers",
		"gutter", "ln", "lnt", "lno", "hljs-ln-numbers", "blob-num", "react-syntax-highlighter-line-number", "rouge-gutter", "nocode", "line-num", "lineNumber") ||
		t.has(i, keyDataLine)
	if !named {
		return false
	}
	return len(strings.Trim(t.rawText(i, 4096), "0123456789 \t\r\n\u00a0.:|")) == 0
}

// language finds the language of a code block: on the block, on the code
// element in it, or on a wrapper.
func (w *writer) language(i int32) string {
	inner := w.t.nodes[i].first
	for inner != none && (w.t.nodes[inner].kind != elementNode || w.t.nodes[inner].tag == 0) {
		inner = w.t.nodes[inner].next
	}
	if w.t.is(inner, atom.Code) {
		if l := languageOf(w.t, inner); l != "" {
			return l
		}
	}
	at := i
	for range 4 {
		if at == none || at == bodyNode {
			break
		}
		if l := languageOf(w.t, at); l != "" {
			return l
		}
		// A wrapper of one block only: a class above several blocks is theirs
		// only where it says so itself.
		if at = w.t.nodes[at].parent; at != none && w.holdsBlocksOfCode(at) {
			break
		}
	}
	return ""
}

// holdsBlocksOfCode reports whether i holds more than one block of code.
func (w *writer) holdsBlocksOfCode(i int32) bool {
	n := 0
	return w.t.any(i, nearby, func(j int32) bool {
		if w.t.is(j, atom.Pre) {
			n++
		}
		return n > 1
	})
}

// languageOf reads the language from the attributes of one element.
func languageOf(t *tree, i int32) string {
	if l := languageName(t.get(i, keyDataLang)); l != "" {
		return l
	}
	class := t.get(i, keyClass)
	highlighter := false
	for f := range strings.FieldsSeq(class) {
		lower := strings.ToLower(f)
		for _, prefix := range []string{"language-", "lang-", "highlight-source-", "highlight-text-", "mw-highlight-lang-", "source-", "src-", "brush:", "highlight-", "code-"} {
			if rest, ok := strings.CutPrefix(lower, prefix); ok {
				strict := prefix == "code-" || prefix == "source-" || prefix == "src-"
				if l := languageName(rest); l != "" && (!strict || isKnownLanguage(l)) {
					return l
				}
			}
		}
		switch lower {
		case "highlight", "hljs", "sourcecode", "src", "prettyprint", "code", "syntax", "ebnf", "rust", "example", "source", "programlisting", "shiki", "astro-code", "mw-geshi", "brush:":
			highlighter = true
		}
	}
	if !highlighter {
		return ""
	}
	for f := range strings.FieldsSeq(class) {
		if l := languageName(strings.ToLower(strings.TrimSuffix(f, ";"))); isKnownLanguage(l) {
			return l
		}
	}
	return ""
}

// languageName keeps a word that can stand behind a fence and says something.
func languageName(s string) string {
	s = strings.ToLower(strings.Trim(strings.TrimSpace(s), ";"))
	if len(s) > 24 {
		return ""
	}
	for _, r := range s {
		if !isWordRune(r) && !strings.ContainsRune("+#-_.", r) {
			return ""
		}
	}
	switch s {
	case "default", "none", "text", "guess", "plain", "plaintext", "txt", "nohighlight", "auto", "unknown", "undefined", "null", "block", "inline", "html-basic", "wrapper", "copy", "toolbar", "box", "container", "output", "line-numbers":
		if s == "html-basic" {
			return "html"
		}
		return ""
	}
	return s
}

func isKnownLanguage(s string) bool {
	switch s {
	case "abnf", "ada", "asm", "awk", "bash", "bat", "bnf", "c", "c#", "c++", "clojure", "cmake", "cobol", "coffeescript",
		"console", "cpp", "csharp", "css", "csv", "cuda", "cxx", "d", "dart", "diff", "docker", "dockerfile", "ebnf", "elixir", "elm",
		"erlang", "fish", "fortran", "fsharp", "go", "golang", "gradle", "graphql", "groovy", "haskell", "hcl", "html", "http",
		"ini", "java", "javascript", "js", "json", "json5", "jsonc", "jsx", "julia", "kotlin", "latex", "less", "lisp", "lua",
		"make", "makefile", "markdown", "matlab", "md", "mermaid", "mjs", "nginx", "nim", "nix", "objc", "objective-c", "ocaml",
		"pascal", "perl", "php", "plsql", "postgresql", "powershell", "prolog", "proto", "protobuf", "ps1", "py", "pycon", "python",
		"python3", "r", "rb", "regex", "rs", "ruby", "rust", "sass", "scala", "scheme", "scss", "sh", "shell", "shellsession",
		"sql", "svg", "swift", "systemverilog", "tcl", "terraform", "tex", "toml", "ts", "tsx", "typescript", "vb", "vbnet", "verilog",
		"vhdl", "vim", "vue", "wasm", "xml", "xslt", "yaml", "yml", "zig", "zsh":
		return true
	}
	return false
}
