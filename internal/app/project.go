// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/dipper-web/dipper/fault"
)

// maxProjectFile bounds a file that a project's configuration names; the largest
// are block lists.
const maxProjectFile = 64 << 20

// Project is a folder that brings configuration along: a .dipper.yaml, the files
// it names, and files in the mcpServers format.
type Project struct {
	// Dir is the folder, absolute and with symbolic links followed.
	Dir string
	// Files are the names of what was found in it and counts for the hash.
	Files []string
	// Hash changes with any byte of these files.
	Hash string
	// Trusted reports that the folder was accepted with this hash, Changed that
	// it was accepted with another.
	Trusted, Changed bool
	// Effects say what the project would do once it is trusted; commands and
	// addresses come first.
	Effects []Effect

	path  string // of .dipper.yaml, empty: none
	level level
	texts map[string][]byte // of relative mcp.config files, by name as written
	note  string            // why the register was not believed
}

// openProject reads what the folder brings along. An error in .dipper.yaml is an
// error even before the project is trusted: a deny rule must not be lost because
// of a slip beside it.
func openProject(s Source, e environ, dir string, own ladder) (Project, error) {
	p := Project{level: level{}, texts: map[string][]byte{}}
	if dir == "" {
		return p, nil
	}
	p.Dir = canonical(dir)
	path := filepath.Join(dir, projectFile)
	if user, _ := s.userFile(e); user != path {
		if leadsOut(path, dir) {
			return p, fault.New(fault.Invalid, "", "%s is a link that leads out of its folder, so it is not read; put the file itself there, or remove the link", path)
		}
		text, exists, err := readConfig(path, false)
		if err != nil {
			return p, err
		}
		if exists {
			p.path = path
			if p.level, err = readFile(text, path, place{base: dir, home: e.home(), inFile: true, strange: true}); err != nil {
				return p, err
			}
			p.texts[projectFile] = text
		}
	}
	if p.gather(own); len(p.Files) == 0 || p.note != "" {
		return p, nil
	}
	accepted, note := readRegister(s.dataDir(e))
	p.note = note
	a, known := accepted[p.Dir]
	p.Trusted, p.Changed = known && a.Hash == p.Hash, known && a.Hash != p.Hash
	return p, nil
}

// leadsOut reports whether a file that lies in a folder by its name is somewhere
// else: a link leads there.
func leadsOut(path, dir string) bool {
	to, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false // it is not there, or cannot be read either
	}
	rel, err := filepath.Rel(canonical(dir), canonical(to))
	return err != nil || !filepath.IsLocal(rel)
}

// canonical gives one name to a folder that has several.
func canonical(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Clean(dir)
}

// gather reads the files that count as the project's and takes their hash. A
// project with a file that cannot be read cannot be trusted.
func (p *Project) gather(own ladder) {
	sum := sha256.New()
	for _, name := range p.names(own) {
		text, err := p.text(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) || notDir(err):
			continue
		case err != nil:
			p.note = fmt.Sprintf("the project cannot be trusted: %s cannot be read: %v", clip(name), plainly(err))
			return
		}
		p.Files = append(p.Files, name)
		fmt.Fprintf(sum, "%q %d\n", name, len(text))
		sum.Write(text)
	}
	p.Hash = "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// names lists what may belong to the project: its configuration, the relative
