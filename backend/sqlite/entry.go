// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/dipper-web/dipper/cache"
	"github.com/dipper-web/dipper/fault"
)

// maxEntry bounds one entry before compression, in bytes. A page has ten
// megabytes at most, and a document made from it hardly more; SQLite itself
// ends at a thousand.
const maxEntry = 256 << 20

// row is an entry as it lies in a table.
type row struct {
	key, id, url, title string
	size                int64
	stored, checked     int64 // microseconds since 1970
	seal, data          []byte
}

// digest is the seal of a row: SHA-256 over every field, each with its length
// before it. A bit that flips anywhere, the key included, shows.
func (r *row) digest() []byte {
	h := sha256.New()
	for _, s := range []string{r.key, r.id, r.url, r.title} {
		sealField(h, []byte(s))
	}
	for _, n := range []int64{r.size, r.stored, r.checked} {
		sealField(h, binary.LittleEndian.AppendUint64(nil, uint64(n)))
	}
	sealField(h, r.data)
	return h.Sum(nil)
}

func sealField(h hash.Hash, b []byte) {
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(b))))
	h.Write(b)
}

// about gives what a list shows.
func (r *row) about() cache.Entry {
	return cache.Entry{Key: r.key, ID: r.id, URL: r.url, Title: r.title, Size: r.size,
		StoredAt: fromMicro(r.stored), CheckedAt: fromMicro(r.checked)}
}

// fields gives where a row of the query columns goes.
func (r *row) fields() []any {
	return []any{&r.key, &r.id, &r.url, &r.title, &r.size, &r.stored, &r.checked, &r.seal, &r.data}
}

const columns = "key, id, url, title, size, stored_at, checked_at, seal, data"

// codec turns entries into rows and back. Its tables are made on first use:
// many a command never looks into a page.
type codec struct {
	once sync.Once
	enc  *zstd.Encoder
	dec  *zstd.Decoder
	err  error
}

func (c *codec) ready() error {
	c.once.Do(func() {
		if c.enc, c.err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)); c.err != nil {
			return
		}
		c.dec, c.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(connections), zstd.WithDecoderMaxMemory(maxEntry))
	})
	return c.err
}

func (c *codec) close() {
	if c.dec != nil {
		c.dec.Close()
	}
}

func (c *codec) pack(e cache.Entry) (row, error) {
	if len(e.Data) > maxEntry {
		return row{}, fault.New(fault.TooLarge, "", "%s is not kept: its %d bytes are more than one entry of the library may have (%d)",
			e.URL, len(e.Data), maxEntry)
	}
	if err := c.ready(); err != nil {
		return row{}, err
	}
	r := row{key: e.Key, id: e.ID, url: e.URL, title: e.Title, size: int64(len(e.Data)),
		stored: e.StoredAt.UnixMicro(), checked: e.CheckedAt.UnixMicro(), data: c.enc.EncodeAll(e.Data, nil)}
	r.seal = r.digest()
	return r, nil
}

// unpack gives the entry of a row, false when the row is damaged.
func (c *codec) unpack(r row) (cache.Entry, bool) {
	if c.ready() != nil || string(r.seal) != string(r.digest()) {
		return cache.Entry{}, false
	}
	data, err := c.dec.DecodeAll(r.data, make([]byte, 0, r.size))
	if err != nil || int64(len(data)) != r.size {
		return cache.Entry{}, false
	}
	e := r.about()
	e.Data = data
	return e, true
}

func fromMicro(us int64) time.Time { return time.UnixMicro(us).UTC() }
