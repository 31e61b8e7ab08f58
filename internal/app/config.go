// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"net/netip"
	"time"
)

// Config is everything that a user may set, with the effective value of every
// key. Its tags are the only description of the keys: the reader of files,
// environment and flags, the defaults, the checks, `dipper config` and
// doc/config.md all follow them.
//
//	key     name in the file; nested names are joined by a dot
//	def     the value when no level names the key; none: empty
//	one     the words allowed
//	is      the form of a text, see form
//	min,max bounds, inclusive; for a list min is the least number of entries
//	narrow  how a project that nobody has accepted may still set it: "add",
//	        "lower", "higher", or "lower0" where 0 means no limit
//	secret  "yes": never printed; "address": the password in it is not
//	need    must be given in an entry of a list or table
//	flag    the flag of every command that sets it, without dashes
//	doc     one sentence for doc/config.md
type Config struct {
	Network     Network     `key:"network"`
	Timeouts    Timeouts    `key:"timeouts"`
	Permissions Permissions `key:"permissions"`
	Trusted     Trusted     `key:"trusted"`
	Policy      Policy      `key:"policy"`
	Preflight   Preflight   `key:"preflight"`
	Provenance  string      `key:"provenance" def:"warn" one:"off warn ask enforce" doc:"What happens to a URL that the session has never shown."`
	Model       Model       `key:"model"`
	Search      Search      `key:"search"`
	Index       Index       `key:"index"`
	Cache       Cache       `key:"cache"`
	MCP         MCP         `key:"mcp"`
	Budget      Budget      `key:"budget"`
	// Prices are per model name and override the built-in table.
	Prices map[string]Price `key:"prices" doc:"Prices by model name, in USD per million tokens; they override the built-in, dated table."`
	Serve  Serve            `key:"serve"`
}

// Network says where bytes may come from and how.
type Network struct {
	Allow   []netip.Prefix `key:"allow" flag:"allow-net" doc:"Private ranges that may be reached, as CIDR; nothing private otherwise."`
	Ports   []int          `key:"ports" def:"80,443" min:"1" doc:"Ports that may be reached; any port of an allowed private range is open too."`
	Upgrade string         `key:"upgrade" def:"auto" one:"auto always never" doc:"When http becomes https. auto: for public hosts; allowed private ranges stay as written."`
	// Resolve maps "host:port" to an address or "address:port".
	Resolve       map[string]string `key:"resolve" flag:"resolve" is:"resolve" doc:"Declared names: \"host:port\" to an address or address:port that is dialled instead of a lookup."`
	CACert        []string          `key:"cacert" flag:"cacert" is:"file" doc:"Files with root certificates in PEM, trusted beside the system's."`
	Proxy         string            `key:"proxy" flag:"proxy" is:"proxy" secret:"address" doc:"URL of the proxy. Empty: HTTPS_PROXY, HTTP_PROXY and NO_PROXY; off: none."`
	ProxyResolves bool              `key:"proxyResolves" def:"false" doc:"Leave names that do not resolve here to the proxy."`
	PerHost       PerHost           `key:"perHost"`
	UserAgent     string            `key:"userAgent" is:"agent" doc:"User-Agent header; its first product token is the name that robots.txt rules are matched with. Empty: Dipper's own."`
}

// PerHost paces the requests to one host.
type PerHost struct {
	Parallel int           `key:"parallel" def:"4" min:"1" max:"64" narrow:"lower" doc:"Requests to one host at the same time."`
	Every    time.Duration `key:"every" def:"0s" max:"10m" narrow:"higher" doc:"Least time between the starts of two requests to one host."`
}

// Timeouts bound every wait.
type Timeouts struct {
	Total   time.Duration `key:"total" flag:"timeout" def:"60s" min:"1ms" max:"24h" narrow:"lower" doc:"A whole fetch, search or question; at most 50 s through MCP."`
	Connect time.Duration `key:"connect" def:"10s" min:"1ms" max:"1h" narrow:"lower" doc:"Making a connection, TLS included."`
	Headers time.Duration `key:"headers" def:"30s" min:"1ms" max:"1h" narrow:"lower" doc:"From the request to the last byte of the answer's header."`
	Idle    time.Duration `key:"idle" def:"20s" min:"1ms" max:"1h" narrow:"lower" doc:"Silence in the middle of a body."`
	Model   time.Duration `key:"model" def:"45s" min:"1ms" max:"1h" narrow:"lower" doc:"One call of a model."`
	MCP     time.Duration `key:"mcp" def:"30s" min:"1ms" max:"1h" narrow:"lower" doc:"One request to another MCP server, its start included."`
}

