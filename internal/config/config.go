// Package config is the configuration file: one TOML file of the person's own, which agentctl never writes.
//
// Every key is checked: a misspelt setting is an error that names its place, never silently ignored.
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
	// Homes are further data roots to look into, by agent.
	Homes map[string][]string `json:"homes,omitempty"`
	// Since is the window of `list -a`, as --since takes it.
	Since Since `json:"since"`
	// Color says when tables are coloured.
	Color Color `json:"color"`
	// Strict: a session that is merely open in a directory counts as working there.
	Strict bool `json:"strict"`
}

// DefaultSince is the window of `list -a` where neither flag nor file names one.
const DefaultSince Since = "7d"

// Path returns where the file is looked for: agentctl/config.toml below $XDG_CONFIG_HOME, which must be absolute to
// count (XDG Base Directory Specification), else below ~/.config. It is "" where no home directory is known.
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

// Load reads the file at path; one that does not exist gives the defaults. agents are the names that [homes] may
// have. A leading ~/ of a home is home. Every error is an [*Error].
func Load(path, home string, agents []string) (Config, error) {
	c := Config{Since: DefaultSince, Color: Auto}
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
	var doc, homes map[string]toml.Primitive
	md, err := toml.Decode(text, &doc)
	if err != nil {
		return newError("", err)
	}
	keys := map[string]any{"since": &c.Since, "color": &c.Color, "strict": boolValue(&c.Strict), "homes": &homes}
	if kind := md.Type("homes"); kind != "Hash" && kind != "" { // which homes.codex = […] has
		keys["homes"] = reject(`want a table [homes] with one list an agent, as in codex = ["/srv/codex"]`)
	}
	if err := decodeTable(&md, "", doc, keys); err != nil || homes == nil {
		return err
	}
	c.Homes = map[string][]string{}
	lists := map[string]any{}
	for _, name := range agents {
		lists[name] = dirList(func(list []string) { c.Homes[name] = list })
	}
	return decodeTable(&md, "homes.", homes, lists)
}

func expandTilde(path, home string) string {
	if rest, ok := cutTilde(path); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return filepath.Clean(path)
}
