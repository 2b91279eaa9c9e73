package opencode

import (
	"path/filepath"
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

func TestSessionInArguments(t *testing.T) {
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

// By directory and time alone, there is one weak claim for each session that fits.
func TestUnloggedByDirectory(t *testing.T) {
	dir := unlogged(t, "multi-run-midturn")
	weak := func(f proc.FakeProcess) (n int) {
		for _, c := range claimed(t, f)[f.ID.PID] {
			if c.Session != "" && c.Strength == discover.Weak && c.Kind == "log-late" {
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
func TestNotUnloggedIfAnotherProcessRanIt(t *testing.T) {
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
