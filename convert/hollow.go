// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// How much visible text a page may have, in characters, and still be hollow.
// A page with more is read, whatever it calls itself: to withhold a real page
// is worse than to show a wall.
const (
	wallText   = 1500 // challenges and consent walls explain themselves at length
	loginText  = 600
	missText   = 1500 // a not-found page with menus, named so twice
	bareText   = 200  // a page so short that its name alone decides
	shellText  = 300  // a shell with a header and a footer
	headWindow = 400  // bytes at the beginning of the text that count as its headline
	bodyWindow = 256 << 10
)

// hollow says whether a page has no content of its own although something
// came, and in one sentence why. Status and header decide where they are
// clear; otherwise a page must be short, and at least two signs must agree.
func hollow(in Input, facts pageFacts) (Hollow, string) {
	p := newProbe(in, facts)
	return firstOf(p.mitigated, p.challenge, p.status, p.consent, p.login, p.miss, p.shell, p.empty)
}

// hollowText is hollow for the kinds that are no HTML: walls and shells are
// pages, so only what the server says and an empty text count.
func hollowText(in Input, facts pageFacts) (Hollow, string) {
	p := newProbe(in, facts)
	return firstOf(p.mitigated, p.status, p.empty)
}

func firstOf(looks ...func() (Hollow, string)) (Hollow, string) {
	for _, look := range looks {
		if what, why := look(); what != "" {
			return what, why
		}
	}
	return "", ""
}

// A probe is a page as the looks below see it.
type probe struct {
	in          Input
	facts       pageFacts
	title, text string // in lower case, blanks single
}

func newProbe(in Input, facts pageFacts) *probe {
	return &probe{in: in, facts: facts, title: fold(facts.Title), text: fold(facts.Text)}
}

