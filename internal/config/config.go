// Package config reads the configuration file: one TOML file, which agentctl never writes.
//
// Every key is checked. A misspelt key is an error that names its line and column; it is never ignored.
package config

import (
	"context"
	_ "embed" // for go:embed
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"agentctl/discover/storage"
	"agentctl/internal/remote"
)

// Config holds the settings of the file, or their defaults.
type Config struct {
	// File is the configuration file that was read; "" if there is none.
	File string `json:"file,omitempty"`
	// Homes are additional homes (data directories) to scan, by agent.
	Homes map[string][]string `json:"homes,omitempty"`
	// Since is the default time window of `list -a`, in the syntax of --since.
	Since Since `json:"since"`
	// Color says when output is coloured.
	Color Color `json:"color"`
	// Strict: an idle session counts as working in its directory.
	Strict bool `json:"strict"`
	// ConnectTimeout is how long ssh may take to reach another machine.
	ConnectTimeout ConnectTimeout `json:"connectTimeout"`
	// Hosts are the destinations for ssh of other machines, by the names that --host takes.
	Hosts map[string]string `json:"hosts,omitempty"`
}

// Path returns the path of the configuration file: agentctl/config.toml below $XDG_CONFIG_HOME, or below ~/.config
// if that variable is not an absolute path (XDG Base Directory Specification). It returns "" if the home directory
// is unknown.
func Path(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "agentctl", "config.toml")
}

// Load reads the file at path. If the file does not exist, it returns the defaults. agents are the valid names in
// [homes]. A leading ~/ in a path stands for home. Every error is an [*Error].
func Load(path, home string, agents []string) (Config, error) {
	c := Config{Since: "7d", Color: Auto, ConnectTimeout: DefaultConnectTimeout}
	if _, err := os.Lstat(path); path == "" || errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	_, err := load(path, nil, func(md *toml.MetaData, doc table) *Error { return c.decode(md, doc, agents) })
	for _, list := range c.Homes {
		for i := range list {
			list[i] = filepath.Clean(expandTilde(list[i], home))
		}
	}
	c.File = path
	return c, err
}

func (c *Config) decode(md *toml.MetaData, doc table, agents []string) *Error {
	var homes, hosts table
	err := decodeTable(md, "", doc, map[string]any{
		"since": &c.Since, "color": &c.Color, "strict": boolValue(&c.Strict), "connect-timeout": &c.ConnectTimeout,
		"homes": tableValue(md, "homes", &homes, `want a table [homes] with one list an agent, as in codex = ["/srv/codex"]`),
		"hosts": tableValue(md, "hosts", &hosts, `want a table [hosts] with one line a host, as in devbox = "ana@devbox.example"`),
	})
	if err != nil {
		return err
	}
	if hosts != nil {
		c.Hosts = map[string]string{}
	}
	destinations := map[string]any{}
	for name := range hosts {
		destinations[name] = hostValue(c.Hosts, name)
	}
	if err := decodeTable(md, "hosts.", hosts, destinations); err != nil || homes == nil {
		return err
	}
	c.Homes = map[string][]string{}
	lists := map[string]any{}
	for _, name := range agents {
		lists[name] = dirList(c.Homes, name)
	}
	return decodeTable(md, "homes.", homes, lists)
}

// dirList decodes a list of absolute directories, the value of a key.
func dirList(to map[string][]string, key string) decoder {
	return func(value any) error {
		list, ok := value.([]any)
		if !ok {
			return errors.New(`want a list of directories, as in ["/srv/agents/home"]`)
		}
		dirs := []string{}
		for _, v := range list {
			dir, _ := v.(string)
			if !filepath.IsAbs(expandTilde(dir, "/")) {
				return fmt.Errorf("%s is not an absolute directory (a leading ~/ is your home)", quote(v))
			}
			dirs = append(dirs, dir)
		}
		to[key] = dirs
		return nil
	}
}

