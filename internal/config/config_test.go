package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/jsonschema-go/jsonschema"

	"agentctl/internal/config"
	"agentctl/tests/must"
)

var agents = []string{"claude-code", "codex", "opencode"}

func load(t *testing.T, text string) (config.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	c, err := config.Load(path, "/home/me", agents)
	c.File = ""
	return c, err
}

func TestLoad(t *testing.T) {
	got, err := load(t, `
since = "30d"
color = "never"
strict = true
connect-timeout = "90s"

[homes]
claude-code = ["~/work/claude", "/srv/claude/"]
codex = []
`)
	want := config.Config{
		Since: "30d", Color: config.Never, Strict: true, ConnectTimeout: config.ConnectTimeout(90 * time.Second),
		Homes: map[string][]string{"claude-code": {"/home/me/work/claude", "/srv/claude"}, "codex": {}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

// [homes] accepts every syntax that TOML has for a table.
func TestLoadHomes(t *testing.T) {
	for _, text := range []string{
		"[homes]\ncodex = [\"/x\"]\n", "homes.codex = [\"/x\"]\n", "homes = {codex = [\"/x\"]}\n", "[ homes ]\n\"codex\" = [\n\"/x\",\n]\n",
	} {
		if got, err := load(t, text); err != nil || !reflect.DeepEqual(got.Homes, map[string][]string{"codex": {"/x"}}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestLoadDefaults(t *testing.T) {
	want := config.Config{Since: "7d", Color: config.Auto, ConnectTimeout: config.DefaultConnectTimeout}
	for _, path := range []string{"", filepath.Join(t.TempDir(), "none.toml")} {
		if got, err := config.Load(path, "", agents); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Load(%q) = %+v, %v", path, got, err)
		}
	}
	if got, err := load(t, ""); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("empty file: %+v, %v", got, err)
	}
}

func TestLoadErrors(t *testing.T) {
	for _, tc := range []struct {
		text, key    string
		line, column int
		says         string
	}{
		{"since = \"7d\"\nsinze = \"7d\"\n", "sinze", 2, 10, "valid keys: color, connect-timeout, homes, hosts, since, strict"},
		{"[homes]\ncodecs = [\"/x\"]\n", "homes.codecs", 2, 11, "claude-code, codex, opencode"},
		{"homes = 3\n", "homes", 1, 9, "want a table"},
		{"homes.codex = \"/x\"\n", "homes.codex", 1, 16, "want a list"},
		{"homes.codecs = [\"/x\"]\n", "homes.codecs", 1, 17, "claude-code, codex, opencode"},
		{"[homes.codex]\nx = 1\n", "homes.codex", 1, 1, "want a list"},
		{"a.b = 1\n", "a", 0, 1, "no such key"}, // the parser does not say where
		{"[homes]\n  codex = \"/x\"\n", "homes.codex", 2, 12, "want a list"},
		{"[homes]\ncodex = [\"x/y\"]\n", "homes.codex", 2, 10, `"x/y" is not an absolute directory`},
		{"[homes]\ncodex = [1]\n", "homes.codex", 2, 10, "1 is not an absolute directory"},
		{"\n\nsince = \"soon\"\n", "since", 3, 10, `"soon" is not a valid time`},
		{"color = \"red\"\n", "color", 1, 10, "auto, always or never"},
		{"strict = \"yes\"\n", "strict", 1, 11, `"yes" must be true or false`},
		{"connect-timeout = \"5\"\n", "connect-timeout", 1, 20, "as in 5s or 1m"},
		{"since = \n", "", 1, 9, "expected value"},
		{"[homes\n", "", 2, 7, "expected"},
		{"since = \"\xff\"\n", "", 1, 9, "UTF-8"},
	} {
		_, err := load(t, tc.text)
		var e *config.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %v is no *config.Error", tc.text, err)
			continue
		}
		if e.Key != tc.key || e.Line != tc.line || e.Column != tc.column || !strings.Contains(e.Error(), tc.says) {
			t.Errorf("%q: %+v; want key %q at %d:%d, saying %q", tc.text, e, tc.key, tc.line, tc.column, tc.says)
		}
	}
}

func TestLoadUnreadable(t *testing.T) {
	dir := t.TempDir()
	fifo, loop, big := filepath.Join(dir, "fifo"), filepath.Join(dir, "loop"), filepath.Join(dir, "big")
	broken := filepath.Join(dir, "broken")
	must.Do(t, errors.Join(os.Symlink("nowhere", broken), syscall.Mkfifo(fifo, 0o600), os.Symlink(loop, loop), os.WriteFile(big, make([]byte, 2<<20), 0o600)))
	for path, says := range map[string]string{
		dir: "not a regular file", fifo: "not a regular file", "/dev/zero": "not a regular file", loop: "too many", broken: "link is broken",
		big: "larger than", big + "/under": "not a directory",
	} {
		_, err := config.Load(path, "", agents)
		if e, ok := errors.AsType[*config.Error](err); !ok || e.File != path || !strings.Contains(e.Problem, says) {
			t.Errorf("%s: %v, want an error of it that says %q", path, err, says)
		}
	}
}

func TestPath(t *testing.T) {
	for _, tc := range [][3]string{
		{"/x", "/home/me", "/x/agentctl/config.toml"},
		{"", "/home/me", "/home/me/.config/agentctl/config.toml"},
		{"relative", "/home/me", "/home/me/.config/agentctl/config.toml"},
		{"", "", ""},
	} {
		env := map[string]string{"XDG_CONFIG_HOME": tc[0], "HOME": tc[1]}
		if got := config.Path(func(k string) string { return env[k] }); got != tc[2] {
			t.Errorf("%v: %q, want %q", env, got, tc[2])
		}
	}
}

func TestParseSince(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.FixedZone("", 3600))
	for text, want := range map[string]string{
		"90m":                  "2026-11-20T09:30:00Z",
		"12h":                  "2026-11-19T23:00:00Z",
		"30d":                  "2026-10-21T11:00:00Z",
		"2w":                   "2026-11-06T11:00:00Z",
		"2h30m":                "2026-11-20T08:30:00Z",
		"today":                "2026-11-19T23:00:00Z",
		"yesterday":            "2026-11-18T23:00:00Z",
		"0d":                   "2026-11-20T11:00:00Z",
		"2026-11-01":           "2026-10-31T23:00:00Z",
		"2026-11-01T10:00:00Z": "2026-11-01T10:00:00Z",
		"all":                  "0001-01-01T00:00:00Z",
	} {
		got, err := config.ParseSince(text, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v; want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"", "7", "d", "-7d", "7 d", "7dd", "1.5d", "9999999w", "999999w", "-2h", "tomorrow", "2026-13-01", "7y", "ALL"} {
		if got, err := config.ParseSince(text, now); err == nil {
			t.Errorf("%q was taken for %s", text, got)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("since = \"7d\"\n[homes]\ncodex = [\"/x\"]\n")
	f.Add("a.b = {c = 1}\n[[homes]]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := load(t, text)
		if err == nil {
			if _, bad := config.ParseSince(string(c.Since), time.Now()); bad != nil {
				t.Errorf("a file without error gave since = %q", c.Since)
			}
			return
		}
		var e *config.Error
		if !errors.As(err, &e) || e.Problem == "" {
			t.Errorf("%v is no *config.Error", err)
		}
	})
}

func parseSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	var s jsonschema.Schema
	must.Do(t, json.Unmarshal([]byte(config.Schema(agents)), &s))
	return &s
}

// check returns the error of the schema for a file, as JSON has its values.
func check(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	resolved, err := s.Resolve(nil)
	must.Do(t, err)
	doc, value := map[string]any{}, any(nil)
	if err := toml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	raw, err := json.Marshal(doc)
	must.Do(t, err)
	must.Do(t, json.Unmarshal(raw, &value))
	return resolved.Validate(value)
}

// The schema has the keys that Load knows, and the agents of the program.
func TestSchemaHasEveryKey(t *testing.T) {
	s := parseSchema(t)
	for text, properties := range map[string]map[string]*jsonschema.Schema{
		"no-such-key = 1\n": s.Properties, "[homes]\nno-such-key = []\n": s.Properties["homes"].Properties,
	} {
		_, err := load(t, text)
		if err == nil {
			t.Fatalf("%q is accepted", text)
		}
		_, known, _ := strings.Cut(err.Error(), "valid keys: ")
		if has := strings.Join(slices.Sorted(maps.Keys(properties)), ", "); has == "" || has != known {
			t.Errorf("%q: the schema has %s, the error is %v", text, has, err)
		}
	}
	defaults, err := load(t, "")
	must.Do(t, err)
	for key, want := range map[string]any{"since": defaults.Since, "color": defaults.Color, "strict": defaults.Strict, "connect-timeout": time.Duration(defaults.ConnectTimeout).String()} {
		if got, want := string(s.Properties[key].Default), fmt.Sprintf("%#v", want); got != want {
			t.Errorf("%s: the schema has the default %s, the code %s", key, got, want)
		}
	}
}

// The schema accepts the files that Load accepts, and refuses the others.
func TestSchemaOfFiles(t *testing.T) {
	s := parseSchema(t)
	for folder, valid := range map[string]bool{"valid": true, "invalid": false} {
		names, err := filepath.Glob("testdata/" + folder + "/*.toml")
		if err != nil || len(names) < 3 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			must.Do(t, err)
			_, loaded := load(t, string(text))
			if checked := check(t, s, string(text)); (loaded == nil) != valid || (checked == nil) != valid {
				t.Errorf("%s: Load: %v; the schema: %v", name, loaded, checked)
			}
		}
	}
}

// The patterns accept and refuse the same values as the code, but for dates and sizes that no pattern can check.
func TestSchemaOfValues(t *testing.T) {
	s := parseSchema(t)
	for format, values := range map[string][]string{
		"since = %q\n": {
			"", "7d", "90m", "1h", "2w", "000007d", "1234567d", "7", "d", "-7d", "7 d", "7dd", "1.5d", "7y", "1h30m", "ALL", "all", "yesterday", "2026-01-31",
			"2026-1-31", "2026-01-31 15:04", "2026-01-31T15:04:05Z", "2026-01-31T15:04:05.25+02:00", "2026-01-31T15:04Z", "2026-01-31T15:04:05", "2026-01-31t15:04:05z",
		},
		"color = %q\n":             {"", "auto", "always", "never", "Auto", "true"},
		"homes.codex = [%q]\n":     {"", "/", "/srv", "~", "~/x", "~ana/x", "srv", "./x", "$HOME/x"},
		"hosts.ci = %q\n":          {"", "ci", "ana@ci", "ssh://ana@ci:22", "ssh://", "ssh://-x", "-x", "a b", "a;b", "[fe80::1%eth0]", "ci/x", "a,b", strings.Repeat("a", 255)},
		"[hosts]\n%q = \"box\"\n":  {"", "ci", "ana@ci", "-ci", "c-i", "a b", "a,b", "a:b", "local", "pid", "pids", "locals", strings.Repeat("a", 255), strings.Repeat("a", 256)},
		"connect-timeout = %q\n":   {"", "s", "0s", "05s", "1s", "5s", "999s", "1000s", "1m", "999m", "1h", "1.5s", "5", "-5s", "+5s", "1m5s", "500ms", "5 s", "5S"},
		"connect-timeout = %s\n":   {"5", "true", "[]"},
		"strict = %s\n":            {"true", "false", "1", "[]", `"true"`},
		"homes = %s\n":             {"{}", "{codex = [1]}", "{codex = {}}", "[]", "true"},
		"hosts = %s\n":             {"{}", "{ci = 1}", "{ci = [\"ci\"]}", "[]", "[{}]"},
		"color = %s\n":             {"1", "true", "[]"},
		"[homes]\ncodex = [%s]\n#": {`"/a", "/b"`, `"/a", 2`, `["/a"]`},
	} {
		for _, value := range values {
			text := fmt.Sprintf(format, value)
			_, loaded := load(t, text)
			if checked := check(t, s, text); (loaded == nil) != (checked == nil) {
				t.Errorf("%q: Load: %v; the schema: %v", text, loaded, checked)
			}
		}
	}
}
