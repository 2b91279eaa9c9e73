package opencode

import (
	"os"
	"path/filepath"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

// withOutput gives a process without a log an output.
func withOutput(t *testing.T, f proc.FakeProcess, dir, stdout string, change func(*proc.OpenFile)) proc.FakeProcess {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdout")
	if err := os.WriteFile(path, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	out := proc.OpenFile{FD: 1, Path: "/tmp/#4711", Deleted: true, Writable: true, Offset: int64(len(stdout)), Proc: path}
	if change != nil {
		change(&out)
	}
	f.Environ = map[string]string{"XDG_DATA_HOME": filepath.Dir(dir)}
	f.Files = []proc.OpenFile{out}
	return f
}

// If no log names the session of a headless process, its output in an anonymous file does.
func TestSessionInOutput(t *testing.T) {
	dir := restore(t, "killed9")
	ids := storedIDs(t, dir)
	event := func(id string) string { return `{"type":"step_start","sessionID":"` + id + `","part":{}}` + "\n" }
	for _, c := range []struct {
		name, stdout string
		change       func(*proc.OpenFile)
		want         bool
	}{
		{"without a name", event(ids[0]) + "noise\n" + event(ids[0]), nil, true},
		{"in memory", event(ids[0]), func(f *proc.OpenFile) { f.Path = "/memfd:agent-stdout" }, true},
		{"nothing yet", "", nil, false},
		{"a torn line", event(ids[0])[:50], nil, false},
		{"of two sessions", event(ids[0]) + event(ids[1]), nil, false},
		{"written by somebody later", event(ids[0]), func(f *proc.OpenFile) { f.Offset = 0 }, false},
		{"with a name", event(ids[0]), func(f *proc.OpenFile) { f.Path, f.Deleted = "/tmp/out.jsonl", false }, false},
		{"whose name is gone", event(ids[0]), func(f *proc.OpenFile) { f.Path = "/tmp/out.jsonl" }, false},
		{"not its stdout", event(ids[0]), func(f *proc.OpenFile) { f.FD = 2 }, false},
	} {
		f := agent(80, at(t, "23:00:00"), "run", "--format", "json")
		claims := claimed(t, withOutput(t, f, dir, c.stdout, c.change))[80]
		exact := false
		for _, claim := range claims {
			exact = exact || claim.Session == ids[0] && claim.Strength == discover.Exact && claim.Kind == "output"
		}
		if exact != c.want {
			t.Errorf("%s: %+v", c.name, claims)
		}
	}
}

// storedIDs returns the session IDs in a database.
func storedIDs(t *testing.T, dir string) (ids []string) {
	t.Helper()
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, discover.EntryFilter{})
	if err != nil || len(entries) < 2 {
		t.Fatalf("%d sessions, %v", len(entries), err)
	}
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}
