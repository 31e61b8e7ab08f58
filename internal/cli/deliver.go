// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/dipper-web/dipper"
	"github.com/dipper-web/dipper/fault"
)

// delivery is the file of -o. A regular file is written beside its place and
// renamed, so that it is there whole or as it was; a device, a pipe or a socket
// is written as it stands.
type delivery struct {
	path string   // as named
	real string   // with symbolic links followed
	f    *os.File // nil: no file was asked for
	part bool     // f is renamed to real at the end
}

// from sees a path from the program's working folder.
func (p *Program) from(path string) string {
	if filepath.IsAbs(path) || p.Dir == "" {
		return path
	}
	return filepath.Join(p.Dir, path)
}

// followed is where a path leads, also when a link at its end leads to a file
// that is not there yet.
func followed(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	to, err := os.Readlink(path)
	switch {
	case err != nil:
		return path
	case filepath.IsAbs(to):
		return to
	}
	return filepath.Join(filepath.Dir(path), to)
}

// openDelivery opens the file before anything is fetched: a page is not asked
// for when its result has no place.
func (p *Program) openDelivery(path string) (*delivery, error) {
	d := &delivery{path: path}
	if path == "" || path == "-" {
		return d, nil
	}
	d.real = followed(p.from(path))
	mode := fs.FileMode(0o666) // less what the user's mask takes
	info, err := os.Stat(d.real)
	switch {
	case err == nil && info.IsDir():
		return nil, d.refuse("it is a folder")
	case err == nil && !info.Mode().IsRegular():
		d.f, err = os.OpenFile(d.real, os.O_WRONLY, 0)
		return d, d.fault(err)
	case err == nil:
		mode = info.Mode().Perm()
	}
	d.part = true
	d.f, err = os.OpenFile(fmt.Sprintf("%s.part-%08x", d.real, rand.Uint32()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	return d, d.fault(err)
}

// fault words why the file cannot be opened.
func (d *delivery) fault(err error) error {
	if err == nil {
		return nil
	}
	return d.refuse(reason(err))
}

func (d *delivery) refuse(why string) error {
	e := fault.New(fault.Invalid, "", "the result cannot be written to %s: %s", d.path, why)
	e.Advice = "Nothing was fetched. Name another file with -o, or leave it out."
	return e
}

// write puts what from holds into the file and closes it.
func (d *delivery) write(from io.Reader) error {
	_, err := io.Copy(d.f, from)
	if e := d.f.Close(); err == nil {
		err = e
	}
	if err == nil && d.part {
		err = os.Rename(d.f.Name(), d.real)
	}
	if err == nil {
		d.f = nil
		return nil
	}
	e := fault.Wrap(err, fault.Internal, "", "the result could not be written to %s: %s", d.path, reason(err))
	e.Advice = "Make room, or name another file with -o; the page is kept, so the next call needs no network."
	return e
}

// drop takes away what was begun and not finished.
func (d *delivery) drop() {
	if d.f == nil {
		return
	}
	d.f.Close() // closed before where writing failed
	if d.part {
		os.Remove(d.f.Name())
	}
}

// deliver writes the result where the command line wants it: to the file, and
// to stdout when there is none or when JSON was asked for. raw says that the
// bytes of the body were asked for, whatever they are.
func (p *Program) deliver(ans *dipper.Answer, file *delivery, raw bool) error {
	wrote := false
	if file.f != nil {
		body, err := fileBody(ans)
		if err != nil {
			return err
		}
		if body == nil {
			p.note("nothing was written to %s: the call ended as %s", file.path, ans.Outcome)
		} else {
			defer body.Close()
			if err := file.write(body); err != nil {
				return err
			}
			wrote = true
		}
	}
	switch {
	case p.flags.json:
		p.writeJSON(ans)
	case wrote:
	case raw && ans.Outcome == dipper.Saved && !p.Terminals.Out:
		return p.pour(ans)
	default:
		p.out.Write(p.shown(ans)) // Run tells of errors
	}
	return nil
}

// pour writes the bytes of a binary body to stdout, as mode raw wants them.
func (p *Program) pour(ans *dipper.Answer) error {
	body, err := fileBody(ans)
	if err != nil {
		return err
	}
	defer body.Close()
	io.Copy(p.out, body) // Run tells of errors
	return nil
}

// fileBody is what a file gets: the bytes of a binary body and of mode raw, else
// the text. A result that holds no page is not for a file, nil.
func fileBody(ans *dipper.Answer) (io.ReadCloser, error) {
	switch ans.Outcome {
	case dipper.Saved:
		f, err := os.Open(ans.Saved.Path)
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "", "the saved file %s could not be read again: %s", ans.Saved.Path, reason(err))
		}
		return f, nil
	case dipper.OK, dipper.Partial, dipper.Empty:
		return io.NopCloser(bytes.NewReader(resultBytes(ans))), nil
	}
	return nil, nil
}

// shown is what stdout gets.
func (p *Program) shown(ans *dipper.Answer) []byte {
	data := resultBytes(ans)
	if p.Terminals.Out {
		data = []byte(harmless(string(data)))
	}
	if (ans.Mode != dipper.ModeRaw || p.Terminals.Out) && len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	return data
}

// resultBytes is the result: in mode raw the body as it came, unless it was cut.
func resultBytes(ans *dipper.Answer) []byte {
	if ans.Mode == dipper.ModeRaw && ans.Raw != nil && ans.Shown != nil && !ans.Shown.Truncated && ans.Shown.Next == "" {
		return ans.Raw
	}
	return []byte(ans.Result)
}
