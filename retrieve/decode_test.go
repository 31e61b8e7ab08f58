// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

func packed(t testing.TB, text string, open func(io.Writer) (io.WriteCloser, error)) string {
	t.Helper()
	var b bytes.Buffer
	w, err := open(&b)
	if err == nil {
		if _, err = io.WriteString(w, text); err == nil {
			err = w.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gz(t testing.TB, text string) string {
	return packed(t, text, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, 9) })
}

func zl(t testing.TB, text string) string {
	return packed(t, text, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil })
}

func rawDeflate(t testing.TB, text string) string {
	return packed(t, text, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 9) })
}

func br(t testing.TB, text string) string {
	return packed(t, text, func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, 5), nil })
}

func zst(t testing.TB, text string) string {
	return packed(t, text, func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	})
}

// zstdHead is the frame magic, no checksum, a window of 2^log bytes.
func zstdHead(log int) string {
	return "\x28\xb5\x2f\xfd\x00" + string([]byte{byte(log-10) << 3})
}

// zstdRun is a block that repeats one byte n times.
func zstdRun(n int, last bool) string {
	v := uint32(n)<<3 | 1<<1
	if last {
		v |= 1
	}
	return string(binary.LittleEndian.AppendUint32(nil, v)[:3]) + "a"
}

// brotliZeros is 100 MiB of zero bytes.
const brotliZeros = "\xcf\xff\xff\x7f\xf8\x27\x00\xe2\xb1\x40\x20\xf7\xfe\x9f\xff\xff\xff\xf0\x4f\x00\xc4\x61\x01\x80\xee\xfd\x3f\xff\xff\xff\xe1\x9f" +
	"\x00\x88\xc3\x22\x00\xdd\xfb\x7f\xfe\xff\xff\xc3\x3f\x01\x10\x87\x05\x00\xba\xf7\xff\xfc\xff\xff\x87\x7f\x02\x20\x0e\x0b\x00\x74\xef\xff" +
	"\xf9\xff\xff\x0f\xff\x04\x40\x1c\x16\x00\xe8\xde\xff\xe7\xff\xff\x0f\xfe\x09\x80\x38\x2c\x00\xd0\xbd\xff\x01"

func TestCodings(t *testing.T) {
	text := strings.Repeat("Rated load 2.5 t. ", 200)
	z := gz(t, text)
	crc := []byte(z)
	copy(crc[len(crc)-8:], "\x00\x00\x00\x00")
	layers := pageText
	for range 50 {
		layers = gz(t, layers)
	}
	for _, row := range []struct {
		name, coding, body string
		fails, text        string
	}{
		{"gzip", "gzip", z, "", text},
		{"gzip by its old name, in capitals", "X-GZIP", z, "", text},
		{"zlib", "deflate", zl(t, text), "", text},
		{"raw deflate", "deflate", rawDeflate(t, text), "", text},
		{"brotli", "br", br(t, text), "", text},
		{"zstd", "zstd", zst(t, text), "", text},
		{"two zstd frames", "zstd", zst(t, text) + zst(t, text), "", text + text},
		{"none by name", "identity", text, "", text},
		{"two layers", "gzip, br", br(t, z), "", text},
		{"empty entries", "gzip,, identity", z, "", text},
		{"no bytes", "gzip", "", "", ""},
		{"three layers", "gzip, gzip, gzip", gz(t, gz(t, z)), "unreadable/encoding", ""},
		{"a hundred layers", strings.TrimSuffix(strings.Repeat("gzip, ", 100), ", "), layers, "unreadable/encoding", ""},
		{"fifty layers in fifty headers", strings.TrimSuffix(strings.Repeat("gzip\r\nContent-Encoding: ", 50), "\r\nContent-Encoding: "), layers, "unreadable/encoding", ""},
		{"unknown", "foo", text, "unreadable/encoding", ""},
		{"gzip that is none", "gzip", text, "unreadable/encoding", ""},
		{"zstd that is none", "zstd", text, "unreadable/encoding", ""},
		{"brotli that is none", "br", text, "unreadable/encoding", ""},
		{"gzip cut short", "gzip", z[:len(z)-20], "unreadable/encoding", ""},
		{"gzip with a wrong sum", "gzip", string(crc), "unreadable/encoding", ""},
		{"zlib with a wrong sum", "deflate", zl(t, text)[:len(zl(t, text))-4] + "abcd", "unreadable/encoding", ""},
		{"gzip, then junk", "gzip", z + "JUNKJUNK", "", text},
		{"gzip, then padding", "gzip", z + "\x00\x00\x00", "", text},
		{"gzip members", "gzip", z + gz(t, "") + gz(t, "tail"), "", text + "tail"},
		{"gzip members, the last broken", "gzip", z + gz(t, "tail")[:20], "unreadable/encoding", ""},
		{"brotli, then junk", "br", br(t, text) + "JUNKJUNK", "unreadable/encoding", ""},
		{"zstd window of 2 GiB", "zstd", zstdHead(31) + zstdRun(4096, true), "unreadable/encoding", ""},
		{"zstd window of 8 MiB", "zstd", zstdHead(23) + zstdRun(4096, true), "", strings.Repeat("a", 4096)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := listen(t, says(page("200 OK", row.body, "Content-Encoding: "+row.coding)))
			p, err := get(t, newHTTP(t, Options{}), s.url+"/p")
			want(t, err, row.fails)
			if string(p.Body) != row.text {
				t.Errorf("%d bytes %.60q, want %d", len(p.Body), p.Body, len(row.text))
			}
			if err == nil && p.WireBytes > int64(len(row.body)) {
				t.Errorf("%d wire bytes of %d", p.WireBytes, len(row.body))
			}
		})
	}
}

