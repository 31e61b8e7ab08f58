// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package dipper

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/dipper-web/dipper/convert"
	"github.com/dipper-web/dipper/extract"
	"github.com/dipper-web/dipper/fault"
	"github.com/dipper-web/dipper/retrieve"
)

// replyLife is how long a reply of the helper model may be used again. Its key
// holds the digest of the document, so a changed page never meets an old reply.
const replyLife = 30 * 24 * time.Hour

// reading is a page with its document: what read makes and what is kept. The
// body stays, so that another form (the whole page, other links) needs no network.
type reading struct {
	URL, Final       string
	Status           int
	StatusText, Type string
	Header           http.Header // the few fields that convert looks at
	Body             []byte
	Addr             netip.Addr
	Private          bool
	ETag             string
	LastModified     string
	Cut              string
	NoStore          bool
	RetryAfter       time.Duration
	Moved            *Move
	Saved            *SavedFile
	Doc              convert.Document
	Links            []string // the document's links as keys of the provenance ledger
	Fetched          time.Time
	Person           bool // a person named it, so robots.txt may not have been asked
	Chars, Tokens    int  // of the document's Markdown
}

// keptHeaders are the header fields that say something about the body.
var keptHeaders = [...]string{"Cf-Mitigated", "Server", "Content-Language", "X-Robots-Tag", "Www-Authenticate", "Last-Modified"}

func newReading(p retrieve.Page) reading {
	r := reading{
		URL: p.Final.String(), Final: p.Final.String(), Status: p.Status, StatusText: p.StatusText, Type: p.Type,
		Header: http.Header{}, Body: p.Body, Addr: p.Addr, Private: p.Private, ETag: p.ETag, LastModified: p.LastModified,
		Cut: p.Cut, NoStore: p.NoStore, RetryAfter: p.RetryAfter, Fetched: time.Now().UTC(),
	}
	for _, k := range keptHeaders {
		if v := p.Header.Values(k); len(v) > 0 {
			r.Header[k] = v
		}
	}
	if p.Moved != nil {
		r.Moved = &Move{From: p.Moved.From, To: p.Moved.To, Status: p.Moved.Status}
	}
	return r
}

// renewed is the reading after the site said that nothing has changed. What the
// answer says of keeping and of the page's version counts from now on.
func (r *reading) renewed(p retrieve.Page) reading {
	same := *r
	same.NoStore = p.NoStore
	if p.ETag != "" {
		same.ETag = p.ETag
	}
	if p.LastModified != "" {
		same.LastModified = p.LastModified
	}
	if p.Addr.IsValid() {
		same.Addr, same.Private = p.Addr, p.Private
	}
	return same
}

// input gives the body to convert.
func (r *reading) input(o convert.Options) convert.Input {
	return convert.Input{Body: r.Body, Type: r.Type, URL: r.Final, Status: r.Status, Header: r.Header, Options: o}
}

// document gives the page in the form that the request asks for.
func (r *reading) document(req Request) (convert.Document, error) {
	o := convert.Options{Links: req.Links, Images: req.Images, Full: req.Full, Clean: req.ForModel || req.reads()}
	if o == (convert.Options{}) || o == (convert.Options{Clean: true}) && r.Doc.Kind == "html" {
		return r.Doc, nil
	}
	return convert.Markdown(r.input(o))
}

// save keeps a binary body on disk; the reading itself lets go of it.
func (r *reading) save(ctx context.Context, k Keeper, mime string) error {
	switch {
	case r.Cut == "size":
		return fault.New(fault.TooLarge, "", "%s is %s and larger than a page may be", r.Final, mime)
	case r.Cut != "":
		return fault.New(fault.Unreachable, fault.Reset, "%s is %s, and it did not come whole", r.Final, mime)
	case k == nil:
		return fault.New(fault.Unreadable, fault.Type, "%s is %s, and there is no folder to keep binary files in", r.Final, mime)
	}
	path, err := k.Keep(ctx, convert.SafeName(r.Final, mime), r.Body)
	if err != nil {
		e := fault.Wrap(err, fault.Internal, "", "%s is %s (%d bytes), and it could not be saved%s", r.Final, mime, len(r.Body), whyNotSaved(err))
		e.Advice = "Free some space, or let Dipper write to its state folder (dipper doctor names it); then call again."
		return e
	}
	r.Saved, r.Body = &SavedFile{Path: path, Type: mime, Bytes: int64(len(r.Body))}, nil
	return nil
}

