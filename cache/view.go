// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"encoding/json"
	"time"

	"github.com/dipper-web/dipper/fault"
)

const (
	// DefaultFresh is how long an answer is given out without asking its source
	// again: the reference tool's fifteen minutes.
	DefaultFresh = 15 * time.Minute

	// storePatience bounds one call of the Store. A store that is ill may cost a
	// fetch some seconds, never the fetch itself.
	storePatience = 5 * time.Second
)

// The words of Got.Source.
const (
	Network     = "network"     // fetched anew
	Kept        = "cache"       // kept, and no network was used
	Revalidated = "revalidated" // kept, and its source said that it still holds
	Offline     = "offline"     // kept, given out without asking because of Want.Offline
)

// ViewOptions sets up a View. The zero value holds 50 MiB in memory for 15
// minutes, with JSON as the form of its values and no Store behind it.
type ViewOptions[T any] struct {
	// Store keeps entries beyond the memory; nil for none.
	Store Store
	// Memory is how many bytes of values are held decoded, counted by their
	// encoded length: 0 means DefaultMemory, negative none.
	Memory int64
	// Fresh is how long after CheckedAt a value is given out without asking its
	// source: 0 means DefaultFresh, negative never.
	Fresh time.Duration
	// Encode and Decode turn values into bytes and back; nil means JSON.
	Encode func(T) ([]byte, error)
	Decode func([]byte) (T, error)
	// Label gives what an entry is listed under; nil leaves it bare.
	Label func(T) (id, url, title string)
	// OnError hears of failures of the Store (op "get", "put") and of Encode and
	// Decode ("encode", "decode"). They are misses, never failures of Do.
	OnError func(op string, err error)
}

// A View is a typed window on a Store. Its methods are safe for use by several
// goroutines. Values are shared between callers: none of them may be changed.
type View[T any] struct {
	o       ViewOptions[T]
	held    *byteLRU[kept[T]]
	flights flights[Got[T]]
}

// kept is a value with its two times, of the wall clock.
type kept[T any] struct {
	value             T
	stored, checkedAt time.Time
}

// NewView makes a View.
func NewView[T any](o ViewOptions[T]) *View[T] {
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.Fresh == 0 {
		o.Fresh = DefaultFresh
	}
	if o.Encode == nil {
		o.Encode = func(v T) ([]byte, error) { return json.Marshal(v) }
	}
	if o.Decode == nil {
		o.Decode = func(b []byte) (v T, err error) { return v, json.Unmarshal(b, &v) }
	}
	if o.Label == nil {
		o.Label = func(T) (id, url, title string) { return "", "", "" }
	}
	if o.OnError == nil {
		o.OnError = func(string, error) {}
	}
	return &View[T]{o: o, held: newByteLRU[kept[T]](o.Memory)}
}

// Want says what is wanted, and how old it may be.
type Want[T any] struct {
	Key string
	// Refresh asks the source at once, however fresh the kept value is.
	Refresh bool
	// Offline gives what is kept, however old, and never fills. It wins over
	// Refresh and AnyAge.
	Offline bool
	// AnyAge gives what is kept, however old, without asking its source, and
	// fills when nothing is kept. Refresh wins over it.
	AnyAge bool
	// Valid says whether a kept value may be given to this caller now; one that
	// may not is a miss. nil means that all may.
	Valid func(T) bool
	// Party keeps callers apart who must not share one fill, say because they
	// have different permissions: only callers of the same Party join. The kept
	// value is the same for all.
	Party string
}

// Filled is what a fill brings.
type Filled[T any] struct {
	Value T
	// Keep says whether the value may be kept and given to later callers.
	Keep bool
	// Revalidated says that Value is the stale one, confirmed by its source.
	Revalidated bool
}

// Got is an answer.
type Got[T any] struct {
	Value T
	// Source is Network, Kept, Revalidated or Offline.
	Source string
	// StoredAt is when the value was fetched, CheckedAt when its source last
	// confirmed it.
	StoredAt  time.Time
	CheckedAt time.Time
	// Joined says that the answer came from the fill of another caller.
	Joined bool
}

// Do gives the value of w.Key: a kept one if w allows it, else the one that
// fill brings. stale is the kept value that is no longer fresh, for fill to
// revalidate, or nil.
//
// However many callers want one key at a time, one fill runs. It runs on a
// context that carries the values of the first caller's but not its end: a
// caller whose ctx ends gets its failure at once, and the fill is canceled only
// when nobody waits for it any more. A fill must therefore bound its own time.
//
// What fill fails with all who wait get, and it is never kept; a panic in it is
// a fault.Internal. With Offline and nothing kept the failure is
// fault.Unreachable with cause fault.Offline. Failures of the Store are not
// failures of Do.
func (v *View[T]) Do(ctx context.Context, w Want[T], fill func(ctx context.Context, stale *T) (Filled[T], error)) (Got[T], error) {
	if err := ended(ctx); err != nil {
		return Got[T]{}, err
	}
	if got, ok := v.glance(ctx, w); ok {
		return got, nil
	}
	if w.Offline {
		if err := ended(ctx); err != nil {
			return Got[T]{}, err
		}
		return Got[T]{}, fault.New(fault.Unreachable, fault.Offline, "the page is not kept, and Dipper was told to stay offline")
	}
	work := func(ctx context.Context) (Got[T], error) { return v.read(ctx, w, fill) }
	for {
		got, led, err := v.flights.do(ctx, w.Key+"\x00"+w.Party, work)
		if err != nil || led {
			return got, err
		}
		if w.accepts(got) {
			got.Joined = got.Source != Kept
			return got, nil
		}
		// The flight of somebody with other wants: it is over and out of the way.
	}
}

