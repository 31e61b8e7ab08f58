// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds the name of a saved file, in bytes: file systems take 255,
// and a folder may add a hash or a number.
const maxName = 120

// extensions gives the ending of a file name for the binary types. It is a
// table of our own because the one of the system differs from machine to
// machine.
func extensions() map[string]string {
	return map[string]string{
		octets:                                    ".bin",
		"application/pdf":                         ".pdf",
		"application/postscript":                  ".ps",
		"application/rtf":                         ".rtf",
		"image/png":                               ".png",
		"image/jpeg":                              ".jpg",
		"image/gif":                               ".gif",
		"image/webp":                              ".webp",
		"image/avif":                              ".avif",
		"image/heic":                              ".heic",
		"image/jxl":                               ".jxl",
		"image/bmp":                               ".bmp",
		"image/tiff":                              ".tiff",
		"image/x-icon":                            ".ico",
		"image/vnd.microsoft.icon":                ".ico",
		"image/vnd.adobe.photoshop":               ".psd",
		"application/zip":                         ".zip",
		"application/x-zip-compressed":            ".zip",
		"application/gzip":                        ".gz",
		"application/x-gzip":                      ".gz",
		"application/x-bzip2":                     ".bz2",
		"application/x-xz":                        ".xz",
		"application/zstd":                        ".zst",
		"application/x-7z-compressed":             ".7z",
		"application/vnd.rar":                     ".rar",
		"application/x-rar-compressed":            ".rar",
		"application/x-tar":                       ".tar",
		"application/x-archive":                   ".a",
		"application/java-archive":                ".jar",
		"application/java-vm":                     ".class",
		"application/vnd.android.package-archive": ".apk",
		"application/epub+zip":                    ".epub",
		"application/msword":                      ".doc",
		"application/vnd.ms-excel":                ".xls",
		"application/vnd.ms-powerpoint":           ".ppt",
		"application/x-ole-storage":               ".doc",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   ".docx",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         ".xlsx",
		"application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
		"application/vnd.oasis.opendocument.text":                                   ".odt",
		"application/vnd.oasis.opendocument.spreadsheet":                            ".ods",
		"application/vnd.oasis.opendocument.presentation":                           ".odp",
		"audio/mpeg":                    ".mp3",
		"audio/mp4":                     ".m4a",
		"audio/wav":                     ".wav",
		"audio/flac":                    ".flac",
		"audio/midi":                    ".mid",
		"audio/ogg":                     ".ogg",
		"audio/webm":                    ".webm",
		"application/ogg":               ".ogg",
		"video/mp4":                     ".mp4",
		"video/webm":                    ".webm",
		"video/ogg":                     ".ogv",
		"video/x-matroska":              ".mkv",
		"video/quicktime":               ".mov",
		"video/x-msvideo":               ".avi",
		"video/x-flv":                   ".flv",
		"font/woff":                     ".woff",
		"font/woff2":                    ".woff2",
		"font/ttf":                      ".ttf",
		"font/otf":                      ".otf",
		"font/collection":               ".ttc",
		"application/font-woff":         ".woff",
		"application/vnd.ms-fontobject": ".eot",
		"application/wasm":              ".wasm",
		"application/x-executable":      ".elf",
		"application/x-mach-binary":     ".macho",
		"application/vnd.microsoft.portable-executable": ".exe",
		"application/x-msdownload":                      ".exe",
		"application/vnd.sqlite3":                       ".sqlite",
		"application/vnd.apache.parquet":                ".parquet",
		"application/x-hdf5":                            ".h5",
	}
}

// extension is the ending for a media type, ".bin" for an unknown one.
func extension(mime string) string {
	if ext, ok := extensions()[mime]; ok {
		return ext
	}
	return ".bin"
}

// SafeName makes the name of a file from the last part of a URL's path and
// gives it the ending of its media type. The name holds no separator, no
// control or direction character, is no device name of Windows, does not begin
// with a dot or a dash, and has at most 120 bytes.
func SafeName(rawURL, mime string) string {
	ext := extension(mediaType(mime))
	name := lastPart(rawURL)
	if own := path.Ext(name); sameEnding(own, ext) {
		ext, name = own, strings.TrimSuffix(name, own)
	}
	name = strings.Trim(strings.Map(nameRune, strings.ToValidUTF8(name, "_")), " ._-~")
	name = shorten(name, maxName-len(ext))
	if name == "" {
		name = "download"
	}
	if isDevice(name) {
		name = "file-" + name
	}
	return name + ext
}

// lastPart is the last part of the path of a URL, with its escapes resolved.
func lastPart(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	name := strings.ReplaceAll(u.Path, `\`, "/")
	name = path.Base(path.Clean("/" + name))
	if name == "/" {
		return u.Hostname()
	}
	return name
}

// sameEnding reports whether the ending that a name has already says the same
// as the one that its type asks for.
func sameEnding(own, ext string) bool {
	own = strings.ToLower(own)
	switch {
	case own == ext:
		return true
	case ext == ".bin":
		return len(own) > 1 && len(own) <= 6 && strings.Trim(own[1:], "abcdefghijklmnopqrstuvwxyz0123456789") == ""
	case ext == ".jpg":
		return own == ".jpeg"
	case ext == ".tiff":
		return own == ".tif"
	case ext == ".gz":
		return own == ".tgz"
	}
	return false
}

// nameRune keeps what every file system and every terminal takes as itself.
func nameRune(r rune) rune {
	switch {
	case strings.ContainsRune(`/\:*?"<>|%`+"`$&;!'(){}[]#~^", r), r == utf8.RuneError:
		return '_'
	case unicode.IsSpace(r):
		return ' '
	case !unicode.IsPrint(r): // controls, direction marks, private use
		return -1
	case unicode.Is(unicode.Mn, r) && isInvisible(r):
		return -1
	}
	return r
}

// shorten cuts at a character border.
func shorten(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	for limit > 0 && !utf8.RuneStart(name[limit]) {
		limit--
	}
	return strings.TrimRight(name[:limit], " ._-")
}

// isDevice reports whether Windows would open a device under this name.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	for _, port := range []string{"COM", "LPT"} {
		if rest, ok := strings.CutPrefix(stem, port); ok && utf8.RuneCountInString(rest) == 1 && strings.ContainsAny(rest, "0123456789¹²³") {
			return true
		}
	}
	return false
}
