// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"runtime/debug"
	"strings"
)

const (
	module   = "github.com/dipper-web/dipper"
	homePage = "https://" + module
)

// userAgent says honestly who asks: name, version and home page. A build without a
// version calls itself 0.
func userAgent() string { return "Dipper/" + version() + " (+" + homePage + ")" }

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "0"
	}
	v := ""
	if info.Main.Path == module {
		v = info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == module {
			v = d.Version
		}
	}
	if v = strings.TrimPrefix(v, "v"); v == "" || v == "(devel)" {
		return "0"
	}
	return v
}

// Version is the version of this build, as the user agent names it.
func Version() string { return version() }

// UserAgent is the User-Agent header that is sent.
func (h *HTTP) UserAgent() string { return h.agent }
