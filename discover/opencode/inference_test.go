package opencode

import (
	"path/filepath"
	"slices"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

// silent makes a process one that logs only errors, so that its log names no session.
func silent(f proc.FakeProcess, dir string) proc.FakeProcess {
	f = withLog(f, dir, 0)
	f.Arguments = append(f.Arguments, "--log-level", "ERROR")
	return f
}

// unlogged restores a dump with an empty log: it does not say which process created the sessions.
func unlogged(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = restore(t, name)
	writeFile(t, filepath.Join(dir, "log", "opencode.log"), nil)
	return dir
}

func only(t *testing.T, claims []discover.Claim, id, kind string, strength discover.Strength) {
	t.Helper()
	if len(claims) != 2 || claims[1].Session != id || claims[1].Kind != kind || claims[1].Strength != strength {
		t.Errorf("claims %+v\nwant %s %s for %s", claims, strength, kind, id)
	}
}

func TestInferBySession(t *testing.T) {
	dir := restore(t, "multi-run-midturn")
	const id = "ses_e0595f6a4ffeSH5QxP6vSaS9k3"
	start := at(t, "19:23:33")
	only(t, claimed(t, silent(agent(1, start, "run", "-s", id, "more"), dir))[1], id, "argv", discover.Exact)
	only(t, claimed(t, silent(agent(1, start, "--session="+id), dir))[1], id, "argv", discover.Strong)
	for _, args := range [][]string{{"run", "-s", id, "--fork", "x"}, {"run", "-s", "ses_none", "x"}, {"-s", "../" + id}} {
		if claims := claimed(t, silent(agent(1, at(t, "23:00:00"), args...), dir))[1]; len(claims) != 1 {
			t.Errorf("%v: %+v", args, claims)
		}
	}
}

// The parent's process also runs the sub-agents that began in its lifetime.
func TestInferChildren(t *testing.T) {
	dir := unlogged(t, "multi-run-midturn")
	const parent, child = "ses_e0595f667ffeVWie6eDznQCmUS", "ses_e0595d59bffeCEky2i11cArrU2"
	p := silent(agent(1, at(t, "19:23:33"), "run", "[[task ((bash sleep 63; true;;text sub done));;text main done]]"), dir)
	if ids := sessions(claimed(t, p)[1]); !slices.Equal(ids, []string{child, parent}) {
		t.Errorf("sessions %v", ids)
	}
}

func TestInferByTitlePromptAndTool(t *testing.T) {
	dir := unlogged(t, "multi-run-midturn")
	start := at(t, "19:23:33")
	const titled, delayed, tool = "ses_e0595f624ffevX0fZ6y4ktXfls", "ses_e0595f669ffenLUQ187t8mxT0c", "ses_e0595f672ffe84h93fI4adwl9A"
	only(t, claimed(t, silent(agent(1, start, "run", "--title", "uniq-1-abc", "hi"), dir))[1], titled, "title", discover.Strong)
	only(t, claimed(t, silent(agent(1, start, "run", "[[delay 40 late]]"), dir))[1], delayed, "prompt", discover.Strong)
	child := proc.FakeProcess{
		Process:   proc.Process{ID: proc.ID{PID: 2, Birth: "b"}, Parent: 1, State: 'S', Name: "bash", Exe: "/bin/bash"},
		Arguments: []string{"/bin/bash", "-c", "sleep 62; true"}, WorkingDir: "/srv/opencode-lab/proj/git1",
	}
	only(t, claimed(t, silent(agent(1, start, "run", "-f", "x", "hi"), dir), child)[1], tool, "tool-child", discover.Strong)
	child.WorkingDir = "/elsewhere"
	if claims := claimed(t, silent(agent(1, start, "run", "hi"), dir), child)[1]; len(claims) != 6 || claims[1].Strength != discover.Weak {
		t.Errorf("a command elsewhere: %+v", claims)
	}
}

// By directory and time alone, there is one weak claim for each session that fits.
func TestInferByDirectory(t *testing.T) {
	dir := unlogged(t, "multi-run-midturn")
	weak := func(f proc.FakeProcess) (n int) {
		for _, c := range claimed(t, f)[f.ID.PID] {
			if c.Session != "" && c.Strength == discover.Weak && c.Kind == "cwd" {
				n++
			}
		}
		return n
	}
	start := at(t, "19:23:33") // five of the six began since
	if n := weak(silent(agent(1, start, "run", "hi"), dir)); n != 5 {
		t.Errorf("run: %d weak claims, want 5", n)
	}
	if n := weak(silent(agent(1, start), dir)); n != 0 {
		t.Errorf("TUI: %d weak claims for sessions of `run`", n)
	}
	if n := weak(silent(agent(1, at(t, "19:20:00"), "run", "hi"), dir)); n != 0 {
		t.Errorf("long before: %d weak claims", n)
	}
	if n := weak(silent(agent(1, start, "serve"), dir)); n != 0 {
		t.Errorf("server: %d weak claims", n)
	}
	away := silent(agent(1, start, "run", "hi"), dir)
	away.WorkingDir = "/srv/opencode-lab/proj"
	if n := weak(away); n != 0 {
		t.Errorf("elsewhere: %d weak claims", n)
	}
}

// A headless process does not run a session that another process created by the log, although directory and time fit, nor one that is older
// than itself.
func TestNotInferredIfAnotherProcessCreatedIt(t *testing.T) {
	for name, dir := range map[string]string{
		"made by others": restore(t, "multi-run-midturn"), "before": unlogged(t, "multi-run-midturn"),
	} {
		start := at(t, "19:23:33")
		if name == "before" {
			start = at(t, "19:23:36")
		}
		if claims := claimed(t, silent(agent(1, start, "run", "hi"), dir))[1]; len(claims) != 1 {
			t.Errorf("%s: %+v", name, claims)
		}
	}
	// A process that resumes a session may run one that another process created.
	dir := restore(t, "multi-run-midturn")
	if claims := claimed(t, silent(agent(1, at(t, "19:23:33"), "run", "-c", "hi"), dir))[1]; len(claims) != 6 {
		t.Errorf("run -c: %+v", claims)
	}
}

// A terminal interface whose log names no session runs none, whichever sessions began in its directory since.
func TestNothingToInfer(t *testing.T) {
	dir := restore(t, "tui-perm-pending")
	writeFile(t, filepath.Join(dir, "log", "opencode.log"), []byte("timestamp=2026-11-20T19:20:31.000Z level=INFO run=aaaaaaaa message=init\n"))
	claims := claimed(t, withLog(agent(1, at(t, "19:20:30")), dir, 72))[1]
	if len(claims) != 1 || claims[0].Turn == nil || claims[0].Turn.State != discover.TurnNone {
		t.Errorf("claims %+v", claims)
	}
	claims = claimed(t, silent(agent(1, at(t, "19:20:30")), dir))[1]
	if len(claims) != 2 || claims[1].Strength != discover.Weak {
		t.Errorf("without a log: %+v", claims)
	}
}

// Before 1.17, each process has its own log, unless two began in the same second.
func TestLegacyProcessLog(t *testing.T) {
	dir := capture(t, "json-1.1.65-run-finished")
	old := func(pid int, log string, args ...string) proc.FakeProcess {
		f := agent(pid, at(t, "19:21:49"), args...)
		f.Environ = map[string]string{"XDG_DATA_HOME": filepath.Dir(dir)}
		f.Files = []proc.OpenFile{{FD: 9, Path: filepath.Join(dir, "log", log), Writable: true}}
		return f
	}
	args := []string{"run", "--format", "json", "--title", "JT", "[[bash sleep 2;;text fin]]"}
	const log, id = "2026-11-20T192149.log", "ses_e05979612ffe415jjjmvTetWgF"
	only(t, claimed(t, old(1, log, args...))[1], id, "log-file", discover.Exact)
	got := claimed(t, old(1, log, args...), old(2, log, "run", "other"))
	only(t, got[1], id, "title", discover.Strong)
	for _, c := range got[2] {
		if c.Strength == discover.Exact && c.Session != "" {
			t.Errorf("the other process: %+v", c)
		}
	}
	for _, c := range claimed(t, old(3, log, "run", "not what the log says"))[3] {
		if c.Strength == discover.Exact && c.Session != "" {
			t.Errorf("another one's log: %+v", c)
		}
	}
}

// A terminal interface has two logs (SEEN 1.1.65). The first begins with its arguments. The worker's, which names the sessions, has none: it
// counts only together with the first one, and if no other process has it open.
func TestLegacyWorkerLog(t *testing.T) {
	dir := capture(t, "json-1.1.65-run-finished")
	const id = "ses_e05979612ffe415jjjmvTetWgF"
	writeFile(t, filepath.Join(dir, "log", "main.log"), []byte("INFO  2026-11-20T19:21:49 +3ms service=default version=1.1.65 args=[] opencode\n"))
	writeFile(t, filepath.Join(dir, "log", "worker.log"), []byte("INFO  2026-11-20T19:21:50 +9ms service=session id="+id+" slug=x created\n"))
	tui := func(pid int, logs ...string) proc.FakeProcess {
		f := agent(pid, at(t, "19:21:49"))
		f.Environ = map[string]string{"XDG_DATA_HOME": filepath.Dir(dir)}
		for i, log := range logs {
			f.Files = append(f.Files, proc.OpenFile{FD: 9 + i, Path: filepath.Join(dir, "log", log), Writable: true})
		}
		return f
	}
	writeFile(t, filepath.Join(dir, "log", "second.log"), []byte("INFO  2026-11-20T19:21:50 +4ms service=default version=1.1.65 args=[] opencode\n"+
		"INFO  2026-11-20T19:21:50 +9ms service=session id="+id+" slug=x created\n"))
	only(t, claimed(t, tui(1, "worker.log", "main.log"))[1], id, "log-file", discover.Exact)
	for name, processes := range map[string][]proc.FakeProcess{
		"alone":      {tui(1, "worker.log")},
		"shared":     {tui(1, "main.log", "worker.log"), tui(2, "worker.log")},
		"two starts": {tui(1, "main.log", "second.log")}, // a process writes its first line once, so the other line is of a process that is gone
	} {
		for _, c := range claimed(t, processes...)[1] {
			if c.Strength == discover.Exact && c.Session != "" {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}
