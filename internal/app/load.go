// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/dipper-web/dipper/fault"
)

// Source is everything that a configuration is read from. Nothing else of the
// process is looked at.
type Source struct {
	// Env is the environment as os.Environ gives it.
	Env []string
	// Dir is the working folder, absolute. Empty: no project file.
	Dir string
	// ConfigPath is the value of --config; it names the user file, which must exist.
	ConfigPath string
	// Flags holds the values of flags by key, in order, as they were typed:
	// "network.allow", "network.resolve" (curl's form), "network.cacert",
	// "network.proxy", "timeouts.total".
	Flags map[string][]string
	// Managed is the file that stands over all. Empty: ManagedPath.
	Managed string
}

// The levels, as Origins names them.
const (
	FromDefault     = "default"
	FromUser        = "user file"
	FromProject     = "project file"
	FromEnvironment = "environment"
	FromFlag        = "flag"
	FromManaged     = "managed file"
)

// Loaded is a checked configuration and where it came from.
type Loaded struct {
	Config Config
	// Standard holds the names that other programs use too.
	Standard Standard
	// Origins says for every key where its value came from: one of the From
	// words, the name of a standard variable, or several joined by " + ".
	Origins map[string]string
	// Notes are sentences for a person: what was left out and why.
	Notes []string
	// UserPath is the user file, and ProjectPath the project file, that was
	// read; empty where there is none.
	UserPath, ProjectPath string
	// ProjectTrusted reports that the project in the working folder was
	// accepted as it is now.
	ProjectTrusted bool
	// DataDir is the state folder, which may not exist yet; see MakeDataDir.
	// Empty where no home is known: state is then kept in memory only.
	DataDir string
	// Dir is the working folder.
	Dir string

	items   map[string][]Item
	env     environ
	project Project
}

// Item is one entry of a list with the place where it was written: "file:line",
// the name of a variable, a flag with its dashes, or "default".
type Item struct{ Text, From string }

// Items gives the entries of a list with their places, in the order of Config.
func (l *Loaded) Items(key string) []Item { return slices.Clone(l.items[key]) }

// Load reads, checks and joins all levels. Every error is fault.Invalid and
// names the file and line, the variable or the flag.
func Load(s Source) (*Loaded, error) {
	e := newEnviron(s.Env)
	l := &Loaded{env: e, Dir: s.Dir, DataDir: s.dataDir(e), Origins: map[string]string{}, items: map[string][]Item{}}
	var err error
	if l.Standard, err = e.standard(); err != nil {
		return nil, err
	}
	own, err := s.ownLevels(e, l)
	if err != nil {
		return nil, err
	}
	if l.project, err = openProject(s, e, s.Dir, own); err != nil {
		return nil, err
	}
	l.ProjectPath, l.ProjectTrusted = l.project.path, l.project.Trusted
	levels := own.with(l.countingProject(own))
	for _, key := range settings() {
		l.set(key, levels)
	}
	l.fallBack()
	return l, nil
}

// named is a level with the word that Origins uses for it.
type named struct {
	from string
	level
}

// ladder holds the levels that are the user's own, lowest first; a project's
// goes in between.
type ladder struct{ below, above []named }

func (l ladder) with(project level) []named {
	return slices.Concat(l.below, []named{{FromProject, project}}, l.above)
}

// ownLevels reads all levels but the project's.
func (s Source) ownLevels(e environ, l *Loaded) (ladder, error) {
	here := place{base: s.Dir, home: e.home()}
	path, mustExist := s.userFile(e)
	user, found, err := readLevel(path, mustExist, e.home())
	if err != nil {
		return ladder{}, err
	}
	if found {
		l.UserPath = path
	}
	variables, notes, err := e.level(here)
	if err != nil {
		return ladder{}, err
	}
	l.Notes = append(l.Notes, notes...)
	flags, err := flagLevel(s.Flags, here)
	if err != nil {
		return ladder{}, err
	}
	managedPath := s.Managed
	if managedPath == "" {
		managedPath = ManagedPath
	}
	managed, _, err := readLevel(managedPath, false, e.home())
	if err != nil {
		return ladder{}, err
	}
	return ladder{
		below: []named{{FromDefault, defaults()}, {FromUser, user}},
		above: []named{{FromEnvironment, variables}, {FromFlag, flags}, {FromManaged, managed}},
	}, nil
}

