package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/must"
	"agentctl/tests/store/generate"
	"agentctl/tests/trace"
)

// No store is scanned for what lives, and no file is opened to find an ID. Nothing is written below an agent's home, nor locked.
func TestWhatIsOpened(t *testing.T) {
	agentctl := filepath.Join(t.TempDir(), "agentctl")
	if out, err := exec.Command("../build", agentctl).CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	o := generate.Defaults()
	o.Sessions = 60
	sessions, err := generate.Store(dir, o)
	must.Do(t, err)
	paths := map[string]string{} // ID by path
	for _, s := range sessions {
		paths[s.Path] = s.ID
	}
	tests := map[string]int{"list --json": 0, "guard " + dir: 0, "current": 0, "list -a --since all --json": len(sessions), "list -a --since all -n 5 --json": len(sessions) / 2}
	for _, s := range sessions[:6] {
		tests["status "+s.ID], tests["peek "+s.ID] = 1, 1
	}
	for line, most := range tests {
		cmd := job{home: dir, argv: append([]string{agentctl}, strings.Fields(line)...)}.command()
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		r, err := trace.Run(cmd)
		must.Do(t, err)
		if !slices.Contains([]int{0, 8}, r.Exit) {
			t.Errorf("agentctl %s: exit %d\n%s", line, r.Exit, stderr.String())
		}
		if changes := r.Changes(dir); len(changes) > 0 {
			t.Errorf("agentctl %s changes what it reads: %+v", line, changes)
		}
		opened := slices.DeleteFunc(trace.Opened(r.Calls), func(path string) bool { return paths[path] == "" || filepath.Ext(path) != ".jsonl" })
		if len(opened) > most {
			t.Errorf("agentctl %s opens %d transcripts, want at most %d", line, len(opened), most)
		}
		for _, path := range opened {
			if most == 1 && !strings.Contains(line, paths[path]) {
				t.Errorf("agentctl %s opens %s", line, path)
			}
		}
	}
}
