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

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestLaunchAndStopLeaveNoTrace: S4, S10. Launched and stopped again and again, the three agents leave no process, no
// zombie, and no file but in their own stores. What they leave where they keep temporary files is theirs too, whoever has
// started them, so that they get another place for it than agentctl: Claude Code 2.1.330 tries out at its start whether files
// can be watched, and an end in these 1.5 seconds leaves fswatch-probe-XXXXXX (SEEN without agentctl, claude -p and a SIGKILL);
// OpenCode's runtime unpacks libraries at each start and leaves them.
func TestLaunchAndStopLeaveNoTrace(t *testing.T) {
	w := world.New(t)
	var agents []world.Agent
	for _, r := range install.Newest() {
		agents = append(agents, w.Release(r))
	}
	c := agentctlIn(t, w).asAll(agents...)
	temporary := "TMPDIR=" + t.TempDir()
	round := func(n int) {
		for _, a := range agents {
			c.dir = a.Dir()
			if s := c.stopped(c.launched(a.Agent(), "--env", temporary, "-p", fmt.Sprintf("round %d [[hang]]", n))); s.Result != "stopped" {
				t.Errorf("%+v", s)
			}
		}
	}
	round(0) // the agents' first start makes what later ones find
	base := filepath.Dir(w.Home)
	before := slices.Concat(filesOutside(t, base), filesOutside(t, "/dev/shm"), filesOutside(t, "/var/tmp"))
	for n := range 2 {
		round(n + 1)
	}
	for _, path := range slices.Concat(filesOutside(t, base), filesOutside(t, "/dev/shm"), filesOutside(t, "/var/tmp")) {
		if !slices.Contains(before, path) {
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

// filesOutside are the files below dir but for the agents' homes.
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