// Permissions holds the rules as they were written; Loaded.Items says where.
type Permissions struct {
	Default     string   `key:"default" def:"auto" one:"auto ask allow deny" doc:"What happens to a URL that no rule and no trusted entry names."`
	Allow       []string `key:"allow" is:"text" doc:"Rules that allow: \"WebFetch(domain:example.com)\", \"domain:*.example.com\", \"https://example.com/docs/\", \"WebSearch\", \"mcp__server\"."`
	Ask         []string `key:"ask" is:"text" narrow:"add" doc:"Rules that ask a person."`
	Deny        []string `key:"deny" is:"text" narrow:"add" doc:"Rules that deny; a host covers its subdomains, and a deny of any level stands."`
	Preapproved bool     `key:"preapproved" def:"true" doc:"Use the built-in trusted list; explicit rules win over it."`
	Files       []string `key:"files" is:"rules" doc:"Settings files of the reference tool whose permissions are read as well."`
}

// Trusted changes the list of trusted places.
type Trusted struct {
	Add    []string `key:"add" is:"text" doc:"Places to add: \"docs.example.org\", \"example.org/manual\", \"wiki.example.org open\"; tier docs unless said."`
	Remove []string `key:"remove" is:"text" narrow:"add" doc:"Places to take off the list."`
}

// Policy says what may leave a page that is not trusted.
type Policy struct {
	Restricted string `key:"restricted" def:"any" one:"any passages helper" doc:"How a page that is not trusted may be read: any, by passages alone, by the helper model alone."`
	MaxQuote   int    `key:"maxQuote" def:"125" min:"1" max:"100000" narrow:"lower" doc:"Longest quotation from such a page, in characters."`
}

// Preflight says who is asked before a host is read.
type Preflight struct {
	Skip   bool     `key:"skip" def:"false" doc:"Do not ask the remote service; block list and robots.txt stay."`
	Block  []string `key:"block" is:"block" doc:"Host patterns, or files of them, one \"host # reason\" a line."`
	URL    string   `key:"url" is:"url" secret:"address" doc:"Address of the remote service; empty: none."`
	Robots string   `key:"robots" def:"autonomous" one:"obey autonomous ignore" doc:"robots.txt: always obeyed, obeyed unless a person named the URL, or not read."`
}

// Model names the helper model and, under Main, the one that plans and writes.
type Model struct {
	Provider     string    `key:"provider" one:"anthropic openai none" doc:"Who serves the helper model. Empty: from the keys present, anthropic first; none: no model."`
	Name         string    `key:"name" is:"text" doc:"Name of the helper model; empty: the provider's default."`
	BaseURL      string    `key:"baseURL" is:"url" secret:"address" doc:"Address of the provider or of a compatible server; empty: the provider's own."`
	PrivatePages string    `key:"privatePages" def:"local" one:"local allow" doc:"local: a page from a private range goes only to a model in one."`
	Main         MainModel `key:"main"`
}

// MainModel is the model that plans and writes.
type MainModel struct {
	Provider string `key:"provider" one:"anthropic openai none" doc:"Who serves the main model; empty: the helper's provider."`
	Name     string `key:"name" is:"text" doc:"Name of the main model; empty: the provider's larger default."`
	BaseURL  string `key:"baseURL" is:"url" secret:"address" doc:"Address of the main model's provider; empty: the helper's where the provider is the same."`
}

// Search names the engines.
type Search struct {
	Engines         []string        `key:"engines" is:"word" doc:"Engines to ask; empty: those that a key or an address is known for."`
	LimitPerSession int             `key:"limitPerSession" def:"200" min:"1" max:"100000" narrow:"lower" doc:"Searches in one session."`
	SearXNG         SearXNG         `key:"searxng"`
	Anthropic       AnthropicSearch `key:"anthropic"`
	// Custom engines keep ${VAR} as written; see Expand.
	Custom []CustomEngine `key:"custom" doc:"Engines of your own that answer in JSON; ${VAR} and ${VAR:-default} are filled in."`
}

// SearXNG is one instance of that engine.
type SearXNG struct {
	URL      string `key:"url" is:"url" secret:"address" doc:"Address of the instance; empty: SEARXNG_URL."`
	User     string `key:"user" is:"text" doc:"Name for an instance behind a password."`
	Password string `key:"password" is:"text" secret:"yes" doc:"Password for an instance behind one."`
	Safe     int    `key:"safe" def:"0" min:"0" max:"2" doc:"Safe search: 0 off, 1 moderate, 2 strict."`
}

// AnthropicSearch is the provider's search tool used as an engine.
type AnthropicSearch struct {
	Model    string   `key:"model" is:"text" doc:"Model that searches; empty: the helper model."`
	Tool     string   `key:"tool" def:"web_search_20250305" is:"word" doc:"Version of the provider's search tool."`
	Force    bool     `key:"force" def:"false" doc:"Make the model search, whatever it thinks it knows."`
	Thinking bool     `key:"thinking" def:"false" doc:"Let the model think before it searches."`
	Location Location `key:"location"`
}

