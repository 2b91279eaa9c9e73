// Package config reads the configuration file: one TOML file, which agentctl never writes.
//
// Every key is checked. A misspelt key is an error that names its line and column; it is never ignored.
package config

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/BurntSushi/toml"
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

// DefaultSince is the time window of `list -a` if neither the flag nor the file sets one.
const DefaultSince Since = "7d"

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
	c := Config{Since: DefaultSince, Color: Auto, ConnectTimeout: DefaultConnectTimeout}
	if path == "" {
		return c, nil
	}
	text, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, readError(path, err)
	}
	c.File = path
	if err := c.decode(string(text), agents); err != nil {
		err.File = path
		return c, err
	}
	for _, list := range c.Homes {
		for i := range list {
			list[i] = expandTilde(list[i], home)
		}
	}
	return c, nil
}

func (c *Config) decode(text string, agents []string) *Error {
	var doc, homes, hosts map[string]toml.Primitive
	md, err := toml.Decode(text, &doc)
	if err != nil {
		return newError("", err)
	}
	keys := map[string]any{"since": &c.Since, "color": &c.Color, "strict": boolValue(&c.Strict), "connect-timeout": &c.ConnectTimeout, "homes": &homes, "hosts": &hosts}
	if kind := md.Type("homes"); kind != "Hash" && kind != "" { // dotted keys, as in homes.codex = […], have the type ""
		keys["homes"] = reject(`want a table [homes] with one list an agent, as in codex = ["/srv/codex"]`)
	}
	if kind := md.Type("hosts"); kind != "Hash" && kind != "" {
		keys["hosts"] = reject(`want a table [hosts] with one line a host, as in devbox = "ana@devbox.example"`)
	}
	if err := decodeTable(&md, "", doc, keys); err != nil {
		return err
	}
	if err := c.decodeHosts(&md, hosts); err != nil || homes == nil {
		return err
	}
	c.Homes = map[string][]string{}
	lists := map[string]any{}
	for _, name := range agents {
		lists[name] = dirList(func(list []string) { c.Homes[name] = list })
	}
	return decodeTable(&md, "homes.", homes, lists)
}

func (c *Config) decodeHosts(md *toml.MetaData, hosts map[string]toml.Primitive) *Error {
	values := map[string]any{}
	for name := range hosts {
		values[name] = hostValue(name, func(destination string) {
			if c.Hosts == nil {
				c.Hosts = map[string]string{}
			}
			c.Hosts[name] = destination
		})
	}
	return decodeTable(md, "hosts.", hosts, values)
}

// expandTilde replaces a leading ~ with home, and cleans the path.
func expandTilde(path, home string) string {
	if rest, ok := cutTilde(path); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return filepath.Clean(path)
}
