// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

//go:embed guide/*.html
var guide embed.FS

// goEnvTime bounds asking the go command where its documents are.
const goEnvTime = 5 * time.Second

// demoQuestion is a question to a page of the demo, and how long an answer is
// wanted, in tokens: short enough to be read at once.
type demoQuestion struct {
	page, prompt string
	budget       int
}

// demoSite is a set of pages with questions that they answer.
type demoSite struct {
	name      string
	files     fs.FS
	questions []demoQuestion
}

// goQuestions are put to the documents that come with Go.
var goQuestions = []demoQuestion{
	{"go_spec.html", "What happens when a program sends to a closed channel?", 130},
	{"go_spec.html", "Is the iteration order over maps specified?", 130},
	{"go_mem.html", "Is the completion of init functions synchronized before main.main starts?", 110},
	{"asm.html", "Which four pseudo-registers does the assembler have?", 220},
}

// guideQuestions are put to Dipper's own guide.
var guideQuestions = []demoQuestion{
	{"guide/guide.html", "How do I let Dipper read a server on my own network?", 90},
	{"guide/guide.html", "What does the outcome moved mean?", 90},
	{"guide/guide.html", "How long is a page kept?", 60},
}

// demoSite finds the documents of Go; where there are none it says so and takes
// Dipper's own guide.
func (p *Program) demoSite(ctx context.Context) demoSite {
	for _, root := range p.goRoots(ctx) {
		files := os.DirFS(filepath.Join(root, "doc"))
		if whole(files, goQuestions) {
			return demoSite{"the documents that come with Go", files, goQuestions}
		}
	}
	p.note("the HTML documents of Go are not on this machine, so the demo reads Dipper's own guide")
	return demoSite{"Dipper's own guide", guide, guideQuestions}
}

// goRoots lists where Go may be installed: what GOROOT names, the toolchain that
// built this program, and the one in the PATH.
func (p *Program) goRoots(ctx context.Context) []string {
	if root := p.getenv("GOROOT"); root != "" {
		return []string{root}
	}
	var roots []string
	//lint:ignore SA1019 the documents of the toolchain that built this program are just what is looked for
	if root := runtime.GOROOT(); root != "" {
		roots = append(roots, root)
	}
	program := p.lookPath("go")
	if program == "" {
		return roots
	}
	ctx, cancel := context.WithTimeout(ctx, goEnvTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "env", "GOROOT")
	cmd.Env = append(append([]string{}, p.Env...), "GOTOOLCHAIN=local", "GOFLAGS=")
	if out, err := cmd.Output(); err == nil {
		if root := strings.TrimSpace(string(out)); root != "" {
			roots = append(roots, root)
		}
	}
	return roots
}

// lookPath finds a program in the PATH of the program's own environment.
func (p *Program) lookPath(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(p.getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// whole reports whether all pages that the questions ask are there.
func whole(files fs.FS, questions []demoQuestion) bool {
	for _, q := range questions {
		if info, err := fs.Stat(files, q.page); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}
