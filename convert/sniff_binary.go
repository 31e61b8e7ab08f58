// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"strings"
)

const octets = "application/octet-stream"

// A signature is how the bytes of a binary format begin.
type signature struct {
	at    int    // offset of the first byte
	magic string // the bytes
	mime  string
	plain bool // letters that text may begin with too: binary bytes must follow
}

// signatures follow the MIME Sniffing Standard, section 6, with the archive,
// font and program formats that pages link to.
func signatures() []signature {
	return []signature{
		{0, "%PDF-", "application/pdf", false},
		{0, "%!PS-Adobe-", "application/postscript", false},
		{0, "\x89PNG\r\n\x1a\n", "image/png", false},
		{0, "\xFF\xD8\xFF", "image/jpeg", false},
		{0, "GIF87a", "image/gif", true},
		{0, "GIF89a", "image/gif", true},
		{8, "WEBPVP", "image/webp", false},
		{0, "BM", "image/bmp", true},
		{0, "II*\x00", "image/tiff", false},
		{0, "MM\x00*", "image/tiff", false},
		{0, "\x00\x00\x01\x00", "image/x-icon", false},
		{0, "\x00\x00\x02\x00", "image/x-icon", false},
		{0, "\x00\x00\x00\x0CJXL \r\n", "image/jxl", false},
		{0, "8BPS\x00", "image/vnd.adobe.photoshop", false},
		{0, "\x1F\x8B", "application/gzip", false},
		{0, "BZh", "application/x-bzip2", true},
		{0, "\xFD7zXZ\x00", "application/x-xz", false},
		{0, "\x28\xB5\x2F\xFD", "application/zstd", false},
		{0, "7z\xBC\xAF\x27\x1C", "application/x-7z-compressed", false},
		{0, "Rar!\x1A\x07", "application/vnd.rar", false},
		{257, "ustar", "application/x-tar", false},
		{0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "application/x-ole-storage", false},
		{0, "{\\rtf", "application/rtf", false},
		{8, "WAVE", "audio/wav", true},
		{8, "AVI ", "video/x-msvideo", true},
		{0, "ID3", "audio/mpeg", true},
		{0, "OggS\x00", "application/ogg", false},
		{0, "fLaC", "audio/flac", true},
		{0, "MThd\x00\x00\x00\x06", "audio/midi", false},
		{0, "\x1A\x45\xDF\xA3", "video/webm", false},
		{0, "FLV\x01", "video/x-flv", false},
		{0, "\x00asm", "application/wasm", false},
		{0, "\x7FELF", "application/x-executable", false},
		{0, "MZ", "application/vnd.microsoft.portable-executable", true},
		{0, "\xCA\xFE\xBA\xBE", "application/java-vm", false},
		{0, "\xCF\xFA\xED\xFE", "application/x-mach-binary", false},
		{0, "\xFE\xED\xFA\xCF", "application/x-mach-binary", false},
		{0, "wOFF", "font/woff", true},
		{0, "wOF2", "font/woff2", true},
		{0, "OTTO\x00", "font/otf", false},
		{0, "\x00\x01\x00\x00\x00", "font/ttf", false},
		{0, "ttcf\x00", "font/collection", false},
		{0, "SQLite format 3\x00", "application/vnd.sqlite3", false},
		{0, "PAR1", "application/vnd.apache.parquet", true},
		{0, "\x89HDF\r\n\x1a\n", "application/x-hdf5", false},
		{0, "!<arch>\n", "application/x-archive", false},
	}
}

// Binary says whether a body is something else than text, and what: its media
// type without parameters and the ending of a file name with its dot. The
// bytes decide, then the header: a PDF announced as text is a PDF, and an error
// page announced as a picture is text. An empty body is not binary.
func Binary(contentType string, body []byte) (mime, ext string, binary bool) {
	declared := mediaType(contentType)
	if mime := magicType(body, declared); mime != "" {
		return mime, extension(mime), true
	}
	switch {
	case len(body) == 0, declared == "image/svg+xml":
		return declared, "", false
	case binaryType(declared):
		if cleanText(body) && opensText(body) {
			return declared, "", false
		}
		return declared, extension(declared), true
	case looksText(contentType, body):
		return declared, "", false
	}
	return octets, extension(octets), true
}

