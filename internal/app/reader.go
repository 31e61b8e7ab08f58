// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/dipper-web/dipper/fault"
)

const (
	// maxFile bounds a configuration file: thousands of rules fit into it.
	maxFile = 1 << 20
	// maxNodes bounds the values read from one file, aliases followed, so that
	// a small file of aliases to aliases cannot unfold into a huge one.
	maxNodes = 100_000
	// maxShown bounds how much of a wrong value an error repeats.
	maxShown = 60
)

// entry is the value of one key at one level.
type entry struct {
	value reflect.Value // of a scalar key
	parts []part        // of a list or table
	at    string        // file:line, variable or flag
}

// part is one entry of a list or table.
type part struct {
	name  string // of an entry in a table, or of a record in a list
	value reflect.Value
	at    string
}

// key tells entries of one list or table apart.
func (p part) key() any {
	if p.name != "" {
		return p.name
	}
	return p.value.Interface()
}

// level is what one source sets, by key.
type level map[string]entry

// reader turns YAML into a level. Its errors name the file and the line.
type reader struct {
	place
	file  string
	line  bool // whether lines are worth naming
	nodes int  // read so far
}

// readFile reads the text of a whole configuration file.
func readFile(text []byte, file string, p place) (level, error) {
	r := &reader{place: p, file: file, line: true}
	root, err := r.document(text)
	if err != nil || root == nil {
		return level{}, err
	}
	out := level{}
	return out, r.section(root, reflect.TypeFor[Config](), "", out)
}

// document parses the text and gives its only value, nil for an empty one.
func (r *reader) document(text []byte) (*yaml.Node, error) {
	if len(text) > maxFile {
		return nil, fault.New(fault.Invalid, "", "%s is larger than %s", r.file, Size(maxFile))
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, r.syntax(err)
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, r.syntax(err)
		}
		return nil, r.fail(&second, "a second document is not read; one file holds one configuration")
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	n, err := r.follow(doc.Content[0])
	if err != nil || n.ShortTag() == "!!null" {
		return nil, err
	}
	return n, nil
}

