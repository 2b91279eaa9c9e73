package config_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/jsonschema-go/jsonschema"

	"agentctl/internal/config"
	"agentctl/tests/must"
)

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