func fold(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// name is how a sentence calls the page.
func (p *probe) name() string {
	if title := strings.Join(strings.Fields(p.facts.Title), " "); title != "" {
		return fmt.Sprintf("The page %q", firstRunes(title, 120))
	}
	return "The page"
}

func (p *probe) headline() string { return p.text[:min(len(p.text), headWindow)] }

// body is the start of the page's source in lower case, for the addresses of
// scripts and the like.
func (p *probe) body() string {
	return strings.ToLower(string(p.in.Body[:min(len(p.in.Body), bodyWindow)]))
}

func (p *probe) path() string {
	u, err := url.Parse(p.in.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host + u.Path)
}

// mitigated reads the headers in which protection services say that they
// answered instead of the site.
func (p *probe) mitigated() (Hollow, string) {
	for _, known := range [][2]string{
		{"Cf-Mitigated", "challenge"}, {"X-Vercel-Mitigated", "challenge"}, {"X-Amzn-Waf-Action", "challenge"}, {"X-Amzn-Waf-Action", "captcha"},
	} {
		if strings.EqualFold(strings.TrimSpace(p.in.Header.Get(known[0])), known[1]) {
			return Challenge, fmt.Sprintf("%s is a bot check (challenge): the server says so in its %s header.", p.name(), strings.ToLower(known[0]))
		}
	}
	return "", ""
}

// challenge finds bot checks by their words, their scripts and the status that
// comes with them; at least two of these must agree on all but the shortest.
func (p *probe) challenge() (Hollow, string) {
	chars := p.facts.TextChars
	if chars > wallText {
		return "", ""
	}
	title := challengeTitle.MatchString(p.title)
	phrase := challengePhrase.MatchString(p.text) || challengePhrase.MatchString(fold(p.facts.NoscriptText))
	if !title && (!phrase || p.facts.PasswordInputs > 0) {
		return "", ""
	}
	second := p.refused() || challengeScript(p.body())
	alone := phrase && chars < bareText && p.facts.Links < 5
	if phrase && (title || second) || title && second && chars < loginText || alone {
		return Challenge, p.name() + " is a bot check (challenge): it asks the visitor to prove to be human instead of showing its content."
	}
	return "", ""
}

// refused reports whether the status is one that bot checks come with.
func (p *probe) refused() bool {
	switch p.in.Status {
	case http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	}
	return false
}

// challengeScript reports whether a page carries what bot checks are made of.
// Contact forms carry some of it too, so it is one sign among several.
func challengeScript(body string) bool {
	for _, mark := range []string{"/cdn-cgi/challenge-platform/", "challenges.cloudflare.com", "_cf_chl_opt", "cf-turnstile", "g-recaptcha", "recaptcha/api", "h-captcha", "hcaptcha.com",
		"captcha-delivery.com", "geo.captcha", "px-captcha", "perimeterx", "_incapsula_resource", "awswafcaptcha", "awswafintegration", "token.awswaf", "arkoselabs",
		"funcaptcha", "geetest", "ddos-guard", "/.within.website/", "kasada", "sucuri_cloudproxy", "wappass.baidu.com", "smartcaptcha", "validatecaptcha"} {
		if strings.Contains(body, mark) {
			return true
		}
	}
	return false
}

// status takes the answers that leave no doubt.
func (p *probe) status() (Hollow, string) {
	switch p.in.Status {
	case http.StatusUnauthorized:
		return Login, p.name() + " asks for a login: the server answered 401 (unauthorized)."
	case http.StatusNotFound:
		return NotFound, p.name() + " does not exist: the server answered 404 (not found)."
	case http.StatusGone:
		return NotFound, p.name() + " was removed: the server answered 410 (gone)."
	}
	return "", ""
}

// consent finds pages that show nothing before cookies are accepted.
func (p *probe) consent() (Hollow, string) {
	if p.facts.TextChars > 3*wallText {
		return "", ""
	}
	host, _, _ := strings.Cut(p.path(), "/")
	if strings.HasPrefix(host, "consent.") || strings.HasPrefix(host, "guce.") || strings.HasPrefix(host, "consents.") || consentTitle.MatchString(p.title) {
		return Challenge, p.name() + " is a consent wall: it asks to accept cookies before it shows its content."
	}
	if p.facts.TextChars <= wallText && p.facts.Links < 15 && consentPhrase.MatchString(p.text) {
		return Challenge, p.name() + " is a consent wall: it asks to accept advertising or to pay before it shows its content."
	}
	return "", ""
}

// login finds walls that ask for an account.
func (p *probe) login() (Hollow, string) {
	if p.facts.TextChars > loginText {
		return "", ""
	}
	title := segment(p.title, loginTitle)
	words := title || loginPhrase.MatchString(p.text)
	demand := loginDemand.MatchString(p.text)
	form := p.facts.PasswordInputs > 0 || p.facts.Forms > 0 && title && loginPath.MatchString(p.path())
	switch {
	case form && words, demand && p.facts.TextChars < loginText/2:
		return Login, p.name() + " asks for a login before it shows its content."
	case p.facts.PasswordInputs > 0 && p.facts.TextChars < bareText/2:
		return Login, p.name() + " is a password form with hardly any other text."
	}
	return "", ""
}

// miss finds pages that say under code 200 that there is no such page. The
// title or the headline must say so in words of its own, not within a sentence.
func (p *probe) miss() (Hollow, string) {
	if p.facts.TextChars > missText || p.in.Status != 0 && p.in.Status >= http.StatusBadRequest {
		return "", ""
	}
	title, head := segment(p.title, missTitle), missHead.MatchString(p.headline())
	says := missPhrase.MatchString(p.text)
	short := p.facts.TextChars < bareText
	if title && (head || says || short) || head && says && short {
		return NotFound, p.name() + " says that there is no such page, although the server answered with success."
	}
	return "", ""
}

// segment reports whether a part of a title between its separators is, whole,
// what the pattern says: "Page not found | Example" but not "How to style a
// page not found message".
func segment(title string, pattern *regexp.Regexp) bool {
	if pattern.MatchString(title) {
		return true
	}
	for _, part := range titleBreak.Split(title, 8) {
		if pattern.MatchString(strings.TrimSpace(part)) {
			return true
		}
	}
	return false
}

// shell finds applications that draw their page with JavaScript. Small pages
// with a script and a noscript text are common, so a demand for JavaScript
// counts only where next to nothing else is said.
func (p *probe) shell() (Hollow, string) {
	chars, scripts := p.facts.TextChars, p.facts.ScriptBytes > 0
	noscript := fold(p.facts.NoscriptText)
	switch {
	case chars > shellText:
		return "", ""
	case needsScript.MatchString(p.text):
	case !scripts:
		return "", ""
	case len(p.facts.RootIDs) > 0 && chars < bareText:
	case loading.MatchString(p.text):
	case chars < bareText/4 && len(noscript) > bareText/4 && needsScript.MatchString(noscript):
	case chars == 0 && p.facts.MetaRefresh == "" && !p.pictured():
	default:
		return "", ""
	}
	return Shell, p.name() + " holds no readable text without JavaScript: its HTML is an empty shell that a script fills in a browser."
}

// pictured reports whether a page without text has a picture that says what it
// shows.
func (p *probe) pictured() bool { return describedPicture.MatchString(p.body()) }

// empty finds pages with nothing at all.
func (p *probe) empty() (Hollow, string) {
	if p.facts.TextChars > 0 && p.text != "" || p.pictured() {
		return "", ""
	}
	switch {
	case p.facts.MetaRefresh != "":
		return Empty, fmt.Sprintf("%s has no text; it sends a browser on to %s.", p.name(), firstRunes(p.facts.MetaRefresh, 300))
	case len(p.in.Body) == 0:
		return Empty, "The answer has no body."
	case utf8.RuneCountInString(p.title) > 0:
		return Empty, p.name() + " has a title and no text."
	}
	return Empty, p.name() + " has no visible text."
}
