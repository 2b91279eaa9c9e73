package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCandidatesReadsNoOthers(t *testing.T) {
	root := recorded(t, "testdata/claude-code")
	if err := os.WriteFile(root+"/4045/stat", []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := mount(root).readTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	isNode := func(exe string) bool { return filepath.Base(exe) == "node" }
	if got := pids(table.Candidates(Signs{Name: isNode})); !slices.Contains(got, 28188) || slices.Contains(got, 4045) {
		t.Errorf("runs node: %v", got)
	}
	if err := table.Err(); err != nil {
		t.Errorf("a process that nobody asked for: %v", err)
	}
	if table.LoadAll(); table.Err() == nil || !strings.Contains(table.Err().Error(), "4045/stat") {
		t.Errorf("all were asked for: %v", table.Err())
	}
}

// TestWithEnv yields the processes with one of the variables, and reads nothing but the environment of all others.
func TestWithEnv(t *testing.T) {
	root := recorded(t, "testdata/claude-code")
	for pid, environ := range map[string]string{"4045": "MARKS=1", "28188": "A=1\x00MARK=\x00B=2"} {
		if err := os.WriteFile(root+"/"+pid+"/environ", []byte(environ), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(root+"/4045/stat", []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := mount(root).readTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := pids(table.WithEnv("OTHER", "MARK")); !slices.Equal(got, []int{28188}) || table.Err() != nil {
		t.Errorf("%v, %v", got, table.Err())
	}
	made := NewFakeTable(
		FakeProcess{Process: Process{ID: ID{PID: 1, Birth: "b"}}, Environ: map[string]string{"MARK": "1"}},
		FakeProcess{Process: Process{ID: ID{PID: 2, Birth: "b"}}, Environ: map[string]string{"X": "1"}},
		FakeProcess{Process: Process{ID: ID{PID: 3, Birth: "b"}}, Environ: map[string]string{"MARK": "1"}, Err: os.ErrPermission},
	)
	if got := pids(made.WithEnv("MARK")); !slices.Equal(got, []int{1}) {
		t.Errorf("of a table that was made: %v", got)
	}
}
