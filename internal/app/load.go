// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

// Source is everything that a configuration is read from. Nothing else of the
// process is looked at.
type Source struct {
	// Env is the environment as os.Environ gives it.
	Env []string
	// Dir is the working folder, absolute. Empty: no project file.
	Dir string
	// ConfigPath is the value of --config; it names the user file, which must exist.
	ConfigPath string
	// Flags holds the values of flags by key, in order, as they were typed:
	// "network.allow", "network.resolve" (curl's form), "network.cacert",
	// "network.proxy", "timeouts.total".
	Flags map[string][]string
	// Managed is the file that stands over all. Empty: ManagedPath.
	Managed string
}

// Loaded is a checked configuration and where it came from.
type Loaded struct {
	Config Config
	// Standard holds the names that other programs use too.
	Standard Standard
	// Origins says for every key where its value came from: "default",
	// "user file", "project file", "environment", "flag", "managed file", the
	// name of a standard variable, or several joined by " + ".
	Origins map[string]string
	// Notes are sentences for a person: what was left out and why.
	Notes []string
	// UserPath is the user file, and ProjectPath the project file, that was
	// read; empty where there is none.
	UserPath, ProjectPath string
	// ProjectTrusted reports that the project in the working folder was
	// accepted as it is now.
	ProjectTrusted bool
	// DataDir is the state folder, which may not exist yet; see MakeDataDir.
	// Empty where no home is known: state is then kept in memory only.
	DataDir string
	// Dir is the working folder.
	Dir string
}

// Item is one entry of a list with the place that it was written in.
type Item struct{ Text, From string }

// Standard holds the variables that other programs use too. Empty: not set.
type Standard struct {
	AnthropicKey, AnthropicBaseURL string
	OpenAIKey, OpenAIBaseURL       string
	BraveKey, TavilyKey, ExaKey    string
	SearXNGURL                     string
	HTTPSProxy, HTTPProxy, NoProxy string
	CertFile                       string // SSL_CERT_FILE
	NoColor                        bool
}

// Load reads, checks and joins all levels. Every error is fault.Invalid and
// names the file and line, the variable or the flag.
func Load(s Source) (*Loaded, error) { panic("unfinished") }
