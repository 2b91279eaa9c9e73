package opencode

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

// withProcessLogs gives a process logs of its own, as before 1.17. logs has their content by name.
func withProcessLogs(t *testing.T, dir string, f proc.FakeProcess, logs map[string]string) proc.FakeProcess {
	t.Helper()
	f.Environ = map[string]string{"XDG_DATA_HOME": filepath.Dir(dir)}
	f.Files = []proc.OpenFile{{FD: 7, Path: filepath.Join(dir, "opencode.db"), Writable: true}}
	for name, log := range logs {
		path := filepath.Join(mkdir(t, filepath.Join(dir, "log")), name)
		writeFile(t, path, []byte(log))
		f.Files = append(f.Files, proc.OpenFile{FD: 9, Path: path, Writable: true})
	}
	return f
}

// firstLine is the first line of a process in its log.
func firstLine(version, args string) string {
	return fmt.Sprintf("INFO  2026-11-20T19:23:33 +3ms service=default version=%s args=[%s] process_role=main run_id=be625a55 opencode\n", version, args)
}

const namedByLog = "ses_e0595f6a4ffeSH5QxP6vSaS9k3"

// created is the line of a process that has created a session.
const created = "INFO  2026-11-20T19:23:34 +6ms service=session id=" + namedByLog + " slug=x version=1.14.41 title=New session created\n"

// exactly reports which processes are tied to a session by proof.
func exactly(t *testing.T, processes ...proc.FakeProcess) (pids []int) {
	t.Helper()
	for pid, claims := range claimed(t, processes...) {
		if slices.ContainsFunc(claims, func(c discover.Claim) bool {
			return c.Session == namedByLog && c.Strength == discover.Exact && c.Kind == "log-file"
		}) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Before 1.17, each process has its own log, unless two began in the same second. A terminal interface has two (SEEN 1.14.41): the first
// begins with its arguments; the worker's, which names the sessions, has none, and counts only together with the first one.
func TestProcessLog(t *testing.T) {
	dir := restore(t, "multi-run-midturn")
	start := at(t, "19:23:33")
	run := func(pid int, prompt string, logs map[string]string) proc.FakeProcess {
		return withProcessLogs(t, dir, agent(pid, start, "run", prompt), logs)
	}
	own := map[string]string{"a.log": firstLine("1.14.41", `"run","hi"`) + created}
	shared := map[string]string{"a.log": firstLine("1.14.41", `"run","hi"`) + firstLine("1.14.41", `"run","other"`) + created}
	if got := exactly(t, run(1, "hi", own)); len(got) != 1 {
		t.Errorf("its own log: %v", got)
	}
	for name, processes := range map[string][]proc.FakeProcess{
		"shared": {run(1, "hi", shared), run(2, "other", shared)}, "another one's": {run(1, "not what the log says", own)},
	} {
		if got := exactly(t, processes...); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	tui := func(pid int, logs map[string]string) proc.FakeProcess {
		return withProcessLogs(t, dir, agent(pid, start), logs)
	}
	main := firstLine("1.14.41", "")
	if got := exactly(t, tui(1, map[string]string{"main.log": main, "worker.log": created})); len(got) != 1 {
		t.Errorf("a terminal: %v", got)
	}
	for name, processes := range map[string][]proc.FakeProcess{
		"worker alone":  {tui(1, map[string]string{"worker.log": created})},
		"worker shared": {tui(1, map[string]string{"main.log": main, "worker.log": created}), tui(2, map[string]string{"worker.log": created})},
		"two starts":    {tui(1, map[string]string{"main.log": main, "second.log": main + created})},
	} {
		if got := exactly(t, processes...); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A process of a version below the floor is a row that says so, and proves nothing of a session. Its binary's package, or its log, has the version.
func TestBelowFloor(t *testing.T) {
	dir := restore(t, "multi-run-midturn")
	start := at(t, "19:23:33")
	exe := filepath.Join(t.TempDir(), "opencode-linux-x64", "bin", "opencode")
	writeFile(t, filepath.Join(mkdir(t, filepath.Dir(filepath.Dir(exe))), "package.json"), []byte(`{"name":"opencode-linux-x64","version":"1.13.9"}`))
	packaged := withLog(agent(2, start, "serve"), dir, 0)
	packaged.Exe = exe
	got := claimed(t, withProcessLogs(t, dir, agent(1, start, "run", "hi"), map[string]string{"a.log": firstLine("1.1.65", `"run","hi"`) + created}), packaged)
	for pid, want := range map[int]string{1: "1.1.65 is older than supported (1.14): update", 2: "1.13.9 is older"} {
		if len(got[pid]) == 0 {
			t.Fatalf("%d has no row", pid)
		}
		for _, c := range got[pid] {
			if !strings.Contains(c.Unreadable, want) || c.Turn != nil && c.Session == "" || c.HideIfUnlinked || c.Session != "" && c.Strength != discover.Weak {
				t.Errorf("%d: %+v", pid, c)
			}
		}
	}
}
