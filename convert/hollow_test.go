// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"net/http"
	"strings"
	"testing"
)

// hollowCase is a page as the rest of the package sees it: whole HTML, so that
// the facts are the real ones.
type hollowCase struct {
	name   string
	status int
	header [2]string
	url    string
	html   string
	want   Hollow
}

var prose = strings.Repeat("<p>The harbour office opens at eight and the ferry leaves the pier at nine in the morning, as the timetable beside the entrance says in large letters.</p>\n", 14)

func hollowCases() []hollowCase {
	const page = "https://example.org/post/1"
	return []hollowCase{
		{"challenge by header", 403, [2]string{"cf-mitigated", "challenge"}, page,
			`<title>Just a moment...</title><h1>Just a moment</h1><p>Enable JavaScript and cookies to continue</p>`, Challenge},
		{"challenge with success", 200, [2]string{}, page,
			`<title>Just a moment...</title><h1>Checking if the site connection is secure</h1><p>Verify you are human by completing the action below.</p><div class="g-recaptcha"></div><noscript>Enable JavaScript and cookies to continue</noscript>`, Challenge},
		{"challenge on a long page by header alone", 403, [2]string{"X-Amzn-Waf-Action", "captcha"}, page, prose, Challenge},
		{"German challenge", 403, [2]string{}, page, `<title>Nur einen Moment…</title><p>Bestätigen Sie, dass Sie ein Mensch sind.</p>`, Challenge},
		{"Chinese challenge", 200, [2]string{}, page, `<title>百度安全验证</title><p>请完成安全验证</p>`, Challenge},
		{"Japanese challenge", 200, [2]string{}, page, `<title>しばらくお待ちください...</title><p>人間であることを確認します。</p><script src="https://challenges.cloudflare.com/turnstile.js"></script>`, Challenge},
		{"unusual traffic", 429, [2]string{}, page, `<title>Sorry</title><p>Our systems have detected unusual traffic from your computer network.</p><div class=g-recaptcha></div>`, Challenge},
		{"hold a button", 403, [2]string{}, page, `<title>Access to this page has been denied</title><p>Press &amp; Hold to confirm you are a human (and not a bot).</p>`, Challenge},
		{"consent host", 200, [2]string{}, "https://consent.example.com/m?continue=x", `<title>Before you continue</title><p>We use cookies.</p><button>Accept all</button>`, Challenge},
		{"pay or accept", 200, [2]string{}, page, `<title>Zeitung</title><p>Mit Werbung weiterlesen</p><p>Oder werbefrei im Abo.</p>`, Challenge},
		{"article about challenges", 200, [2]string{}, page, `<title>Just a moment... explained</title><h1>Why pages ask to verify you are human</h1>` + prose, ""},
		{"contact form with a captcha", 200, [2]string{}, page, `<title>Contact</title><h1>Write to us</h1><p>We answer within two days.</p><form><textarea></textarea><div class="g-recaptcha"></div></form>`, ""},
		{"refusal without a challenge", 403, [2]string{}, page, `<title>Forbidden</title><p>You may not list this folder.</p>`, ""},

		{"401", 401, [2]string{}, page, `<title>Members</title><p>Members only.</p>`, Login},
		{"login form", 200, [2]string{}, page, `<title>Sign in</title><h1>Sign in to continue</h1><form action=/login method=post><label>User name<input name=user></label><label>Password<input type=password></label><button>Sign in</button></form>`, Login},
		{"login form with a site name", 200, [2]string{}, "https://example.org/login", `<title>Log in · Depot</title><form><input type=password><button>Log in</button></form><a href=/reset>Forgot it?</a>`, Login},
		{"Chinese login", 200, [2]string{}, page, `<title>用户登录</title><form><label>密码<input type=password></label></form>`, Login},
		{"demand without a form", 200, [2]string{}, page, `<title>Depot</title><p>You must be logged in to view this page.</p>`, Login},
		{"login box beside an article", 200, [2]string{}, page, `<title>Harbour notes</title><form>Sign in<input type=password></form>` + prose, ""},
		{"article about logins", 200, [2]string{}, page, `<title>Login</title><h1>Login</h1><p>The login command stores a token in the key ring of the system. It takes the address of the server and reads the token from standard input.</p><pre>depot login --token - https://depot.example</pre>`, ""},

		{"404", 404, [2]string{}, page, prose, NotFound},
		{"410", 410, [2]string{}, page, `<p>Gone.</p>`, NotFound},
		{"soft 404", 200, [2]string{}, page, `<title>404 Not Found</title><h1>Page not found</h1><p>The page you are looking for does not exist.</p>`, NotFound},
		{"soft 404 with a menu", 200, [2]string{}, page, `<title>Page not found | Depot</title><nav>` + strings.Repeat(`<a href=/x>Some menu entry</a> `, 30) + `</nav><h1>Oops</h1><p>We can’t find the page you’re looking for.</p>`, NotFound},
		{"German soft 404", 200, [2]string{}, page, `<title>Seite nicht gefunden – Hafen</title><p>Diese Seite existiert leider nicht.</p>`, NotFound},
		{"Chinese soft 404", 200, [2]string{}, page, `<title>页面不存在</title><p>您访问的页面不存在或已删除。</p>`, NotFound},
		{"Japanese soft 404", 200, [2]string{}, page, `<title>ページが見つかりません | 港</title><p>お探しのページは見つかりませんでした。</p>`, NotFound},
		{"article about the status", 200, [2]string{}, "https://docs.example.org/status/404", `<title>404 Not Found - HTTP | Docs</title><h1>404 Not Found</h1>` + prose, ""},
		{"short article about the status", 200, [2]string{}, page, `<title>How to write a page not found message</title><h1>A good message</h1><p>Say what happened and where to go next. A search field helps, a joke does not.</p>`, ""},
		{"headline about a number", 200, [2]string{}, page, `<title>Room 404</title><h1>Room 404</h1><p>Two beds, a desk, and a view of the pier.</p>`, ""},
		{"missing package in a title", 200, [2]string{}, page, `<title>Module not found: how to fix it</title><h1>Module not found</h1><p>Run the installer again, then restart the editor.</p>`, ""},

		{"application shell", 200, [2]string{}, page, `<title>Depot</title><script src=/a.js></script><div id=root></div><script src=/b.js></script>`, Shell},
		{"shell with a noscript text", 200, [2]string{}, page, `<title>Depot Portal</title><script type=module src=/main-A1B2C3.js></script><app-root></app-root><noscript>Please enable JavaScript to continue using this application.</noscript>`, Shell},
		{"shell that says so", 200, [2]string{}, page, `<title>Depot</title><p>You need to enable JavaScript to run this app.</p><script src=/a.js></script>`, Shell},
		{"Chinese shell", 200, [2]string{}, page, `<title>仓库</title><div id=app></div><noscript>请启用 JavaScript 后继续。</noscript><script src=/a.js></script>`, Shell},
		{"loading", 200, [2]string{}, page, `<title>Depot</title><div id=main>Loading…</div><script src=/a.js></script>`, Shell},
		{"tiny page with a counter", 200, [2]string{}, page, `<title>Kiosk</title><h1>Kiosk</h1><p>Open</p><script src=/count.js></script>`, ""},
		{"one word, a script and a noscript text", 200, [2]string{}, page, `<script>var z=1</script><p>body</p><noscript>Enable JavaScript</noscript>`, ""},
		{"picture with a text", 200, [2]string{}, page, `<title>Chart</title><script src=/count.js></script><img src=a.png alt="Tides in May">`, ""},
		{"picture without a text", 200, [2]string{}, page, `<title>Chart</title><img src=a.png alt="">`, Empty},
		{"article with a noscript picture", 200, [2]string{}, page, `<title>Notes</title>` + prose + `<noscript>Comments need JavaScript enabled.</noscript><script src=/a.js></script>`, ""},
		{"article about JavaScript", 200, [2]string{}, page, `<title>Settings</title><h1>How to enable JavaScript</h1>` + prose, ""},

		{"empty", 200, [2]string{}, page, ``, Empty},
		{"title alone", 200, [2]string{}, page, `<title>Depot</title><body></body>`, Empty},
		{"short real page", 200, [2]string{}, page, `<h1>Kiosk</h1><p>Open</p>`, ""},
		{"bare text", 200, [2]string{}, page, `<title>Notes</title>Pump key is under the third pot.<br>Call before nine.`, ""},
	}
}