// whyNotSaved says what kept a file from being written, where a person can mend it.
func whyNotSaved(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return ": the disk is full"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ": the folder may not be written"
	}
	return ""
}

// outcome says how the reading ended. Failures are failure's.
func (r *reading) outcome() Outcome {
	switch {
	case r.Moved != nil:
		return Moved
	case r.Saved != nil:
		return Saved
	case r.Doc.Hollow == convert.Challenge:
		return Challenge
	case r.Status == http.StatusUnauthorized, r.Doc.Hollow == convert.Login:
		return Login
	case r.Status == http.StatusNotFound, r.Status == http.StatusGone, r.Doc.Hollow == convert.NotFound:
		return NotFound
	case r.Cut != "" && r.hasText():
		return Partial
	case r.Doc.Hollow == convert.Shell:
		return Shell
	case r.Cut != "", r.Doc.Truncated:
		return Partial
	case r.Doc.Hollow == convert.Empty:
		return Empty
	}
	return OK
}

// hasText says whether there is anything to read.
func (r *reading) hasText() bool { return strings.TrimSpace(r.Doc.Markdown) != "" }

// failure says whether the reading is none: the status is an error that no outcome
// covers, or the body broke off before any text came.
func (r *reading) failure() error {
	if r.Status < 400 {
		return r.broken()
	}
	switch o := r.outcome(); {
	case o == Challenge || o == Login || o == NotFound:
		return nil
	case r.Status == http.StatusTooManyRequests, r.Status == http.StatusServiceUnavailable:
		return &fault.Error{Kind: fault.Limited, Cause: fault.BySite, Code: r.Status, RetryAfter: r.RetryAfter, Excerpt: r.Doc.Excerpt,
			Detail: r.Final + " answered " + r.statusLine() + ": the site asks to slow down"}
	}
	return &fault.Error{Kind: fault.Refused, Cause: fault.Status, Code: r.Status, Excerpt: r.Doc.Excerpt,
		Detail: r.Final + " answered " + r.statusLine()}
}

// broken is the failure of a body that broke off before any text came.
func (r *reading) broken() error {
	if r.Saved != nil || r.hasText() {
		return nil
	}
	switch r.Cut {
	case "reset":
		return fault.New(fault.Unreachable, fault.Reset, "the connection to %s broke before any text came", r.Final)
	case "idle", "total":
		return fault.New(fault.Timeout, fault.Cause(r.Cut), "%s sent no text in time", r.Final)
	}
	return nil
}

// keep says whether the reading may be used again: whole pages and permanent
// moves, never a failure, a wall or a part.
func (r *reading) keep() bool {
	if r.NoStore || r.Cut != "" {
		return false
	}
	switch r.outcome() {
	case OK, Empty, Saved:
		return r.Status < 300
	case Moved:
		return r.Status == http.StatusMovedPermanently || r.Status == http.StatusPermanentRedirect
	}
	return false
}

// usable says whether what the reading names is still there.
func (r *reading) usable() bool {
	if r.Saved == nil {
		return true
	}
	info, err := os.Stat(r.Saved.Path)
	return err == nil && info.Size() == r.Saved.Bytes
}

// pageID is the stable handle of a URL in the library.
func pageID(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:6])
}

// digest tells documents apart.
func digest(markdown string) string {
	sum := sha256.Sum256([]byte(markdown))
	return hex.EncodeToString(sum[:8])
}

func encodeReading(r reading) ([]byte, error)        { return encode(r) }
func decodeReading(b []byte) (reading, error)        { return decode[reading](b) }
func encodeReply(r extract.Reply) ([]byte, error)    { return encode(r) }
func decodeReply(b []byte) (extract.Reply, error)    { return decode[extract.Reply](b) }
func labelReading(r reading) (id, url, title string) { return pageID(r.Final), r.Final, r.Doc.Title }

func encode[T any](v T) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func decode[T any](b []byte) (T, error) {
	var v T
	err := gob.NewDecoder(bytes.NewReader(b)).Decode(&v)
	return v, err
}
