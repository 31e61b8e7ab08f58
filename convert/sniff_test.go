// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

func TestKindOf(t *testing.T) {
	const rss = `<?xml version="1.0"?><!-- made by hand --><rss version="2.0"><channel></channel></rss>`
	for _, test := range []struct{ name, contentType, body, url, want string }{
		{"page", "text/html; charset=utf-8", "<p>x", "", KindHTML},
		{"upper case", "TEXT/HTML", "x", "", KindHTML},
		{"bare text sent as a page", "text/html", "hello", "", KindHTML},
		{"XHTML", "application/xhtml+xml", "<?xml version='1.0'?><html/>", "", KindHTML},
		{"page sent as XML", "application/xml", `<?xml version="1.0"?><!DOCTYPE html><html xmlns="x"/>`, "", KindHTML},
		{"JSON sent as a page", "text/html", `{"a": 1}`, "", KindJSON},
		{"braces on a page", "text/html", `{{ name }} <p>x</p>`, "", KindHTML},
		{"Markdown", "text/markdown; variant=GFM", "# x", "", KindMarkdown},
		{"Markdown by its name", "text/plain", "# x", "https://raw.example.org/a/README.md?raw=1", KindMarkdown},
		{"plain text", "text/plain", "# x", "https://example.org/a.txt", KindText},
		{"page sent as plain text stays text", "text/plain", "<!doctype html><p>x", "", KindText},
		{"style sheet", "text/css", "a{}", "", KindText},
		{"script", "application/javascript", "let x", "", KindText},
		{"JSON", "application/json", "{}", "", KindJSON},
		{"problem report", "application/problem+json", "{}", "", KindJSON},
		{"linked data", "application/ld+json;profile=x", "{}", "", KindJSON},
		{"JSON feed", "application/json", `{"version": "https://jsonfeed.org/version/1.1"}`, "", KindFeed},
		{"JSON feed by type", "application/feed+json", `{"version":"https://jsonfeed.org/version/1"}`, "", KindFeed},
		{"RSS", "application/rss+xml", rss, "", KindFeed},
		{"RSS sent as XML", "text/xml", rss, "", KindFeed},
		{"Atom sent as XML", "application/xml", `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"/>`, "", KindFeed},
		{"Atom with a prefix", "application/xml", `<a:feed xmlns:a="http://www.w3.org/2005/Atom"/>`, "", KindFeed},
		{"RSS 1.0", "application/xml", `<rdf:RDF xmlns="http://purl.org/rss/1.0/"></rdf:RDF>`, "", KindFeed},
		{"other RDF", "application/rdf+xml", `<rdf:RDF xmlns:x="urn:y"></rdf:RDF>`, "", KindXML},
		{"XML with entities", "application/xml", `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "rss">]><l>&a;</l>`, "", KindXML},
		{"picture in XML", "image/svg+xml", "<svg/>", "", KindXML},
		{"no type, page", "", "  <!DOCTYPE html><h1>x", "", KindHTML},
		{"no type, page after a comment", "", "<!-- x --><html>", "", KindHTML},
		{"no type, JSON", "", "{\"open\": true}\n", "", KindJSON},
		{"no type, feed", "", rss, "", KindFeed},
		{"no type, XML", "", "<?xml version='1.0'?><a/>", "", KindXML},
		{"no type, text", "", "hello <b>", "", KindText},
		{"no type, not quite a tag", "", "<bread> is good", "", KindText},
		{"no type, UTF-16 page", "", "<\x00h\x00t\x00m\x00l\x00>\x00", "", KindHTML},
		{"bytes that are a page", "application/octet-stream", "<!doctype html><p>x", "", KindHTML},
		{"bytes that are text", "application/octet-stream", "hello", "", KindText},
		{"two types", "text/html, text/html", "<p>", "", KindHTML},
		{"nonsense type", "yes", "hello", "", KindText},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := kindOf(test.contentType, []byte(test.body), test.url); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// archive makes a zip file with the named entries.
func archive(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if name == "mimetype" {
			f.Write([]byte("application/epub+zip"))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBinary(t *testing.T) {
	noise := strings.Repeat("\x00\x01\x02\x03\xfe", 80)
	for _, test := range []struct {
		name, contentType, body, mime, ext string
		isBinary                           bool
	}{
		{"PDF", "application/pdf", "%PDF-1.4\n", "application/pdf", ".pdf", true},
		{"PDF sent as text", "text/plain", "%PDF-1.4\n1 0 obj", "application/pdf", ".pdf", true},
		{"PDF sent as a page, after blanks", "text/html", "\r\n %PDF-1.7", "application/pdf", ".pdf", true},
		{"PDF sent as bytes", "application/octet-stream", "%PDF-1.4\n", "application/pdf", ".pdf", true},
		{"login page sent as PDF", "application/pdf", "<!DOCTYPE html><p>Sign in", "application/pdf", "", false},
		{"error sent as picture", "image/png", `{"error":"gone"}`, "image/png", "", false},
		{"cut text sent as picture", "image/png", `gone`, "image/png", ".png", true},
		{"small 16-bit numbers", "application/octet-stream", strings.Repeat("\x07\x01\x2c\x00\x03\x00", 200), "application/octet-stream", ".bin", true},
		{"counting bytes", "application/octet-stream", strings.Repeat("\x00\x01\x02\x03", 200), "application/octet-stream", ".bin", true},
		{"small samples sent as text", "text/plain", utf16Bytes(binary.LittleEndian, tones(300)...), octets, ".bin", true},
		{"small samples, high byte first", "", utf16Bytes(binary.BigEndian, tones(300)...), octets, ".bin", true},
		{"samples from 160 on", "", utf16Bytes(binary.LittleEndian, tones(140, 160)...), octets, ".bin", true},
		{"samples behind a mark", "", "\xff\xfe" + utf16Bytes(binary.LittleEndian, tones(300)...), octets, ".bin", true},
		{"numbers behind a heading in UTF-16", "", utf16Bytes(binary.LittleEndian, utf16.Encode([]rune(strings.Repeat("TIDE ", 60)))...) + strings.Repeat("\x07\x00\x03\x00", 200), octets, ".bin", true},
		{"UTF-16 without a mark", octets, strings.Repeat("f\x00e\x00r\x00r\x00y\x00\n\x00", 60), octets, "", false},
		{"UTF-16 with a torn character, behind a mark", "text/plain", "\xff\xfe" + strings.Repeat("a\x00 \x00", 30) + "\x00\xd8" + strings.Repeat("b\x00", 30), "text/plain", "", false},
		{"UTF-16 French", "", utf16Bytes(binary.BigEndian, utf16.Encode([]rune(strings.Repeat("Été à la forêt, où l’œil s’égare.\r\n", 90)))...), "", "", false},
		{"UTF-16 Russian", octets, utf16Bytes(binary.LittleEndian, utf16.Encode([]rune(strings.Repeat("<p>Прилив и отлив</p>\n", 300)))...), octets, "", false},
		{"UTF-16 Japanese", "", utf16Bytes(binary.LittleEndian, utf16.Encode([]rune(strings.Repeat("<li>潮の満ち引き🌊</li>\n", 300)))...), "", "", false},
		{"UTF-16 numbers", "", utf16Bytes(binary.LittleEndian, utf16.Encode([]rune(strings.Repeat("12.5;0,3\t", 300)))...), "", "", false},
		{"UTF-16 Han text that its header declares", "text/plain; charset=utf-16le", utf16Bytes(binary.LittleEndian, utf16.Encode([]rune(strings.Repeat("一丁七万丈", 300)))...), "text/plain", "", false},
		{"PNG", "", "\x89PNG\r\n\x1a\n" + noise, "image/png", ".png", true},
		{"JPEG", "text/html", "\xff\xd8\xff\xe0" + noise, "image/jpeg", ".jpg", true},
		{"GIF", "", "GIF89a\x01\x00\x01\x00" + noise, "image/gif", ".gif", true},
		{"text about GIF", "text/plain", "GIF89a is a version of the format", "text/plain", "", false},
		{"WebP", "", "RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp", ".webp", true},
		{"WAV", "", "RIFF\x24\x00\x00\x00WAVEfmt " + noise, "audio/wav", ".wav", true},
		{"MP4", "", "\x00\x00\x00\x18ftypmp42" + noise, "video/mp4", ".mp4", true},
		{"AVIF", "", "\x00\x00\x00\x18ftypavif" + noise, "image/avif", ".avif", true},
		{"MP3 without a tag", "audio/mpeg", "\xff\xfb\x90\x64" + noise, "audio/mpeg", ".mp3", true},
		{"gzip", "text/plain", "\x1f\x8b\x08\x00" + noise, "application/gzip", ".gz", true},
		{"zip sent as a page", "text/html", "PK\x03\x04\x14\x00" + noise, "application/zip", ".zip", true},
		{"book", "application/octet-stream", archive(t, "mimetype", "a.xhtml"), "application/epub+zip", ".epub", true},
		{"text document", "application/zip", archive(t, "[Content_Types].xml", "word/document.xml"), "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx", true},
		{"sheet", "", archive(t, "[Content_Types].xml", "xl/workbook.xml"), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx", true},
		{"Java archive", "", archive(t, "META-INF/MANIFEST.MF"), "application/java-archive", ".jar", true},
		{"app", "application/vnd.android.package-archive", archive(t, "AndroidManifest.xml"), "application/vnd.android.package-archive", ".apk", true},
		{"old sheet", "application/vnd.ms-excel", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + noise, "application/vnd.ms-excel", ".xls", true},
		{"tar", "", strings.Repeat("a", 257) + "ustar\x00" + noise, "application/x-tar", ".tar", true},
		{"program", "", "\x7fELF" + noise, "application/x-executable", ".elf", true},
		{"program for Windows", "text/plain", "MZ\x90\x00" + noise, "application/vnd.microsoft.portable-executable", ".exe", true},
		{"text that begins like one", "text/plain", "MZ is the mark of an old program", "text/plain", "", false},
		{"bitmap-like text", "text/plain", "BM25 ranks passages", "text/plain", "", false},
		{"font", "", "wOF2\x00\x01\x00\x00" + noise, "font/woff2", ".woff2", true},
		{"WebAssembly", "application/wasm", "\x00asm\x01\x00\x00\x00", "application/wasm", ".wasm", true},
		{"database", "", "SQLite format 3\x00" + noise, "application/vnd.sqlite3", ".sqlite", true},
		{"unknown bytes", "", noise, octets, ".bin", true},
		{"unknown bytes sent as text", "text/plain", noise, octets, ".bin", true},
		{"page with two NULs", "text/html", "<p>a\x00b\x00c" + strings.Repeat("x", 100), "text/html", "", false},
		{"UTF-16 text", "text/plain", "\xff\xfea\x00b\x00", "text/plain", "", false},
		{"UTF-16 text without a mark", "text/html; charset=utf-16be", "\x00<\x00p\x00>\x00a", "text/html", "", false},
		{"Shift_JIS text", "text/plain", "\x93\xfa\x96\x7b\x8c\xea", "text/plain", "", false},
		{"iso-2022-jp text", "", "\x1b$BF|K\\8l\x1b(B", "", "", false},
		{"text sent as bytes", "application/octet-stream", "hello", octets, "", false},
		{"JSON", "application/json", "{}", "application/json", "", false},
		{"form", "application/x-www-form-urlencoded", "a=b", "application/x-www-form-urlencoded", "", false},
		{"settings", "application/yaml", "a: b", "application/yaml", "", false},
		{"picture in XML", "image/svg+xml", "<svg/>", "image/svg+xml", "", false},
		{"empty", "image/png", "", "image/png", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			mime, ext, isBinary := Binary(test.contentType, []byte(test.body))
			if mime != test.mime || ext != test.ext || isBinary != test.isBinary {
				t.Errorf("%q %q %v, want %q %q %v", mime, ext, isBinary, test.mime, test.ext, test.isBinary)
			}
		})
	}
}

// utf16Bytes writes 16-bit units as bytes.
func utf16Bytes(order binary.AppendByteOrder, units ...uint16) string {
	var b []byte
	for _, u := range units {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// tones makes a thousand numbers below a bound, like those of a quiet sound,
// on top of a least one.
func tones(below int, least ...int) (out []uint16) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		n := r.IntN(below)
		for _, m := range least {
			n += m
		}
		out = append(out, uint16(n))
	}
	return out
}

func TestSafeName(t *testing.T) {
	long := strings.Repeat("長", 100)
	for _, test := range []struct{ name, url, mime, want string }{
		{"plain", "https://example.org/a/report.pdf?x=1#y", "application/pdf", "report.pdf"},
		{"wrong ending", "https://example.org/report.php", "application/pdf", "report.php.pdf"},
		{"same meaning", "https://example.org/photo.JPEG", "image/jpeg", "photo.JPEG"},
		{"no path", "https://example.org/", "image/png", "example.org.png"},
		{"no URL", "", "", "download.bin"},
		{"up", "https://example.org/..%2f..%2fetc%2fpasswd", "application/pdf", "passwd.pdf"},
		{"up with backslashes", `https://example.org/a%5c..%5c..%5cboot.ini`, "application/zip", "boot.ini.zip"},
		{"drive", "https://example.org/C:evil", "application/zip", "C_evil.zip"},
		{"NUL", "https://example.org/a%00b.pdf", "application/pdf", "ab.pdf"},
		{"line break", "https://example.org/a%0d%0ab.pdf", "application/pdf", "a  b.pdf"},
		{"turned around", "https://example.org/gpj%E2%80%AEexe.pdf", "application/pdf", "gpjexe.pdf"},
		{"hidden file", "https://example.org/.bashrc", "application/zip", "bashrc.zip"},
		{"option", "https://example.org/-rf.zip", "application/zip", "rf.zip"},
		{"device", "https://example.org/NUL", "application/zip", "file-NUL.zip"},
		{"device with an ending", "https://example.org/con.tar", "application/x-tar", "file-con.tar"},
		{"port", "https://example.org/lpt1.zip", "application/zip", "file-lpt1.zip"},
		{"signs of a shell", "https://example.org/a$(x);b.zip", "application/zip", "a__x__b.zip"},
		{"own language", "https://example.org/%E8%88%B9.zip", "application/zip", "船.zip"},
		{"broken escapes", "https://example.org/%ff%fe.zip", "application/zip", "download.zip"},
		{"unknown type keeps a short ending", "https://example.org/data.xyz", octets, "data.xyz"},
		{"long", "https://example.org/" + long, "application/pdf", strings.Repeat("長", 38) + ".pdf"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := SafeName(test.url, test.mime); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func FuzzSafeName(f *testing.F) {
	f.Add("https://example.org/..%2f%00.pdf", "application/pdf")
	f.Add("nul", "")
	f.Fuzz(func(t *testing.T, url, mime string) {
		name := SafeName(url, mime)
		if name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\:\x00") || name[0] == '.' || name[0] == '-' {
			t.Fatalf("%q", name)
		}
		if strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 || isDevice(name) {
			t.Fatalf("%q", name)
		}
	})
}

func FuzzBinary(f *testing.F) {
	f.Add("text/html", []byte("<?xml <!-- <!DOCTYPE [ ]>"))
	f.Add("", []byte("PK\x03\x04mimetypeapplication/epub+zip"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		if _, ext, binary := Binary(contentType, body); binary != (ext != "") {
			t.Fatalf("binary %v, ending %q", binary, ext)
		}
		kindOf(contentType, body, "https://example.org/")
	})
}