// hostValue decodes the destination of a host.
func hostValue(to map[string]string, name string) decoder {
	return func(value any) error {
		var destination string
		if err := stringValue(&destination)(value); err != nil {
			return err
		}
		if name == remote.Local {
			return errors.New(`"local" is this machine: use another name`)
		}
		if err := errors.Join(remote.CheckName(name), remote.CheckDestination(destination)); err != nil {
			return err
		}
		to[name] = destination
		return nil
	}
}

// expandTilde replaces a leading ~ with home, if that is known.
func expandTilde(path, home string) string {
	if home != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
		return filepath.Join(home, path[1:])
	}
	return path
}

// Color says when output is coloured.
type Color string

// The values of the key color.
const (
	Auto   Color = "auto"   // on a terminal that supports colours
	Always Color = "always" // into pipes and files too
	Never  Color = "never"
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Color) UnmarshalText(text []byte) error {
	switch *c = Color(text); *c {
	case Auto, Always, Never:
		return nil
	}
	return fmt.Errorf("must be auto, always or never, not %q", text)
}

// ConnectTimeout is a whole number of seconds or minutes.
type ConnectTimeout time.Duration

// DefaultConnectTimeout is the [ConnectTimeout] if the file sets none: several times what a far machine takes.
const DefaultConnectTimeout = ConnectTimeout(5 * time.Second)

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *ConnectTimeout) UnmarshalText(text []byte) error {
	if !regexp.MustCompile(`^[1-9][0-9]{0,2}[sm]$`).Match(text) {
		return fmt.Errorf("connect-timeout must be a whole number of seconds or minutes, as in 5s or 1m, not %q", text)
	}
	d, err := time.ParseDuration(string(text))
	*c = ConnectTimeout(d)
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (c ConnectTimeout) MarshalText() ([]byte, error) { return []byte(time.Duration(c).String()), nil }

// Since is a time window in the syntax of [ParseSince].
type Since string

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Since) UnmarshalText(text []byte) error {
	*s = Since(text)
	_, err := ParseSince(string(text), time.Now())
	return err
}

// ParseSince returns the start of a time window in UTC: a duration before now (90m, 2h30m, 30d, 2w), a date
// (2006-01-02, midnight in the time zone of now), today, yesterday, a time (RFC 3339), or "all", which is the zero time.
func ParseSince(s string, now time.Time) (time.Time, error) {
	if s == "all" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t.UTC(), nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC(), nil
	}
	if days, ok := map[string]int{"today": 0, "yesterday": 1}[s]; ok {
		return time.Date(now.Year(), now.Month(), now.Day()-days, 0, 0, 0, 0, now.Location()).UTC(), nil
	}
	if d, ok := ParseDuration(s); ok && d >= 0 {
		return now.Add(-d).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a valid time; use 90m, 2h30m, 30d, 2w, today, yesterday, 2006-01-31, 2006-01-31T15:04:05Z or all", s)
}

// ParseDuration parses a duration in the syntax of Go (90s, 1h30m), or a whole number of days of 24 hours or of
// weeks (2d, 1w).
func ParseDuration(s string) (time.Duration, bool) {
	digits := strings.TrimRight(s, "dw")
	unit := map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[s[len(digits):]]
	if unit == 0 {
		d, err := time.ParseDuration(s)
		return d, err == nil
	}
	const bits = 20 // six digits
	n, err := strconv.ParseUint(digits, 10, bits)
	d := time.Duration(n) * unit
	return d, err == nil && d/unit == time.Duration(n)
}

// schema is maintained by hand, without the agents. Tests compare it with what Load accepts.
//
//go:embed schema.json
var schema string

// Schema is the JSON Schema (draft-07, which editors know best) of the configuration file. agents are the valid names in [homes].
func Schema(agents []string) string {
	var homes []string
	for _, name := range agents {
		homes = append(homes, `"`+name+`": {"$ref": "#/definitions/directories"}`)
	}
	return strings.Replace(schema, `"properties": {}`, `"properties": {`+strings.Join(homes, ", ")+`}`, 1)
}

