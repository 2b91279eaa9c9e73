package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

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