func TestUnknownCodingIsNamed(t *testing.T) {
	s := listen(t, says(page("200 OK", "x", "Content-Encoding: compress")))
	_, err := get(t, newHTTP(t, Options{}), s.url+"/p")
	if err == nil || !strings.Contains(err.Error(), "compress") {
		t.Errorf("%v does not name the coding", err)
	}
}

func TestAsksForWhatItDecodes(t *testing.T) {
	for name := range strings.SplitSeq(acceptEncoding, ", ") {
		if codingOf(name) == nil {
			t.Errorf("%s is asked for and cannot be undone", name)
		}
	}
}

// A coding that the wire cuts short gives what came; it is not the coding that is broken.
func TestCodedBodyBreaksOff(t *testing.T) {
	var text strings.Builder
	for r := rand.New(rand.NewPCG(1, 2)); text.Len() < 200_000; {
		fmt.Fprintf(&text, "line %d\n", r.Uint64())
	}
	z := gz(t, text.String())
	for _, row := range []struct{ coding, body string }{
		{"gzip", z},
		{"deflate", zl(t, text.String())},
		{"deflate", rawDeflate(t, text.String())},
		{"br", br(t, text.String())},
		{"zstd", zst(t, text.String())},
		{"gzip, br", br(t, z)},
		{"br, gzip", gz(t, br(t, text.String()))},
		{"zstd, gzip", gz(t, zst(t, text.String()))},
	} {
		coded := "Content-Encoding: " + row.coding
		whole, half := page("200 OK", row.body, coded), row.body[:len(row.body)*3/4]
		for name, answer := range map[string]string{
			"with a length":                whole[:len(whole)-len(row.body)/4],
			"in chunks":                    open(coded, "Transfer-Encoding: chunked") + chunk(half),
			"to the end of the connection": open(coded) + half,
			"of HTTP/1.0":                  strings.Replace(open(coded), "HTTP/1.1", "HTTP/1.0", 1) + half,
		} {
			s := listen(t, says(answer))
			p, err := get(t, newHTTP(t, Options{}), s.url+"/p")
			if err != nil || p.Cut != "reset" || len(p.Body) == 0 || !strings.HasPrefix(text.String(), string(p.Body)) {
				t.Errorf("%s, %s: %v, cut %q, %d bytes", row.coding, name, err, p.Cut, len(p.Body))
			}
		}
	}
}

// Where only the connection ends a body, each end is a cut or the whole text or, before
// any text, a broken connection; nonsense stays nonsense.
func TestEveryEndOfACodedBody(t *testing.T) {
	text := strings.Repeat("Rated load 2.5 t. ", 3)
	for _, row := range []struct{ coding, body string }{{"gzip", gz(t, text)}, {"deflate", zl(t, text)}, {"br", br(t, text)}, {"zstd", zst(t, text)}} {
		for n := range len(row.body) + 1 {
			s := listen(t, says(open("Content-Encoding: "+row.coding)+row.body[:n]))
			p, err := get(t, newHTTP(t, Options{}), s.url+"/p")
			switch {
			case err != nil && failure(err) != "unreachable/reset":
				t.Errorf("%s after %d of %d bytes: %v", row.coding, n, len(row.body), err)
			case err != nil && n > 0 && n < len(row.body):
			case n == 0 || n == len(row.body):
				if err != nil || p.Cut != "" || len(p.Body) != len(text)*min(n, 1) {
					t.Errorf("%s, %d bytes: %v, cut %q, %q", row.coding, n, err, p.Cut, p.Body)
				}
			case p.Cut == "" && string(p.Body) != text, p.Cut == "reset" && !strings.HasPrefix(text, string(p.Body)):
				t.Errorf("%s after %d of %d bytes: cut %q, %q", row.coding, n, len(row.body), p.Cut, p.Body)
			}
			s.Close()
		}
	}
}

