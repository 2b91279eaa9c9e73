package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// A home that no variable names is found by the files that a process has open. A home that is a link keeps the path it was given.
func TestHomes(t *testing.T) {
	w := newTestHome(t)
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(w.home, link))
	path := w.rollout(nameA)
	w.process(8, 1, npmExe, []string{"exec"}, w.lock(threadA), writing(path)).Environ = nil
	table := proctest.NewTable(w.facts...)
	env := func(values map[string]string) func(string) string {
		return func(key string) string { return values[key] }
	}
	for name, test := range map[string]struct {
		setup discover.HomeSources
		want  string
	}{
		"by file":       {discover.HomeSources{Getenv: env(nil)}, w.home},
		"default":       {discover.HomeSources{Getenv: env(map[string]string{"HOME": filepath.Dir(w.home)})}, w.home},
		"environment":   {discover.HomeSources{Getenv: env(map[string]string{"HOME": "/nowhere", "CODEX_HOME": link})}, link},
		"configuration": {discover.HomeSources{Getenv: env(map[string]string{"CODEX_HOME": link}), Configured: []string{w.home}}, link},
	} {
		homes := New().Homes(test.setup, table)
		if len(homes) != 1 || homes[0].Dir != test.want || homes[0].Explicit != (name == "configuration") {
			t.Errorf("%s: %+v", name, homes)
			continue
		}
		claims, err := New().Claims(t.Context(), table, homes)
		if err != nil || len(claims) != 3 || claims[1].Home != test.want || claims[1].Path != filepath.Join(test.want, path[len(w.home):]) {
			t.Errorf("%s: %+v, %v", name, claims, err)
		}
		entries, err := New().Entries(t.Context(), homes, discover.EntryFilter{Refs: []discover.Ref{{ID: threadA, Path: claims[1].Path}}})
		if err != nil || len(entries) != 1 || entries[0].Path != claims[1].Path {
			t.Errorf("%s: %+v, %v", name, entries, err)
		}
	}
}

// A sessions directory that is a link to another disk does not make that disk a home.
func TestLinkedSessionsFolder(t *testing.T) {
	w := newTestHome(t)
	disk := t.TempDir()
	w.file("config.toml", "")
	must.Do(t, os.Symlink(disk, filepath.Join(w.home, "sessions")))
	w.rollout(nameA)
	w.process(8, 1, npmExe, []string{"exec"}, writing(filepath.Join(disk, "2026/11/20", nameA)))
	homes := New().Homes(discover.HomeSources{Getenv: func(string) string { return "" }}, proctest.NewTable(w.facts...))
	if len(homes) != 1 || homes[0].Dir != w.home {
		t.Errorf("homes %+v", homes)
	}
	if c := w.claims()[1]; c.Path != filepath.Join(w.home, "sessions/2026/11/20", nameA) {
		t.Errorf("claim %+v", c)
	}
}

// Any command line gives no panic, and a session or a role only with the words for it.
func FuzzArgs(f *testing.F) {
	for _, line := range []string{"codex", "codex exec hi", "codex -C /x app-server daemon", "codex -- exec", "codex resume " + threadA, "codex -C", "codex remote-control --no-daemon"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		in := parseArgs(strings.Split(line, " "))
		if in.session != "" && (!isThreadID(in.session) || !strings.Contains(line, "resume")) {
			t.Fatalf("%q: %+v", line, in)
		}
		if in.role == server && !strings.Contains(line, "server") && !strings.Contains(line, "remote-control") || in.role == exec && !strings.Contains(line, "e") {
			t.Fatalf("%q: %+v", line, in)
		}
	})
}
