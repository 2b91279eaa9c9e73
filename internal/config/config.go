// Package config is the configuration file: one TOML file of the person's own, which agentctl never writes.
//
// Every key is checked: a misspelt setting is an error that names its place, never silently ignored.
package config

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

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
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, unreadable(path, err)
	}
	c.File = path
	if err := c.decode(string(text), agents); err != nil {
		return c, locate(path, err)
	}
	for _, list := range c.Homes {
		for i := range list {
			list[i] = expand(list[i], home)
		}
	}
	return c, nil
}

// decode takes the document apart key by key, so that the error about a key knows the key's place.
func (c *Config) decode(text string, agents []string) error {
	var doc map[string]toml.Primitive
	md, err := toml.Decode(text, &doc)
	if err != nil {
		return err
	}
	var homes map[string]toml.Primitive
	table, kind := doc["homes"], md.Type("homes")
	isTable := md.IsDefined("homes") && (kind == "Hash" || kind == "") // the latter of homes.codex = […]
	keys := map[string]any{"since": &c.Since, "color": &c.Color, "strict": (*truth)(&c.Strict), "homes": &homes}
	if md.IsDefined("homes") && !isTable {
		keys["homes"] = &notATable{}
	}
	if err := fields(&md, "", doc, keys); err != nil || !isTable {
		return err
	}
	return c.decodeHomes(&md, table, agents)
}

func (c *Config) decodeHomes(md *toml.MetaData, table toml.Primitive, agents []string) error {
	var homes map[string]toml.Primitive
	if err := md.PrimitiveDecode(table, &homes); err != nil {
		return err
	}
	c.Homes = map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(homes)) {
		list := homeList{}
		var dst any = &list
		if !slices.Contains(agents, name) {
			dst = &unknownKey{name, agents}
		}
		if err := md.PrimitiveDecode(homes[name], dst); err != nil {
			return keyed("homes."+name, err)
		}
		c.Homes[name] = list
	}
	return nil
}

func expand(path, home string) string {
	if rest, ok := cutHome(path); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return filepath.Clean(path)
}
