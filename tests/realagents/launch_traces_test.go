package realagents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/realagents/world"
)

// TestLaunchAndStopLeaveNoTrace: S4, S10. Launched and stopped again and again, the three agents leave no process, no
// zombie, and no file but in their own stores.
func TestLaunchAndStopLeaveNoTrace(t *testing.T) {
	w := world.New(t)
	var agents []world.Agent
	for _, r := range currentReleases() {
		agents = append(agents, w.Release(r))
	}
	c := agentctlIn(t, w).asAll(agents...)
	round := func(n int) {
		for _, a := range agents {
			c.dir = a.Dir()
			if s := c.stopped(c.launched(a.Agent(), "-p", fmt.Sprintf("round %d [[hang]]", n))); s.Result != "stopped" {
				t.Errorf("%+v", s)
			}
		}
	}
	round(0) // the agents' first start makes what later ones find
	base := filepath.Dir(w.Home)
	before := slices.Concat(filesOutside(t, base), filesOutside(t, "/dev/shm"), filesOutside(t, "/var/tmp"))
	for n := range 4 {
		round(n + 1)
	}
	for _, path := range slices.Concat(filesOutside(t, base), filesOutside(t, "/dev/shm"), filesOutside(t, "/var/tmp")) {
		// Claude Code 2.1.330 tries out whether it can watch files, and removes that only if it is not ended meanwhile.
		if !slices.Contains(before, path) && !strings.Contains(path, "/fswatch-probe-") {
			t.Errorf("new is %s", path)
		}
	}
	if left := inhabitants(w.Home); len(left) > 0 {
		t.Errorf("there are left\n%s", strings.Join(left, "\n"))
	}
	if !poll(func() bool { return len(zombies()) == 0 }) { // whoever adopts orphans takes a moment to collect them
		t.Errorf("there are zombies: %q", zombies())
	}
}

// filesOutside are the files below dir but for the agents' own: their homes, and the libraries that OpenCode's runtime
// unpacks at each start and leaves where temporary files go.
func filesOutside(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".claude" || d.Name() == ".codex" || strings.HasSuffix(path, ".local/share/opencode")):
			return fs.SkipDir
		case strings.HasPrefix(d.Name(), ".") && strings.HasSuffix(d.Name(), "-00000000.so"):
			return nil
		}
		list = append(list, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// zombies are the processes that have ended and were not collected.
func zombies() (list []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		if raw, _ := os.ReadFile(f); strings.Contains(string(raw), ") Z ") {
			list = append(list, string(raw))
		}
	}
	return list
}