func TestNonsenseToTheEndOfTheConnection(t *testing.T) {
	text := strings.Repeat("Rated load 2.5 t. ", 200)
	z, d, two := gz(t, text), zl(t, text), zst(t, text)
	flipped := []byte(two)
	flipped[len(two)/2] ^= 0xff
	for _, row := range []struct{ name, coding, body string }{
		{"gzip with a wrong sum", "gzip", z[:len(z)-8] + "abcdefgh"},
		{"zlib with a wrong sum", "deflate", d[:len(d)-4] + "abcd"},
		{"zstd with a wrong byte", "zstd", string(flipped)},
		{"short text as gzip", "gzip", "hello"},
		{"one byte as gzip", "gzip", "h"},
		{"short text as zstd", "zstd", "hi"},
		{"short text like a frame to skip", "zstd", "PX"},
		{"text as gzip", "gzip", pageText},
		{"text as zstd", "zstd", pageText},
		{"text as brotli", "br", pageText},
		{"text in brotli as gzip", "gzip, br", br(t, pageText)},
		{"zstd with a wrong byte in gzip", "zstd, gzip", gz(t, string(flipped))},
	} {
		s := listen(t, says(open("Content-Encoding: "+row.coding)+row.body))
		_, err := get(t, newHTTP(t, Options{}), s.url+"/p")
		if failure(err) != "unreadable/encoding" {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// A decoder that stops between two frames does not hide that the wire broke off there.
func TestCutBetweenFrames(t *testing.T) {
	for coding, frame := range map[string]string{"gzip": gz(t, pageText), "zstd": zst(t, pageText)} {
		whole := page("200 OK", frame+frame, "Content-Encoding: "+coding)
		s := listen(t, says(whole[:len(whole)-len(frame)]))
		p, err := get(t, newHTTP(t, Options{}), s.url+"/p")
		if err != nil || p.Cut != "reset" || string(p.Body) != pageText {
			t.Errorf("%s: %v, cut %q, %q", coding, err, p.Cut, p.Body)
		}
	}
}

func TestBombs(t *testing.T) {
	mib := strings.Repeat("\x00", 1<<20)
	zeros := strings.Repeat(mib, 100)
	one := gz(t, zeros)
	frames := zstdHead(17) + strings.Repeat(zstdRun(128<<10, false), 799) + zstdRun(128<<10, true)
	rows := []struct{ name, coding, body string }{
		{"gzip", "gzip", one},
		{"gzip twice", "gzip, gzip", gz(t, one)},
		{"gzip members", "gzip", strings.Repeat(gz(t, mib), 100)},
		{"deflate", "deflate", zl(t, zeros)},
		{"brotli", "br", brotliZeros},
		{"zstd", "zstd", frames},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := listen(t, says(page("200 OK", row.body, "Content-Encoding: "+row.coding)))
			h := newHTTP(t, Options{})
			start := time.Now()
			extra := growth(func() {
				p, err := get(t, h, s.url+"/p")
				want(t, err, "")
				if p.Cut != "size" || len(p.Body) != BodyLimit {
					t.Errorf("cut %q after %d bytes", p.Cut, len(p.Body))
				}
			})
			if extra > 32<<20 {
				t.Errorf("%d MiB more memory", extra>>20)
			}
			if took := time.Since(start); took > slack {
				t.Errorf("took %v", took)
			}
		})
	}
}

// growth gives how far the heap grew while f ran.
func growth(f func()) int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := int64(m.HeapInuse)
	var most atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), int64(m.HeapInuse)-before))
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-done
	return most.Load()
}

func TestCodingsWithoutText(t *testing.T) {
	skip := "\x50\x2a\x4d\x18" + string(binary.LittleEndian.AppendUint32(nil, 65536)) + strings.Repeat("\x00", 65536)
	none := gz(t, "")
	for _, row := range []struct{ name, coding, piece string }{
		{"zstd frames to skip", "zstd", skip},
		{"empty gzip members", "gzip", strings.Repeat(none, 1000)},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := listen(t, endless(open("Content-Encoding: "+row.coding), row.piece))
			_, err := get(t, newHTTP(t, Options{}), s.url+"/p")
			want(t, err, "toolarge")
			s.Close()
			if n := s.sent.Load(); n > BodyLimit+socketSlack {
				t.Errorf("%d bytes were taken", n)
			}
		})
	}
}

func TestCodingsHeader(t *testing.T) {
	h := http.Header{"Content-Encoding": {"gzip", " BR "}}
	list, err := codings(h, 2)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d codings, %v", len(list), err)
	}
	if _, err := codings(h, 1); err == nil {
		t.Error("the limit does not count all headers together")
	}
}

func FuzzDecode(f *testing.F) {
	for i, s := range []string{gz(f, pageText), zl(f, pageText), br(f, pageText), zst(f, pageText), rawDeflate(f, pageText), brotliZeros} {
		f.Add(byte(i), []byte(s))
	}
	list := strings.Split(acceptEncoding, ", ")
	f.Fuzz(func(t *testing.T, which byte, body []byte) {
		const most = 1 << 16
		c := codingOf(list[int(which)%len(list)])
		text := decode(bytes.NewReader(body), []coding{c, codingOf("gzip")}[:1+int(which)/128], most)
		defer text.close()
		n, _ := io.Copy(io.Discard, io.LimitReader(text, most+1))
		if n > most+1 {
			t.Errorf("%d bytes", n)
		}
	})
}