// syntax puts the place that the parser names in front.
func (r *reader) syntax(err error) error {
	m := regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`).FindStringSubmatch(err.Error())
	if m == nil && r.strange {
		return fault.New(fault.Invalid, "", "%s is not valid YAML", r.file)
	}
	if m == nil {
		return fault.Wrap(err, fault.Invalid, "", "%s is not valid YAML", r.file)
	}
	at := r.file
	if m[1] != "" && r.line {
		at += ":" + m[1]
	}
	if r.strange { // the parser repeats names and signs
		return fault.New(fault.Invalid, "", "%s: not valid YAML", at)
	}
	return fault.Wrap(err, fault.Invalid, "", "%s: not valid YAML: %s", at, m[2])
}

func (r *reader) at(n *yaml.Node) string {
	if !r.line {
		return r.file
	}
	return r.file + ":" + strconv.Itoa(n.Line)
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) error {
	return fault.New(fault.Invalid, "", "%s: %s", r.at(n), fmt.Sprintf(format, args...))
}

// follow resolves an alias and counts the value.
func (r *reader) follow(n *yaml.Node) (*yaml.Node, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if r.nodes++; r.nodes > maxNodes {
		return nil, r.fail(n, "more than %d values; aliases count each time they are used", maxNodes)
	}
	return n, nil
}

// pairs calls visit with every key of a mapping and its value.
func (r *reader) pairs(n *yaml.Node, name string, visit func(key string, k, v *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return r.fail(n, "%s: keys with values expected, found %s", title(name), r.found(n, ""))
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, err := r.follow(n.Content[i])
		if err != nil {
			return err
		}
		v, err := r.follow(n.Content[i+1])
		if err != nil {
			return err
		}
		switch {
		case k.Kind != yaml.ScalarNode:
			return r.fail(k, "%s: a key must be a plain word", title(name))
		case k.ShortTag() == "!!merge":
			return r.fail(k, "%s: merge keys are not read; write the values out", title(name))
		case seen[k.Value] > 0:
			return r.fail(n.Content[i], "%s is given twice, first in line %d", r.inner(name, k.Value), seen[k.Value])
		}
		seen[k.Value] = n.Content[i].Line
		if err := visit(k.Value, k, v); err != nil {
			return err
		}
	}
	return nil
}

// section reads the keys of Config, or of a part of it, into out. A key without
// a value, as left by commenting out its lines, says nothing.
func (r *reader) section(n *yaml.Node, t reflect.Type, name string, out level) error {
	return r.pairs(n, name, func(key string, k, v *yaml.Node) error {
		f, ok := field(t, key)
		if !ok {
			return r.unknown(k, name)
		}
		if isNull(v) {
			return nil
		}
		full := dotted(name, key)
		if f.Type.Kind() == reflect.Struct {
			return r.section(v, f.Type, full, out)
		}
		e, err := r.leaf(v, f.Type, f.Tag, full)
		e.at = r.at(k)
		out[full] = e
		return err
	})
}

func (r *reader) unknown(k *yaml.Node, section string) error {
	full := dotted(section, k.Value)
	near := nearestKey(full)
	if near == full {
		return r.fail(k, "unknown key %q: %s is written as nested keys, not with dots", clip(k.Value), near)
	}
	return r.fail(k, "unknown key%s; the nearest known one is %s", cmp.Or(r.word(" "+clip(full)), " in "+title(section)), near)
}

// word is text where it may be repeated, else nothing.
func (r *reader) word(text string) string {
	if r.strange {
		return ""
	}
	return text
}

// inner names an entry by the name of what it is in and its own.
func (r *reader) inner(name, key string) string {
	if !r.strange {
		return dotted(name, key)
	}
	if near := nearestKey(dotted(name, key)); near == dotted(name, key) {
		return near
	}
	return "an entry of " + title(name)
}

// found says what stands where something else was expected.
func (r *reader) found(n *yaml.Node, tag reflect.StructTag) string {
	if r.strange && n.Kind == yaml.ScalarNode {
		return "something else"
	}
	return found(n, tag)
}

// leaf reads the value of one key: a scalar, a list or a table.
func (r *reader) leaf(v *yaml.Node, t reflect.Type, tag reflect.StructTag, name string) (entry, error) {
	switch t.Kind() {
	case reflect.Slice:
		return r.list(v, t, tag, name)
	case reflect.Map:
		return r.table(v, t, tag, name)
	}
	value, err := r.one(v, t, tag, name)
	return entry{value: value}, err
}

func (r *reader) list(v *yaml.Node, t reflect.Type, tag reflect.StructTag, name string) (entry, error) {
	if v.Kind != yaml.SequenceNode {
		return entry{}, r.fail(v, "%s: a list like [a, b] expected, found %s", name, r.found(v, tag))
	}
	if tag.Get("min") != "" && len(v.Content) == 0 {
		return entry{}, r.fail(v, "%s: at least one entry expected", name)
	}
	e := entry{parts: make([]part, 0, len(v.Content))}
	for _, item := range v.Content {
		n, err := r.follow(item)
		if err != nil {
			return e, err
		}
		value, err := r.value(n, t.Elem(), tag, name)
		if err != nil {
			return e, err
		}
		p := part{value: value, at: r.at(item)}
		if isRecord(t.Elem()) {
			p.name = value.FieldByName("Name").String()
			if first := slices.IndexFunc(e.parts, func(q part) bool { return q.name == p.name }); first >= 0 {
				return e, r.fail(n, "%s: %s is there twice", name, cmp.Or(r.word(quote(p.name)), "a name"))
			}
		}
		e.parts = append(e.parts, p)
	}
	return e, nil
}

func (r *reader) table(v *yaml.Node, t reflect.Type, tag reflect.StructTag, name string) (entry, error) {
	e := entry{parts: []part{}}
	err := r.pairs(v, name, func(key string, k, n *yaml.Node) error {
		if strings.TrimSpace(key) == "" {
			return r.fail(k, "%s: an entry needs a name", name)
		}
		value, err := r.value(n, t.Elem(), tag, r.inner(name, key))
		if err == nil && tag.Get("is") == "resolve" {
			var addr string
			if key, addr, err = resolvePair(key, value.String()); err != nil {
				return r.fail(k, "%s: %v%s", name, err, r.word(", found "+quote(k.Value)+": "+quote(n.Value)))
			}
			value = reflect.ValueOf(addr)
		}
		e.parts = append(e.parts, part{name: key, value: value, at: r.at(k)})
		return err
	})
	return e, err
}

// value reads an entry of a list or table.
func (r *reader) value(n *yaml.Node, t reflect.Type, tag reflect.StructTag, name string) (reflect.Value, error) {
	switch {
	case isRecord(t):
		return r.record(n, t, name)
	case isNull(n), n.Kind == yaml.ScalarNode && n.Value == "" && tag.Get("is") != "body":
		return reflect.Value{}, r.fail(n, "%s: an entry without a value", name)
	}
	return r.one(n, t, tag, name)
}

// isRecord tells a struct described by tags from a value such as a range.
func isRecord(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() > 0 && t.Field(0).Tag.Get("key") != ""
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// record reads a struct inside a list or table.
func (r *reader) record(n *yaml.Node, t reflect.Type, name string) (reflect.Value, error) {
	out, given := reflect.New(t).Elem(), map[string]bool{}
	err := r.pairs(n, name, func(key string, k, v *yaml.Node) error {
		f, ok := field(t, key)
		if !ok {
			return r.fail(k, "unknown key%s; the nearest known one is %s", cmp.Or(r.word(" "+clip(dotted(name, key))), " in "+title(name)), nearestField(t, key))
		}
		if isNull(v) {
			return nil
		}
		given[key] = true
		e, err := r.leaf(v, f.Type, f.Tag, dotted(name, key))
		if err == nil {
			e.into(out.FieldByIndex(f.Index))
		}
		return err
	})
	if err == nil {
		err = r.complete(n, out, given, name)
	}
	return out, err
}

// complete fills in what was not given and checks the whole record.
func (r *reader) complete(n *yaml.Node, out reflect.Value, given map[string]bool, name string) error {
	for i := range out.NumField() {
		tag := out.Type().Field(i).Tag
		switch def := tag.Get("def"); {
		case given[tag.Get("key")]:
		case tag.Get("need") != "":
			return r.fail(n, "%s: %s is missing", name, tag.Get("key"))
		case def != "":
			v, err := r.scalar(out.Field(i).Type(), tag, def)
			if err != nil {
				return r.fail(n, "%s: %s: %v", name, tag.Get("key"), err)
			}
			out.Field(i).Set(v)
		}
	}
	if c, ok := out.Interface().(interface{ check() error }); ok {
		if err := c.check(); err != nil {
			return r.fail(n, "%s: %v", name, err)
		}
	}
	return nil
}

// one reads a single value. A text may stand without quotes whatever it looks
// like; numbers and truth values may not be written as texts.
func (r *reader) one(n *yaml.Node, t reflect.Type, tag reflect.StructTag, name string) (reflect.Value, error) {
	wrong := func(err error) (reflect.Value, error) {
		return reflect.Value{}, r.fail(n, "%s: %v, found %s", name, err, r.found(n, tag))
	}
	text := n.Value
	switch {
	case n.Kind != yaml.ScalarNode:
		return wrong(errors.New("a single value expected"))
	case t.Kind() == reflect.Bool && n.ShortTag() != "!!bool", t.Kind() == reflect.Int && n.ShortTag() != "!!int",
		t.Kind() == reflect.Float64 && n.ShortTag() != "!!int" && n.ShortTag() != "!!float":
		text = "" // reads as none of them, so the error says what is expected
	case t.Kind() == reflect.Int:
		var whole int64 // YAML also has 0x10 and 1_000
		if n.Decode(&whole) == nil {
			text = strconv.FormatInt(whole, 10)
		}
	case !strings.Contains("!!str !!int !!float !!bool !!timestamp", n.ShortTag()):
		return wrong(errors.New("a plain value expected"))
	}
	v, err := r.scalar(t, tag, text)
	if err != nil {
		return wrong(err)
	}
	return v, nil
}

// into sets the place of a key, or of a field of a record, to the entry.
func (e entry) into(to reflect.Value) {
	switch to.Kind() {
	case reflect.Slice:
		to.Set(reflect.MakeSlice(to.Type(), 0, len(e.parts)))
		for _, p := range e.parts {
			to.Set(reflect.Append(to, p.value))
		}
	case reflect.Map:
		to.Set(reflect.MakeMapWithSize(to.Type(), len(e.parts)))
		for _, p := range e.parts {
			to.SetMapIndex(reflect.ValueOf(p.name), p.value)
		}
	default:
		to.Set(e.value)
	}
}

// found says what stands where something else was expected, without a secret.
func found(n *yaml.Node, tag reflect.StructTag) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	}
	if tag.Get("secret") != "" {
		return "another one"
	}
	if n.ShortTag() == "!!str" {
		return "the text " + quote(n.Value)
	}
	return quote(n.Value)
}

func quote(s string) string { return strconv.Quote(clip(s)) }

// clip keeps messages short and free of control characters.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}

func dotted(section, key string) string {
	if section == "" {
		return key
	}
	return section + "." + key
}

func title(section string) string {
	if section == "" {
		return "the file"
	}
	return section
}