// Error is an error in the configuration file.
type Error struct {
	// File, Line and Column are the position of the value, or of the malformed text. Line and Column count from 1.
	File         string
	Line, Column int
	// Key is the key with the error; "" for malformed text.
	Key string
	// Problem is the message.
	Problem string
	// Unreadable: the file does not exist or cannot be read. Its content may be valid.
	Unreadable bool
}

func (e *Error) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
	}
	if e.Key == "" {
		return where + ": " + e.Problem
	}
	return fmt.Sprintf("%s: %s: %s", where, e.Key, e.Problem)
}

// newError returns the error about a key, with its position if err has one. An empty key is for malformed text.
func newError(key string, err error) *Error {
	out := &Error{Key: key, Problem: err.Error()}
	if p, ok := errors.AsType[toml.ParseError](err); ok {
		out.Line, out.Column, out.Problem = p.Position.Line, p.Position.Col, p.Message
	}
	out.Problem = strings.TrimPrefix(out.Problem, "toml: ")
	return out
}

// table is a TOML table of which nothing is decoded yet.
type table = map[string]toml.Primitive

// load reads a file, or stdin if that is not nil, and decodes it. Every error is an [*Error].
func load(path string, stdin io.Reader, decode func(*toml.MetaData, table) *Error) ([]byte, error) {
	const sizeLimit = 1 << 20 // bytes; real files have a few hundred
	var text []byte
	var err error
	if stdin != nil {
		text, err = storage.ReadStream(context.Background(), sizeLimit, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil })
	} else {
		text, err = storage.ReadFile(path, sizeLimit) // it follows links, since people keep their configuration in other directories
	}
	if err != nil {
		e := &Error{File: path, Unreadable: true, Problem: "cannot be read: " + err.Error()}
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			e.Problem = "cannot be read: " + p.Err.Error()
		}
		if _, missing := os.Lstat(path); missing == nil && errors.Is(err, fs.ErrNotExist) {
			e.Problem = "cannot be read: a symbolic link is broken"
		}
		return nil, e
	}
	var doc table
	md, err := toml.Decode(string(text), &doc)
	var failed *Error
	if err != nil {
		failed = newError("", err)
	} else {
		failed = decode(&md, doc)
	}
	if failed != nil {
		failed.File = path
		return text, failed
	}
	return text, nil
}

// decodeTable decodes a table key by key, so that an error can name the position of its key. A key that is not in
// keys is an error.
func decodeTable(md *toml.MetaData, prefix string, t table, keys map[string]any) *Error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		to, ok := keys[name]
		if !ok {
			to = reject("no such key; valid keys: " + strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
		}
		if err := md.PrimitiveDecode(t[name], to); err != nil {
			return newError(prefix+name, err)
		}
	}
	return nil
}

// decoder decodes the value of a key. The TOML library adds the position of the value to an error of a decoder,
// but not to its own errors about wrong types.
type decoder func(value any) error

func (d decoder) UnmarshalTOML(value any) error { return d(value) }

// reject returns a decoder that fails with a message.
func reject(text string) decoder {
	return func(any) error { return errors.New(text) }
}

// tableValue decodes the table with this name; any other value is an error.
func tableValue(md *toml.MetaData, name string, to *table, wanted string) any {
	if kind := md.Type(name); kind != "Hash" && kind != "" { // dotted keys, as in homes.codex = […], have the type ""
		return reject(wanted)
	}
	return to
}

// boolValue decodes a boolean.
func boolValue(to *bool) decoder {
	return func(value any) (err error) {
		var ok bool
		if *to, ok = value.(bool); !ok {
			err = fmt.Errorf("%s must be true or false", quote(value))
		}
		return err
	}
}

// stringValue decodes a string that is not empty.
func stringValue(to *string) decoder {
	return func(value any) error {
		*to, _ = value.(string)
		if *to == "" {
			return fmt.Errorf("%s is not text", quote(value))
		}
		return nil
	}
}

func quote(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}