// mcp.config files of every level, and the files that its configuration names.
func (p *Project) names(own ladder) []string {
	var names []string
	if p.path != "" {
		names = append(names, projectFile)
	}
	for _, levels := range [][]named{own.with(nil), own.with(p.level)} {
		for _, name := range configOf(levels).MCP.Config {
			if ownsFile(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, key := range []string{"network.cacert", "permissions.files", "preflight.block"} {
		for _, part := range p.level[key].parts {
			if name, ok := listFile(part.value.String()); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// configOf joins levels without asking where values come from.
func configOf(levels []named) Config {
	l := &Loaded{Origins: map[string]string{}, items: map[string][]Item{}}
	for _, s := range settings() {
		l.set(s, levels)
	}
	return l.Config
}

// ownsFile reports whether a name of mcp.config belongs to the working folder.
func ownsFile(name string) bool {
	return !filepath.IsAbs(name) && !strings.HasPrefix(name, "~/")
}

// text reads a file of the project once, so that what is used later is what was
// judged.
func (p *Project) text(name string) ([]byte, error) {
	if text, ok := p.texts[name]; ok {
		return text, nil
	}
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(p.Dir, name)
	}
	if !ownsFile(name) {
		return readBounded(path, maxProjectFile)
	}
	if filepath.IsLocal(name) && leadsOut(path, p.Dir) {
		return nil, errors.New("it is a link that leads out of the project's folder")
	}
	text, err := readBounded(path, maxFile)
	if err == nil {
		p.texts[name] = text
	}
	return text, err
}

// countingProject gives what counts of the project, with a note about the rest.
func (l *Loaded) countingProject(own ladder) level {
	p := &l.project
	if p.note != "" {
		l.Notes = append(l.Notes, p.note)
	}
	if p.Trusted || p.path == "" {
		return p.level
	}
	kept, left := narrow(p.level, own)
	if len(left) > 0 {
		why := "is not trusted"
		if p.Changed {
			why = "changed since it was trusted"
		}
		l.Notes = append(l.Notes, fmt.Sprintf("%s %s, so it may only narrow; left out: %s (dipper trust shows what it would do and accepts it)", p.path, why, strings.Join(left, ", ")))
	}
	return kept
}

// narrow keeps what a project may say before it is trusted, see the tag narrow
// of Config, and names the keys that it leaves out. Limits are compared with the
// levels below the project's; those above win anyway.
func narrow(project level, own ladder) (kept level, left []string) {
	kept = level{}
	base, all := configOf(own.below), configOf(own.with(nil))
	for _, s := range settings() {
		e, given := project[s.key]
		switch {
		case !given:
		case s.key == "permissions.ask" && all.Permissions.Default == "deny" && len(e.parts) > 0:
			left = append(left, s.key) // where all else is denied, a question widens
		case narrower(s.tag.Get("narrow"), e.value, s.in(&base)):
			kept[s.key] = e
		default:
			left = append(left, s.key)
		}
	}
	return kept, left
}

// narrower reports whether a value of a project restricts no less than the one
// it would replace.
func narrower(how string, value, base reflect.Value) bool {
	if how == "add" {
		return true
	}
	if how == "" {
		return false
	}
	v, b := number(value), number(base)
	switch how {
	case "lower0":
		return v == b || v > 0 && (b == 0 || v < b)
	case "higher":
		return v >= b
	}
	return v <= b
}

func number(v reflect.Value) float64 {
	if v.CanFloat() {
		return v.Float()
	}
	return float64(v.Int())
}

// TrustStatus reads the project of a folder, or of the .dipper.yaml named, and
// says whether it is trusted and what it would do.
func TrustStatus(s Source, path string) (Project, error) {
	e := newEnviron(s.Env)
	own, err := s.ownLevels(e, &Loaded{})
	if err != nil {
		return Project{}, err
	}
	p, err := openProject(s, e, projectDir(s, path), own)
	if err == nil {
		p.Effects, err = p.effects()
	}
	return p, err
}

// projectDir gives the folder that a person means: it, or the one a file is in.
func projectDir(s Source, path string) string {
	dir := s.from(path)
	if path == "" {
		dir = s.Dir
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	return dir
}

// TrustProject accepts a project exactly as it was read: if a file has changed
// since, it is not trusted.
func TrustProject(s Source, p Project) error {
	if p.note != "" {
		return fault.New(fault.Invalid, "", "%s", p.note)
	}
	if len(p.Files) == 0 {
		return fault.New(fault.Invalid, "", "there is nothing to trust in %s: no %s and no .mcp.json", p.Dir, projectFile)
	}
	_, err := changeRegister(s.dataDir(newEnviron(s.Env)), func(r register) bool {
		r[p.Dir] = acceptance{Hash: p.Hash}
		return true
	})
	return err
}

// Untrust takes the acceptance of a folder back and reports whether there was one.
func Untrust(s Source, path string) (bool, error) {
	dir := canonical(projectDir(s, path))
	return changeRegister(s.dataDir(newEnviron(s.Env)), func(r register) bool {
		_, known := r[dir]
		delete(r, dir)
		return known
	})
}

// Projects lists the folders that are trusted in the state folder of s.
func Projects(s Source) []string {
	r, _ := readRegister(s.dataDir(newEnviron(s.Env)))
	var dirs []string
	for dir := range r {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs
}
