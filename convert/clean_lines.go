// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxMarkLine bounds the line that can be a fence: real ones are short.
const maxMarkLine = 120

// line looks at the beginning of the line at offset i.
func (m *marker) line(i int) {
	m.pos = i
	text, _, _ := strings.Cut(m.in[i:min(len(m.in), i+maxMarkLine+1)], "\n")
	whole := len(text) <= maxMarkLine
	indent := len(text) - len(strings.TrimLeft(text, " \t>*_#\\"))
	opening := strings.TrimLeft(text, " \t>\\")
	m.codeFence(opening)
	head := text[indent:]
	switch {
	case isTurn(head) && m.blank, strings.HasPrefix(opening, "###") && isInstructionHead(head), isStreamLine(head):
		m.breakAt(i + indent + strings.IndexByte(head, ':'))
	case whole && isBorder(text):
		m.breakAt(i + len(strings.TrimRight(text, " \t\r")) - 1)
	}
	m.blank = strings.Trim(text, " \t\r>") == ""
}

// codeFence follows the fenced code blocks of Markdown.
func (m *marker) codeFence(text string) {
	signs := ""
	if n := countSame(text, '`'); n >= 3 {
		signs = text[:n]
	} else if n := countSame(text, '~'); n >= 3 {
		signs = text[:n]
	}
	switch {
	case signs == "":
	case m.fence == "":
		if signs[0] == '`' && strings.Contains(text[len(signs):], "`") {
			return // a code span that begins the line
		}
		m.fence, m.code, m.spanEnd = signs, true, 0
	case strings.HasPrefix(signs, m.fence) && strings.TrimSpace(text[len(signs):]) == "":
		m.fence, m.code = "", false
	}
}

// isTurn reports whether a line opens like a turn of a written conversation.
func isTurn(head string) bool {
	return strings.HasPrefix(head, "Human:") || strings.HasPrefix(head, "Assistant:")
}

// isInstructionHead knows the headings that instruction-tuned models were
// trained to answer.
func isInstructionHead(head string) bool {
	for _, word := range []string{"Instruction:", "Response:", "Input:", "System:", "User:", "Assistant:", "Human:"} {
		if strings.TrimSpace(head) == word {
			return true
		}
	}
	return false
}

// isStreamLine knows the lines in which a model's answer comes in parts.
func isStreamLine(head string) bool {
	if strings.HasPrefix(head, "data: {") {
		return strings.Contains(head, `"type"`)
	}
	name, ok := strings.CutPrefix(head, "event: ")
	return ok && streamEvent.MatchString(name)
}

var (
	streamEvent = regexp.MustCompile(`^(content_block_|message_(start|delta|stop)|response\.)`)
	border      = regexp.MustCompile(`^(?i)[^\pL\pN]{2,}(begin|end|start|stop)([ _-]of)?([ _-]the)?[ _-]((web ?)?page|(page|web|external|untrusted) (content|data|input)|` +
		`content|documents?|context|data|prompt|instructions|conversation|(tool|search) (outputs?|results?)|(system|user) (prompt|message|input|query))[^\pL\pN]{2,}$`)
)

// isBorder reports whether a whole line looks like the border around a quoted
// page: signs, words such as "end of page", and at least two equal signs.
func isBorder(text string) bool {
	text = strings.TrimRight(text, " \t\r")
	n := len(text)
	if n < 12 || text[n-1] != text[n-2] || isNameByte(text[n-1]) && text[n-1] != '-' && text[n-1] != '_' || text[n-1] >= utf8.RuneSelf {
		return false
	}
	return border.MatchString(text)
}

// maxMessage is how far apart the keys of a protocol message are looked for.
const maxMessage = 400

// message breaks a JSON-RPC message of the Model Context Protocol before the
// colon of its first key.
func (m *marker) message() {
	rest := m.in[m.pos:]
	for _, key := range []string{`"jsonrpc":`, `"jsonrpc": `} {
		if !strings.HasPrefix(rest, key) {
			continue
		}
		near := m.in[max(0, m.pos-maxMessage):min(len(m.in), m.pos+maxMessage)]
		if isProtocolMessage(near) {
			m.breakAt(m.pos + len(`"jsonrpc"`))
		}
		return
	}
}

func isProtocolMessage(near string) bool {
	_, method, ok := strings.Cut(near, `"method"`)
	if !ok {
		return false
	}
	method = strings.TrimLeft(method, `: "`)
	for _, area := range []string{"tools/", "resources/", "prompts/", "sampling/", "elicitation/", "roots/", "notifications/", "completion/", "logging/", "initialize"} {
		if strings.HasPrefix(method, area) {
			return true
		}
	}
	return false
}
