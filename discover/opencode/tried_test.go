package opencode

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

// TestKindsAreKnown: the captured sessions of all versions have only parts of types that are known.
func TestKindsAreKnown(t *testing.T) {
	n := 0
	check := func(dir string) {
		records, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
		if err != nil {
			t.Error(err)
		}
		for _, r := range records {
			n++
			if unknown, err := New().Tried().UnknownKinds(t.Context(), r); err != nil || len(unknown) > 0 {
				t.Errorf("%s in %s: %q, %v", r.ID, dir, unknown, err)
			}
		}
	}
	dumps, _ := filepath.Glob("testdata/dumps/*.sql")
	for _, d := range dumps {
		check(restore(t, strings.TrimSuffix(filepath.Base(d), ".sql")))
	}
	if n < 15 {
		t.Errorf("%d sessions", n)
	}
}

// TestUnknownKinds: a part of a type that is not known is reported once.
func TestUnknownKinds(t *testing.T) {
	dir := restore(t, "said")
	execute(t, filepath.Join(dir, "opencode.db"), `UPDATE part SET data = json_set(data, '$.type', 'vision') WHERE json_extract(data, '$.type') = 'reasoning' OR id IN (SELECT id FROM part LIMIT 2)`)
	records, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, discover.ReadOptions{})
	if err != nil || len(records) == 0 {
		t.Fatalf("%d sessions, %v", len(records), err)
	}
	var all []string
	for _, r := range records {
		unknown, err := New().Tried().UnknownKinds(t.Context(), r)
		if err != nil {
			t.Error(err)
		}
		all = append(all, unknown...)
	}
	if !slices.Contains(all, "vision") || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 1 {
		t.Errorf("%q", all)
	}
	if got, err := New().Tried().UnknownKinds(t.Context(), discover.Record{ID: "ses_x", Home: dir, Path: filepath.Join(dir, "gone.db")}); err != nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNewerVersion: the process's program counts before the version that created the session.
func TestNewerVersion(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "opencode-linux-x64", "bin", "opencode")
	writeFile(t, filepath.Join(mkdir(t, filepath.Dir(filepath.Dir(exe))), "package.json"), []byte(`{"name":"opencode-linux-x64","version":"99.0.1"}`))
	for _, x := range []struct{ created, exe, want string }{
		{newestTried, "", ""},
		{"99.0.0", "/opt/opencode", "99.0.0"},
		{"1.0.0", exe, "99.0.1"},
		{"", "", ""},
	} {
		s := discover.Session{Record: &discover.Record{Version: x.created}, Processes: []proc.Process{{Exe: x.exe}}}
		if got := New().Tried().NewerVersion(s); got != x.want {
			t.Errorf("%+v: %q", x, got)
		}
	}
}
