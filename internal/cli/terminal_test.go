// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// screen is a terminal's side of stderr: it can be waited for.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
	news chan struct{}
}

func newScreen() *screen { return &screen{news: make(chan struct{}, 1)} }

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(b)
	select {
	case s.news <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait waits until the screen has shown what.
func (s *screen) wait(t *testing.T, what string) {
	t.Helper()
	late := time.After(10 * time.Second)
	for !strings.Contains(s.String(), what) {
		select {
		case <-s.news:
		case <-late:
			t.Fatalf("the screen never shows %q:\n%s", what, s)
		}
	}
}

// sitting is a program in front of a person.
type sitting struct {
	*Program
	screen *screen
	out    *strings.Builder
	keys   io.WriteCloser
	ended  chan int
}

// sit makes a program with a person at the terminal; run starts it.
func sit(t *testing.T, args ...string) *sitting {
	t.Helper()
	p, _, _ := program(t, args...)
	in, keys := io.Pipe()
	s := &sitting{Program: p, screen: newScreen(), out: &strings.Builder{}, keys: keys, ended: make(chan int, 1)}
	p.Stdin, p.Stdout, p.Stderr = in, s.out, s.screen
	p.Terminals = Terminals{In: true, Out: true, Err: true, Width: func() int { return 40 }}
	t.Cleanup(func() { keys.Close() })
	return s
}

func (s *sitting) run(ctx context.Context) { go func() { s.ended <- s.Run(ctx) }() }

func (s *sitting) type_(line string) { io.WriteString(s.keys, line+"\n") }

func (s *sitting) wantExit(t *testing.T, want int) {
	t.Helper()
	select {
	case code := <-s.ended:
		if code != want {
			t.Errorf("exit code %d, want %d\n%s", code, want, s.screen)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("the program does not end:\n%s", s.screen)
	}
}

// pages is a site with two pages.
func pages(t *testing.T) *site {
	t.Helper()
	folder := t.TempDir()
	page := "<!doctype html><title>Page</title><main><h1>Page</h1><p>A page with a sentence in it that says enough to be read.</p></main>"
	for _, name := range []string{"page.html", "other.html"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSite(folder)
	t.Cleanup(s.close)
	return s
}

func TestQuestionAtATerminal(t *testing.T) {
	web := pages(t)
	for _, c := range []struct {
		name    string
		typed   []string
		exit    int
		message string
		stored  bool
	}{
		{"yes", []string{"y"}, 0, "Received", false},
		{"always", []string{"A"}, 0, "Received", true},
		{"no", []string{"n"}, 3, "said no", false},
		{"neither an empty line nor a slip is an answer", []string{"", "yep", "yes"}, 0, "Received", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sit(t, "fetch", web.plain.URL+"/page.html")
			s.Env = append(s.Env, "DIPPER_PERMISSIONS_DEFAULT=ask")
			s.run(t.Context())
			s.screen.wait(t, "[y] yes, once  [a] always for 127.0.0.1  [n] no: ")
			for _, line := range c.typed {
				s.type_(line)
			}
			s.wantExit(t, c.exit)
			shown := s.screen.String()
			if !strings.Contains(shown, "Dipper wants to read "+web.plain.URL+"/page.html\n") || !strings.Contains(shown, c.message) {
				t.Errorf("the screen shows\n%s", shown)
			}
			if n := strings.Count(shown, "[n] no: "); n != len(c.typed) {
				t.Errorf("asked %d times, want %d", n, len(c.typed))
			}
			rules, out, _ := program(t, "rules", "list")
			rules.Env = s.Env
			if code := rules.Run(t.Context()); code != 0 || strings.Contains(out.String(), "domain:127.0.0.1") != c.stored {
				t.Errorf("rules list: %d\n%s", code, out)
			}
		})
	}
}

func TestQuestionWithoutAnAnswer(t *testing.T) {
	web := pages(t)
	t.Run("end of input", func(t *testing.T) {
		s := sit(t, "fetch", web.plain.URL+"/page.html")
		s.Env = append(s.Env, "DIPPER_PERMISSIONS_DEFAULT=ask")
		s.run(t.Context())
		s.screen.wait(t, "[n] no: ")
		s.keys.Close()
		s.wantExit(t, 3)
		s.screen.wait(t, "nobody can be asked here")
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		s := sit(t, "fetch", web.plain.URL+"/page.html")
		s.Env = append(s.Env, "DIPPER_PERMISSIONS_DEFAULT=ask")
		stopsAtOnce(t, s, "[n] no: ")
	})
	t.Run("-y", func(t *testing.T) {
		s := sit(t, "fetch", web.plain.URL+"/page.html", "-y")
		s.Env = append(s.Env, "DIPPER_PERMISSIONS_DEFAULT=ask")
		s.run(t.Context())
		s.wantExit(t, 0)
	})
}

// stopsAtOnce cancels once the screen shows what, as a Ctrl-C does.
func stopsAtOnce(t *testing.T, s *sitting, what string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.run(ctx)
	s.screen.wait(t, what)
	began := time.Now()
	cancel()
	s.wantExit(t, 130)
	if took := time.Since(began); took > 100*time.Millisecond {
		t.Errorf("the end took %v, want under 100 ms", took)
	}
	if shown := s.screen.String(); !strings.HasSuffix(shown, "dipper: stopped\n") {
		t.Errorf("the screen shows\n%q", shown)
	}
}

func TestCtrlCWhileASiteIsSilent(t *testing.T) {
	web := pages(t)
	stopsAtOnce(t, sit(t, "fetch", web.plain.URL+"/at/hang"), "waiting for the site")
}

func TestLiveLine(t *testing.T) {
	web := pages(t)
	s := sit(t, "fetch", web.plain.URL+"/at/hang", "--timeout", "700ms")
	s.run(t.Context())
	s.wantExit(t, 4)
	shown := s.screen.String()
	live := regexp.MustCompile(`  waiting for the site · 0\.\d s`)
	if !live.MatchString(shown) {
		t.Errorf("no live line:\n%q", shown)
	}
	// Every drawn state is wiped before the next one, and fits the width.
	for _, part := range strings.Split(shown, "\r\x1b[2K") {
		line, _, _ := strings.Cut(part, "\n")
		if strings.HasPrefix(line, "  ") && len([]rune(line)) > 39 {
			t.Errorf("%q is too long for 40 columns", line)
		}
		if len(live.FindAllString(part, -1)) > 1 {
			t.Errorf("a state was not wiped: %q", part)
		}
	}
	if rest := shown[strings.LastIndex(shown, "\r\x1b[2K"):]; live.MatchString(rest) {
		t.Errorf("the live line is left behind: %q", rest)
	}
}

func TestNoLiveLine(t *testing.T) {
	web := pages(t)
	for _, c := range []struct {
		name  string
		setup func(*sitting)
		lines bool // plain lines are still there
	}{
		{"a dumb terminal", func(s *sitting) { s.Env = append([]string{"TERM=dumb"}, s.Env...) }, true},
		{"a pipe", func(s *sitting) { s.Terminals = Terminals{} }, true},
		{"--quiet", func(s *sitting) { s.Args = append(s.Args, "--quiet") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sit(t, "fetch", web.plain.URL+"/at/hang", "--timeout", "500ms")
			c.setup(s)
			s.run(t.Context())
			s.wantExit(t, 4)
			shown := s.screen.String()
			if strings.Contains(shown, "\x1b") || strings.Contains(shown, "waiting") {
				t.Errorf("the screen shows %q", shown)
			}
			if strings.Contains(shown, "Fetch(") != c.lines {
				t.Errorf("plain lines: %q", shown)
			}
		})
	}
}

func TestCutLine(t *testing.T) {
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"short", 10, "short"}, {"exactly", 7, "exactly"}, {"too long", 5, "too …"}, {"größer", 4, "grö…"}, {"x", 0, ""}, {"none", -1, ""},
	} {
		if got := cutLine(c.line, c.columns); got != c.want {
			t.Errorf("cutLine(%q, %d) = %q, want %q", c.line, c.columns, got, c.want)
		}
	}
}