func TestHollow(t *testing.T) {
	for _, test := range hollowCases() {
		t.Run(test.name, func(t *testing.T) {
			in := Input{Body: []byte(test.html), Type: "text/html; charset=utf-8", URL: test.url, Status: test.status, Header: http.Header{}}
			if test.header[0] != "" {
				in.Header.Set(test.header[0], test.header[1])
			}
			doc, err := Markdown(in)
			if err != nil {
				t.Fatal(err)
			}
			if doc.Hollow != test.want {
				t.Errorf("%q, want %q: %s (text %q)", doc.Hollow, test.want, doc.Why, doc.Markdown)
			}
			if (doc.Hollow == "") != (doc.Why == "") {
				t.Errorf("the reason of %q is %q", doc.Hollow, doc.Why)
			}
			if title, _, ok := strings.Cut(test.html, "</title>"); ok && doc.Hollow == Shell && !strings.Contains(doc.Why, strings.TrimPrefix(title, "<title>")) {
				t.Errorf("the title is not in %q", doc.Why)
			}
		})
	}
}

func TestHollowText(t *testing.T) {
	for _, test := range []struct {
		name, contentType, body string
		status                  int
		want                    Hollow
	}{
		{"text", "text/plain", "hello", 200, ""},
		{"missing text", "text/plain", "404: Not Found", 404, NotFound},
		{"missing style sheet", "text/css", "body{margin:0}", 404, NotFound},
		{"missing picture", "image/png", "\x89PNG\r\n\x1a\n\x00\x00", 404, NotFound},
		{"closed API", "application/json", `{"message":"log in"}`, 401, Login},
		{"empty text", "text/plain", " \n", 200, Empty},
		{"empty object is an answer", "application/json", "{}", 200, ""},
		{"Markdown about logins", "text/markdown", "# Login\n\nPlease log in to the server first, then run `depot push`.\n" + strings.Repeat("More of it follows here. ", 30), 200, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc, err := Markdown(Input{Body: []byte(test.body), Type: test.contentType, Status: test.status})
			if err != nil || doc.Hollow != test.want {
				t.Errorf("%q (%s, %v), want %q", doc.Hollow, doc.Why, err, test.want)
			}
			if strings.Contains(doc.Excerpt, "PNG") || strings.Contains(doc.Excerpt, "margin") || strings.Contains(doc.Excerpt, "{m") {
				t.Errorf("excerpt %q", doc.Excerpt)
			}
		})
	}
}
