// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cache keeps what was read once, so that it is not read twice.
//
// A Store keeps entries of bytes by key; Memory is the one without a disk. A
// View is what the rest of the program talks to: it holds decoded values in
// front of a Store, knows how long they are fresh, and sees to it that any
// number of callers who want the same thing at the same time cost one fetch.
package cache

import (
	"context"
	"time"
)

// An Entry is one kept thing.
type Entry struct {
	// Key finds it: a normalised URL plus whatever else tells two answers apart.
	Key string
	// ID is the stable handle under which ByID finds it. It may be empty.
	ID string
	// URL and Title are what a person sees in a list.
	URL   string
	Title string
	// Data is the kept thing itself. List leaves it out.
	Data []byte
	// Size is the length of Data in bytes. Put ignores it, every reading fills
	// it in, List too.
	Size int64
	// StoredAt is when the thing was fetched, CheckedAt when its source last
	// said that it still holds. Both to the millisecond at least.
	StoredAt  time.Time
	CheckedAt time.Time
}

// A Store keeps entries. It may forget any of them at any time, but what it
// gives back is byte for byte what was put in, or nothing.
type Store interface {
	// Get gives the entry of a key. An entry that is not kept is false without
	// an error; one that was damaged is not kept.
	Get(ctx context.Context, key string) (Entry, bool, error)
	// Put keeps an entry and replaces the one of the same key. After an error
	// nothing new is kept.
	Put(ctx context.Context, e Entry) error
}

// A Shelf is a Store that can be looked through and emptied by its owner.
type Shelf interface {
	Store
	// Stats counts what is kept.
	Stats(ctx context.Context) (Stats, error)
	// List gives at most limit entries without their Data, the newest StoredAt
	// first. A limit of 0 or less gives all.
	List(ctx context.Context, limit int) ([]Entry, error)
	// ByID gives the entry with this ID; of several the one checked last.
	ByID(ctx context.Context, id string) (Entry, bool, error)
	// Remove forgets all entries whose URL or Key is exactly url and says how
	// many there were.
	Remove(ctx context.Context, url string) (int, error)
	// Clear forgets everything and says how many entries there were.
	Clear(ctx context.Context) (int, error)
}

// Stats says how much a Shelf holds.
type Stats struct {
	// Count is the number of entries.
	Count int
	// Bytes is the length of all Data together, as it was put in.
	Bytes int64
	// Used is how many bytes the shelf takes where it is kept, Limit how many
	// it may take.
	Used  int64
	Limit int64
	// Oldest and Newest are the ends of all StoredAt; zero when Count is 0.
	Oldest time.Time
	Newest time.Time
}