func TestPageTextIsInertOnATerminal(t *testing.T) {
	web := pages(t)
	for _, args := range [][]string{{"--mode", "raw"}, {"--mode", "markdown"}, {"words", "--mode", "extract"}} {
		s := sit(t, append([]string{"fetch", web.plain.URL + "/at/terminal"}, args...)...)
		s.run(t.Context())
		s.wantExit(t, 0)
		out := s.out.String()
		if strings.ContainsAny(out, "\x1b\x07\u202e") || !strings.Contains(out, "words") {
			t.Errorf("%v: stdout holds %q", args, out)
		}
		if !strings.HasSuffix(out, "\n") {
			t.Errorf("%v: the last line has no end", args)
		}
	}
	s := sit(t, "fetch", web.plain.URL+"/\x1b[31m")
	s.run(t.Context())
	<-s.ended
	if strings.Contains(strings.ReplaceAll(s.screen.String(), "\r\x1b[2K", ""), "\x1b") {
		t.Errorf("the URL reached the terminal: %q", s.screen)
	}
}

func TestTrustAtATerminal(t *testing.T) {
	for _, c := range []struct {
		typed string
		exit  int
		shows string
	}{{"n", 3, "was not trusted"}, {"y", 0, "notes-server"}} {
		s := sit(t, "trust")
		text := `{"mcpServers": {"notes": {"command": "notes-server"}}}`
		if err := os.WriteFile(filepath.Join(s.Dir, ".mcp.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.run(t.Context())
		s.screen.wait(t, "Trust this project, as its files are now?\n  [y] yes  [n] no: ")
		if shown := s.screen.String(); !strings.Contains(shown, "starts notes-server") {
			t.Errorf("the question comes before what it is about:\n%s", shown)
		}
		s.type_(c.typed)
		s.wantExit(t, c.exit)
		s.screen.wait(t, c.shows)
		if trusted := strings.Contains(s.out.String(), "trusted, as the files are now"); trusted != (c.exit == 0) {
			t.Errorf("stdout: %q", s.out)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1 KB", 293469: "293.5 KB", 999_949: "999.9 KB", 999_950: "1 MB", 1_440_000: "1.4 MB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"https://a.example/x": "https://a.example/x", "https://a.example/?a=b&c": "'https://a.example/?a=b&c'", "it's": `'it'\''s'`, "": "''",
	} {
		if got := shellWord(in); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", in, got, want)
		}
	}
}

// failing is a stdout that takes nothing.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestStdoutThatTakesNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		exit int
		told string
	}{
		{"a reader that had enough", &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, 0, ""},
		{"a full disk", &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, 1, "stdout: no space left on device\n"},
		{"anything else", io.ErrShortWrite, 1, "stdout: short write\n"},
	} {
		for _, args := range [][]string{{"version"}, {"config", "--json"}, {"help"}} {
			p, _, errs := program(t, args...)
			p.Stdout = failing{c.err}
			if code := p.Run(t.Context()); code != c.exit || !strings.Contains(errs.String(), c.told) || c.told == "" && errs.Len() > 0 {
				t.Errorf("%s: %v: exit %d, stderr %q", c.name, args, code, errs)
			}
		}
	}
}