// Location is where the searcher is said to be.
type Location struct {
	City     string `key:"city" is:"text" doc:"City of the searcher."`
	Region   string `key:"region" is:"text" doc:"Region of the searcher."`
	Country  string `key:"country" is:"text" doc:"Country of the searcher, two letters (ISO 3166-1)."`
	Timezone string `key:"timezone" is:"text" doc:"Time zone of the searcher (IANA name)."`
}

// CustomEngine is a search service that answers in JSON. Texts are kept as
// written, with ${VAR} in place; paths are names joined by dots.
type CustomEngine struct {
	Name      string            `key:"name" is:"word" need:"yes" doc:"Name of the engine, as --engine takes it."`
	URL       string            `key:"url" is:"text" need:"yes" secret:"address" doc:"Address; {query} and {limit} are filled in."`
	Method    string            `key:"method" def:"GET" one:"GET POST" doc:"How it is asked."`
	Headers   map[string]string `key:"headers" is:"text" secret:"yes" doc:"Headers to send."`
	Body      string            `key:"body" is:"body" doc:"Body to send; {query} and {limit} are filled in."`
	Results   string            `key:"results" is:"text" def:"results" doc:"Path of the list of hits in the answer."`
	Title     string            `key:"title" is:"text" def:"title" doc:"Path of the title in a hit."`
	Link      string            `key:"link" is:"text" def:"url" doc:"Path of the URL in a hit."`
	Snippet   string            `key:"snippet" is:"text" def:"snippet" doc:"Path of the snippet in a hit."`
	Published string            `key:"published" is:"text" doc:"Path of the date in a hit."`
}

// Index says what goes into the local index.
type Index struct {
	Fetched bool `key:"fetched" def:"false" doc:"Put fetched pages into the local index."`
}

// Cache says where pages are kept and for how long.
type Cache struct {
	Store  string        `key:"store" def:"sqlite" is:"store" secret:"address" doc:"Where pages are kept: mem, sqlite, or redis://host:port/db."`
	TTL    time.Duration `key:"ttl" def:"15m" min:"1s" max:"8760h" narrow:"lower" doc:"How long a page is fresh; older ones are revalidated."`
	Memory Size          `key:"memory" def:"50MiB" min:"1MiB" max:"64GiB" narrow:"lower" doc:"Pages in memory."`
	Disk   Size          `key:"disk" def:"2GiB" min:"1MiB" max:"16TiB" narrow:"lower" doc:"Pages on disk."`
}

// MCP names other MCP servers.
type MCP struct {
	// Config is kept as written: a relative path belongs to the working folder
	// and, with it, to the project that must be accepted first.
	Config []string `key:"config" def:".mcp.json" is:"text" doc:"Files in the mcpServers format, seen from the working folder; a relative one is the project's and counts once it is trusted."`
	// Servers keep ${VAR} as written; see Expand.
	Servers map[string]MCPServer `key:"servers" doc:"Servers by name, in the same format; ${VAR} and ${VAR:-default} are filled in."`
}

// MCPServer is one entry of the mcpServers format.
type MCPServer struct {
	Type    string            `key:"type" one:"stdio http" doc:"stdio or http; empty: stdio where a command is named, http where a url is."`
	Command string            `key:"command" is:"text" doc:"Program to start."`
	Args    []string          `key:"args" is:"body" doc:"Its arguments."`
	Env     map[string]string `key:"env" is:"body" secret:"yes" doc:"Variables for it, beside a small safe set."`
	URL     string            `key:"url" is:"text" secret:"address" doc:"Address of an http server."`
	Headers map[string]string `key:"headers" is:"text" secret:"yes" doc:"Headers for an http server."`
}

// Budget bounds what a session may spend.
type Budget struct {
	CostUSD float64 `key:"costUSD" def:"0" min:"0" max:"1000000" narrow:"lower0" doc:"USD in one session; 0: no bound."`
	Tokens  int     `key:"tokens" def:"0" min:"0" max:"1000000000000" narrow:"lower0" doc:"Tokens of models in one session; 0: no bound."`
}

// Price is what a model costs, in USD per million tokens.
type Price struct {
	In     float64 `key:"in" need:"yes" min:"0" max:"1000000" doc:"Tokens sent."`
	Out    float64 `key:"out" need:"yes" min:"0" max:"1000000" doc:"Tokens received."`
	Cached float64 `key:"cached" def:"0" min:"0" max:"1000000" doc:"Tokens sent that the provider still had."`
}

// Serve is the HTTP server.
type Serve struct {
	Addr  string   `key:"addr" def:"127.0.0.1:7788" is:"listen" doc:"Address to listen on; port 0: any free one."`
	Token string   `key:"token" is:"token" secret:"yes" doc:"Token that callers must send; needed beyond loopback."`
	Hosts []string `key:"hosts" is:"host" doc:"Names beside the address under which the server may be asked."`
}
