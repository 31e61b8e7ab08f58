// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import "time"

// What one fetch may cost. Every number is the contract's unless a reason says otherwise.
const (
	// BodyLimit is the largest body in bytes, decoded or announced: ten million
	// characters of text are far beyond any page worth reading.
	BodyLimit = 10 << 20
	// HopLimit is how many redirects are followed by hand. Browsers allow 20, honest
	// chains are seldom longer than 3.
	HopLimit = 10
	// LayerLimit is how many content codings are undone, counted over all
	// Content-Encoding headers. More than one is rare, more than two is an attack
	// (the class of CVE-2022-32206).
	LayerLimit = 2
	// HeaderLimit bounds the bytes of one answer's header, interim answers included.
	// Real headers stay under 32 KiB; a flood must end well below 1 MiB.
	HeaderLimit = 256 << 10
	// WireFactor times the body limit is what one answer may cost in raw bytes, so
	// that padding, chunk extensions and empty frames stay bounded.
	WireFactor = 16
	// PauseLimit is the longest wait that a site can impose on us.
	PauseLimit = 15 * time.Minute
	// PauseDefault is the wait after 429 or 503 when the site names no usable time.
	PauseDefault = 30 * time.Second
	// ParallelDefault is how many requests one host gets at once: polite, and enough
	// for the ten pages of one call.
	ParallelDefault = 4
)

// Bounds that nobody needs to change.
const (
	// interimLimit is how many 1xx answers may come before the real one.
	interimLimit = 5
	// errorBodyLimit is how much of an error page is read: only its first lines are shown.
	errorBodyLimit = 256 << 10
	// drainLimit and drainTime bound what is read of a body that nobody wants (a
	// redirect's, the rest after a complete coding) in order to keep the connection.
	drainLimit = 64 << 10
	drainTime  = 250 * time.Millisecond
	// encodedSlack is how much more than the cap an encoded body may weigh: coding
	// frames around text that does not compress.
	encodedSlack = 64 << 10
	// windowLimit bounds the zstd window: RFC 8878 section 3.1.1.1.2 recommends that
	// decoders support 8 MiB, and RFC 9659 forbids more in HTTP.
	windowLimit = 8 << 20
	// firstRead is the first room for a body of unknown length; most pages fit into
	// a few doublings of it.
	firstRead = 32 << 10
	// smallBody is what every fetch may hold; beyond it, only largeAtOnce fetches grow
	// at the same time, so that many hostile bodies together stay bounded.
	smallBody   = 1 << 20
	largeAtOnce = 12
	// atOnce bounds the requests in flight over all hosts, and with them the sockets.
	atOnce = 128
	// idlePerHost and routesKept bound the connections that wait for another request:
	// together no more than atOnce.
	idlePerHost = 4
	routesKept  = 32
	// idleLife is how long such a connection waits; servers commonly close after 60 s or more.
	idleLife = 45 * time.Second
	// phraseLimit bounds the reason phrase that is passed on.
	phraseLimit = 64
	// streamWindow and connWindow are what an HTTP/2 server may send ahead of our
	// reading, for one answer and for all on a connection: enough for full speed over
	// long distances, and not the library's 4 MiB for each of many stalled answers.
	streamWindow = 1 << 20
	connWindow   = 8 << 20
	// socketBuffer is what the system may take in ahead of our reading. Left alone it
	// grows to many times the cap, read or not.
	socketBuffer = 1 << 20
)

// Limits bounds one fetch. A zero field takes the constant named beside it.
type Limits struct {
	Body        int64 // decoded and announced bytes: BodyLimit
	Hops        int   // followed redirects: HopLimit
	Layers      int   // content codings: LayerLimit
	HeaderBytes int   // bytes of an answer's header: HeaderLimit
}

func (l Limits) filled() Limits {
	return Limits{
		Body:        or(l.Body, BodyLimit),
		Hops:        or(l.Hops, HopLimit),
		Layers:      or(l.Layers, LayerLimit),
		HeaderBytes: or(l.HeaderBytes, HeaderLimit),
	}
}

// Timeouts are the deadlines of one fetch. A zero field takes the contract's value.
type Timeouts struct {
	Connect time.Duration // name lookup, connection and TLS together: 10 s
	Headers time.Duration // from the request to the end of the answer's header: 30 s
	Idle    time.Duration // without a byte of the body: 20 s
	Total   time.Duration // everything, redirects and waits for a turn included: 60 s
}

func (t Timeouts) filled() Timeouts {
	return Timeouts{
		Connect: or(t.Connect, 10*time.Second),
		Headers: or(t.Headers, 30*time.Second),
		Idle:    or(t.Idle, 20*time.Second),
		Total:   or(t.Total, 60*time.Second),
	}
}

// or gives v, or the default where v is not positive.
func or[T int | int64 | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}