// readLevel reads a file that is not a project's.
func readLevel(path string, mustExist bool, home string) (level, bool, error) {
	if path == "" {
		return level{}, false, nil
	}
	text, exists, err := readConfig(path, mustExist)
	if err != nil || !exists {
		return level{}, false, err
	}
	out, err := readFile(text, path, place{base: filepath.Dir(path), home: home, inFile: true})
	return out, true, err
}

// defaults is the lowest level, from the tags. A default that cannot be read is
// a slip in config.go, which the first test finds.
func defaults() level {
	out, r := level{}, &reader{file: FromDefault}
	for _, s := range settings() {
		if def := s.tag.Get("def"); def != "" {
			e, err := r.text(s, def)
			if err != nil {
				panic(err)
			}
			out[s.key] = e
		}
	}
	return out
}

// set gives one key its value: of a scalar the highest level that names it, of
// a list or table all levels together. A default holds only where no level
// names the key.
func (l *Loaded) set(s setting, levels []named) {
	var joined entry
	var from []string
	for _, lv := range levels {
		e, ok := lv.level[s.key]
		if !ok {
			continue
		}
		if !s.adds() || len(from) == 1 && from[0] == FromDefault {
			joined, from = entry{}, nil
		}
		joined.value, joined.at = e.value, e.at
		joined.parts = union(joined.parts, e.parts)
		from = append(from, lv.from)
	}
	if len(from) == 0 {
		l.Origins[s.key] = FromDefault
		return
	}
	joined.into(s.in(&l.Config))
	l.Origins[s.key] = strings.Join(from, " + ")
	if s.typ.Kind() == reflect.Slice {
		for _, p := range joined.parts {
			l.items[s.key] = append(l.items[s.key], Item{Text: fmt.Sprint(p.value), From: p.at})
		}
	}
}

// union adds the entries of a higher level. What is there already stays once; of
// two entries with one name the higher wins.
func union(low, high []part) []part {
	all := make([]part, 0, len(low)+len(high))
	at := map[any]int{}
	for _, p := range slices.Concat(low, high) {
		if i, there := at[p.key()]; !there {
			at[p.key()] = len(all)
			all = append(all, p)
		} else if p.name != "" {
			all[i] = p
		}
	}
	return all
}

// fallBack fills in from standard variables what no level names.
func (l *Loaded) fallBack() {
	if l.Config.Search.SearXNG.URL == "" && l.Standard.SearXNGURL != "" {
		l.Config.Search.SearXNG.URL = l.Standard.SearXNGURL
		l.Origins["search.searxng.url"] = "SEARXNG_URL"
	}
}

// Wrong gives the fault.Invalid for an entry of a list that a room could not
// read, with the place where it was written.
func (l *Loaded) Wrong(key string, i Item, err error) error {
	if l.ProjectPath != "" && strings.HasPrefix(i.From, l.ProjectPath+":") {
		return fault.New(fault.Invalid, "", "%s: %s: %s expected", i.From, key, expected(key)) // a stranger's text is not repeated
	}
	said := strings.TrimPrefix(fault.From(err).Detail, key+": ")
	return fault.Wrap(err, fault.Invalid, "", "%s: %s: %s", i.From, key, said)
}

// expected says what the entries of a list are that a room reads.
func expected(key string) string {
	if strings.HasPrefix(key, "trusted.") {
		return "a host, or a host and a path, such as docs.example.org/manual"
	}
	return "a rule such as domain:docs.example.org or https://docs.example.org/manual/"
}