// glance gives what can be given without a flight.
func (v *View[T]) glance(ctx context.Context, w Want[T]) (Got[T], bool) {
	switch {
	case w.Offline:
		k, ok := v.find(ctx, w)
		return k.got(Offline), ok
	case w.Refresh:
		return Got[T]{}, false
	case w.AnyAge:
		k, ok := v.find(ctx, w)
		return k.got(Kept), ok
	}
	k, ok := v.held.get(w.Key)
	return k.got(Kept), ok && v.fresh(k) && w.valid(k.value)
}

// read is the work of one flight. It looks again into memory and Store: what
// another flight brought between the caller's glance and now counts.
func (v *View[T]) read(ctx context.Context, w Want[T], fill func(context.Context, *T) (Filled[T], error)) (Got[T], error) {
	k, ok := v.find(ctx, w)
	if ok && !w.Refresh && (w.AnyAge || v.fresh(k)) {
		return k.got(Kept), nil
	}
	var stale *T
	if ok {
		stale = &k.value
	}
	filled, err := fill(ctx, stale)
	if err != nil {
		return Got[T]{}, err
	}
	fresh, source := kept[T]{value: filled.Value, checkedAt: wall()}, Network
	fresh.stored = fresh.checkedAt
	if filled.Revalidated {
		source = Revalidated
		if ok {
			fresh.stored = k.stored
		}
	}
	if filled.Keep && ctx.Err() == nil {
		v.keep(ctx, w.Key, fresh)
	}
	return fresh.got(source), nil
}

// Put keeps a value that was come by otherwise, as checked now.
func (v *View[T]) Put(ctx context.Context, key string, value T) {
	now := wall()
	v.keep(ctx, key, kept[T]{value, now, now})
}

// Drop takes the value of a key out of the memory; the Store is not touched.
func (v *View[T]) Drop(key string) { v.held.remove(key) }

// DropAll takes all values out of the memory; the Store is not touched.
func (v *View[T]) DropAll() { v.held.clear() }

// find gives the value of w.Key from memory or Store, whichever was checked
// later: another process may have revalidated what this one still holds.
func (v *View[T]) find(ctx context.Context, w Want[T]) (kept[T], bool) {
	k, ok := v.held.get(w.Key)
	if !ok || !v.fresh(k) {
		if s, found := v.fromStore(ctx, w.Key); found && (!ok || s.checkedAt.After(k.checkedAt)) {
			k, ok = s, true
		}
	}
	return k, ok && w.valid(k.value)
}

func (v *View[T]) fromStore(ctx context.Context, key string) (kept[T], bool) {
	if v.o.Store == nil {
		return kept[T]{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	e, ok, err := v.o.Store.Get(ctx, key)
	if err != nil {
		v.report("get", err)
	}
	if err != nil || !ok {
		return kept[T]{}, false
	}
	value, err := v.o.Decode(e.Data)
	if err != nil {
		v.report("decode", err)
		return kept[T]{}, false
	}
	k := kept[T]{value, e.StoredAt, e.CheckedAt}
	v.held.put(key, k, int64(len(e.Data)))
	return k, true
}

func (v *View[T]) keep(ctx context.Context, key string, k kept[T]) {
	data, err := v.o.Encode(k.value)
	if err != nil {
		v.report("encode", err)
		return
	}
	v.held.put(key, k, int64(len(data)))
	if v.o.Store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	e := Entry{Key: key, Data: data, StoredAt: k.stored, CheckedAt: k.checkedAt}
	e.ID, e.URL, e.Title = v.o.Label(k.value)
	if err := v.o.Store.Put(ctx, e); err != nil {
		v.report("put", err)
	}
}

// report passes a failure of the store on. That a caller went away is none.
func (v *View[T]) report(op string, err error) {
	if !fault.From(err).Is(fault.Canceled) {
		v.o.OnError(op, err)
	}
}

// fresh reports whether k may be given out without asking its source. One that
// was checked in the future is not fresh: the clock went back, and its age
// cannot be told.
func (v *View[T]) fresh(k kept[T]) bool {
	age := wall().Sub(k.checkedAt)
	return age >= 0 && age < v.o.Fresh
}

func (k kept[T]) got(source string) Got[T] {
	return Got[T]{Value: k.value, Source: source, StoredAt: k.stored, CheckedAt: k.checkedAt}
}

func (w Want[T]) valid(v T) bool { return w.Valid == nil || w.Valid(v) }

// accepts reports whether the answer of another caller's flight will do.
func (w Want[T]) accepts(g Got[T]) bool {
	return (!w.Refresh || g.Source != Kept) && w.valid(g.Value)
}

// wall is the time without its monotonic part, which stands still while a
// laptop sleeps: a page of last night would be fresh in the morning.
func wall() time.Time { return time.Now().Round(0) }