// opensText reports whether a body declared as a binary format opens like a
// text format all the same.
func opensText(body []byte) bool {
	start := textStart(body)
	return looksHTML(start) || bytes.HasPrefix(start, []byte("<?xml")) || bytes.HasPrefix(start, []byte("<svg")) || wholeJSON(body)
}

// binaryType reports whether a media type names a format that holds no text.
func binaryType(mt string) bool {
	family, name, _ := strings.Cut(mt, "/")
	switch family {
	case "image", "audio", "video", "font", "model":
		return !strings.HasSuffix(name, "+xml") && !strings.HasSuffix(name, "+json") && mt != "audio/x-mpegurl"
	case "application":
		_, known := extensions()[mt]
		return known && mt != octets || strings.HasSuffix(name, "+zip") || strings.HasPrefix(name, "vnd.ms-") || strings.HasPrefix(name, "vnd.openxmlformats-")
	}
	return false
}

// magicType is the media type that the first bytes prove, "" for none.
func magicType(body []byte, declared string) string {
	body = body[:min(len(body), 64<<10)]
	if bytes.HasPrefix(body, []byte("PK\x03\x04")) || bytes.HasPrefix(body, []byte("PK\x05\x06")) {
		return zipType(body, declared)
	}
	if mime := mediaBox(body); mime != "" {
		return mime
	}
	start := bytes.TrimLeft(stripMark(body), " \t\r\n")
	if bytes.HasPrefix(start, []byte("%PDF-")) {
		return "application/pdf"
	}
	for _, s := range signatures() {
		if len(body) < s.at+len(s.magic) || string(body[s.at:s.at+len(s.magic)]) != s.magic {
			continue
		}
		if s.plain && cleanText(body) {
			continue
		}
		return refine(s.mime, declared)
	}
	return ""
}

// refine takes the declared type where it names a format inside the container
// that the bytes prove.
func refine(proven, declared string) string {
	switch proven {
	case "application/x-ole-storage":
		if strings.HasPrefix(declared, "application/vnd.ms-") || declared == "application/msword" {
			return declared
		}
	case "application/ogg":
		if declared == "audio/ogg" || declared == "video/ogg" {
			return declared
		}
	case "video/webm":
		if declared == "audio/webm" || declared == "video/x-matroska" {
			return declared
		}
	case "font/ttf":
		if declared == "font/otf" {
			return declared
		}
	}
	return proven
}

// mediaBox knows the ISO base media file format and MPEG audio.
func mediaBox(body []byte) string {
	if len(body) >= 12 && string(body[4:8]) == "ftyp" && body[0] == 0 {
		switch brand := string(body[8:12]); {
		case brand == "avif", brand == "avis":
			return "image/avif"
		case brand == "heic", brand == "heix", brand == "mif1":
			return "image/heic"
		case strings.HasPrefix(brand, "M4A"):
			return "audio/mp4"
		case strings.HasPrefix(brand, "qt"):
			return "video/quicktime"
		}
		return "video/mp4"
	}
	// MPEG audio: eleven set bits, and a layer and a rate that exist. UTF-16
	// begins with the same eleven bits only as its byte order mark.
	if len(body) > 3 && body[0] == 0xFF && body[1]&0xE6 == 0xE2 && body[2]&0xF0 != 0xF0 && !cleanText(body) {
		return "audio/mpeg"
	}
	return ""
}

// zipType tells office documents and books from other archives by the names
// inside, which stand uncompressed.
func zipType(body []byte, declared string) string {
	if i := bytes.Index(body, []byte("mimetypeapplication/")); i >= 0 && i < 60 {
		mime := body[i+len("mimetype"):]
		for _, known := range []string{"application/epub+zip", "application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.presentation"} {
			if bytes.HasPrefix(mime, []byte(known)) {
				return known
			}
		}
	}
	for _, inside := range []struct{ name, mime string }{
		{"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		{"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		{"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
		{"META-INF/MANIFEST.MF", "application/java-archive"},
	} {
		if bytes.Contains(body, []byte(inside.name)) && (inside.mime == "application/java-archive" || bytes.Contains(body, []byte("[Content_Types].xml"))) {
			return inside.mime
		}
	}
	if known, ok := extensions()[declared]; ok && known != ".bin" && (strings.HasPrefix(declared, "application/vnd.") || strings.HasSuffix(declared, "+zip")) {
		return declared
	}
	return "application/zip"
}
