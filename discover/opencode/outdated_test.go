package opencode

import (
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

// A session that a process of an older version than supported may run is not called stopped, wherever it is stored.
func TestSessionOfOutdatedProcess(t *testing.T) {
	files := capture(t, "json-1.1.65-run-midturn-then-killed")
	database := restore(t, "tui-perm-pending")
	for name, c := range map[string]struct {
		dir, clock string
		args       []string
	}{
		"run, JSON files":  {files, "19:22:25", []string{"run", "x"}},
		"server, database": {database, "19:20:30", []string{"serve"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := agent(1, at(t, c.clock), c.args...)
			f.Exe = filepath.Join(t.TempDir(), "opencode-linux-x64", "bin", "opencode")
			writeFile(t, filepath.Join(mkdir(t, filepath.Dir(filepath.Dir(f.Exe))), "package.json"), []byte(`{"name":"opencode-linux-x64","version":"1.1.65"}`))
			f.Environ = map[string]string{"XDG_DATA_HOME": filepath.Dir(c.dir)}
			records, err := readRecords(t, homeOf(c.dir), discover.EntryFilter{}, discover.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			f.WorkingDir = records[0].Dir
			for _, s := range discover.Correlate(proc.NewFakeTable(f), claimed(t, f)[1], records) {
				if want := s.ID == records[0].ID; (s.Status == discover.Unknown) != want || want && !strings.Contains(s.Reason, "1.1.65 is older than supported") {
					t.Errorf("%s: %s, %s", s.ID, s.Status, s.Reason)
				}
			}
		})
	}
}
