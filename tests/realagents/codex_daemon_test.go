package realagents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/object"
	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// daemonPID is what Codex itself says of the daemon behind its TUIs.
func daemonPID(t *testing.T, w *world.World) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.Home, ".codex", "app-server-daemon", "daemon.pid"))
	var daemon struct{ PID int }
	if err == nil {
		err = json.Unmarshal(raw, &daemon)
	}
	must.Do(t, err)
	return daemon.PID
}

// A terminal has a row from its first moment on, before the daemon runs and its thread is there; then the row is its thread's, with the
// terminal as the process. Of two in one directory, each has its own. The death of a terminal means nothing to what the daemon runs.
func TestCodexTerminalsHaveRows(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	first := a.Terminal()
	c.expect([]string{row("null", first.PID(), "idle")})
	if s := c.list()[0]; s.CWD != a.Dir() || s.TTY == "" {
		t.Errorf("the first moments: %+v", s)
	}
	first.WaitReady()
	first.Submit("said in the first")
	first.WaitFor("OK: said in the first")
	second := a.TUI() // of two that start before the daemon has loaded a thread, nothing says whose is whose
	second.Submit("said in the second [[hang]]")
	w.WaitCall("said in the second", 0)

	idle, running := codexID(t, w, "said in the first"), codexID(t, w, "said in the second")
	rows := c.expect([]string{row(idle, first.PID(), "idle"), row(running, second.PID(), "running")})
	for _, s := range rows {
		if !slices.Equal(s.PIDs, []int{s.PID, daemonPID(t, w)}) || s.CWD != a.Dir() || s.TTY == "" || s.Evidence.Strength != "exact" {
			t.Errorf("%+v, evidence %+v", s, s.Evidence)
		}
		if by := c.status(fmt.Sprintf("pid:%d", s.PID)); by.ID == nil || *by.ID != *s.ID {
			t.Errorf("pid:%d names %s, want %s", s.PID, rowOf(by), *s.ID)
		}
	}
	if rows[0].TTY == rows[1].TTY {
		t.Errorf("both are at %s", rows[0].TTY)
	}
	second.Kill()
	if got, want := rowsOf(c.list()), row(running, daemonPID(t, w), "running"); !slices.Contains(got, want) {
		t.Errorf("after the terminal's death: %q, want %q", got, want)
	}
}

// stop ends the terminal that shows an idle session, and the daemon unloads the session.
func TestCodexStopTerminal(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	stays := a.TUI()
	stays.Submit("this one stays")
	stays.WaitFor("OK: this one stays")
	goes := a.TUI()
	goes.Submit("this one goes")
	goes.WaitFor("OK: this one goes")
	staying, going, daemon := codexID(t, w, "this one stays"), codexID(t, w, "this one goes"), daemonPID(t, w)
	c.expect([]string{row(staying, stays.PID(), "idle"), row(going, goes.PID(), "idle")})
	before, err := os.Stat(c.status(going).Path)
	must.Do(t, err)

	c.exits(0, fmt.Sprintf("SIGINT to pid %d", goes.PID()), "stop", "--dry-run", "--force", going)
	s := c.stopped(going)
	if s.Result != "stopped" || len(s.Signalled) != 1 || s.Signalled[0].PID != goes.PID() || s.Signalled[0].Role != "client" {
		t.Errorf("%+v", s)
	}
	if living(goes.PID()) || !living(stays.PID()) || !living(daemon) {
		t.Errorf("terminal %v, other terminal %v, daemon %v", living(goes.PID()), living(stays.PID()), living(daemon))
	}
	after := c.status(going)
	if rowOf(after) != row(going, 0, "stopped completed") {
		t.Errorf("afterwards: %s", rowOf(after))
	}
	if now, err := os.Stat(after.Path); err != nil || !os.SameFile(before, now) || strings.Contains(after.Path, "archived_sessions") {
		t.Errorf("its file is %s: %v", after.Path, err)
	}
	c.does("wait", going)
	c.does("resume", going, "and on")
	if got := rowOf(c.status(staying)); got != row(staying, stays.PID(), "idle") {
		t.Errorf("the other session: %s", got)
	}
}

// Nothing is stored of the session of an untouched terminal. It is released, and gone once the daemon unloads it.
func TestCodexStopUntouchedTerminal(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	tui := a.TUI()
	id := c.onlyID()
	if s := c.stopped(id); s.Result != "released" || living(tui.PID()) {
		t.Errorf("%+v, the terminal lives: %v", s, living(tui.PID()))
	}
	c.does("wait", id)
	if stored, _ := filepath.Glob(filepath.Join(w.Home, ".codex", "*sessions", "*", "*", "*", "*")); len(stored) > 0 {
		t.Errorf("stored: %q", stored)
	}
}

// newThread has a terminal of Codex begin another thread, with a prompt.
func newThread(t *testing.T, w *world.World, c agentctl, tui *world.TUI, shown, prompt string) {
	t.Helper()
	// The command is refused until the turn has ended, which the screen does not show.
	c.does("wait", codexID(t, w, shown), "--until", "idle", "--timeout", "2m")
	tui.Submit("/new")
	tui.WaitFor("Use current Git worktree")
	tui.Press(term.Enter)
	tui.WaitGone("OK: " + shown)
	tui.WaitReady()
	submit(w, tui, prompt) // an Enter in its first moments is lost
}

// The thread of `codex exec --remote` runs in the app-server. The exec that asked for it is not its process, and is sent no signal.
func TestCodexExecRemote(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	tool := w.Tool(a.Dir())
	tui := a.TUI() // starts the daemon, in whose directory the thread works
	tui.Submit("in the terminal")
	tui.WaitFor("OK: in the terminal")
	socket, err := filepath.EvalSymlinks(filepath.Join(w.Home, ".codex", "app-server-control", "app-server-control.sock"))
	must.Do(t, err)
	run := a.In(w.Dir("elsewhere")).Run("from afar [[shell "+tool.Command+"]]", "--remote", "unix://"+socket)
	tool.WaitRunning()
	id := codexID(t, w, "from afar")
	if got := c.status(id); got.PID != daemonPID(t, w) || got.PIDs != nil || got.Status != "running" {
		t.Errorf("it runs in the daemon, %d: %+v", daemonPID(t, w), got)
	}
	c.exits(3, "", "status", fmt.Sprintf("pid:%d", run.PID()))
	s := c.stopped(id)
	if s.Result != "stopped" || slices.ContainsFunc(s.Signalled, func(sent object.Signal) bool { return sent.PID == run.PID() }) {
		t.Errorf("%+v", s)
	}
	if len(toolsOf(id)) > 0 || !living(daemonPID(t, w)) {
		t.Errorf("tools %v, daemon alive: %v", toolsOf(id), living(daemonPID(t, w)))
	}
	run.Wait()
	c.expect([]string{row(codexID(t, w, "in the terminal"), tui.PID(), "idle")})
}

// A thread is ended, with its terminal, its sub-agent and their tools; the daemon, its other thread and that one's tool go on.
func TestCodexStopInDaemon(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	kept, ended, deep := w.Tool(a.Dir()), w.Tool(a.Dir()), w.Tool(a.Dir())
	stays := a.TUI()
	stays.Submit("stays [[shell " + kept.Command + "]]")
	kept.WaitRunning()
	goes := a.TUI("--enable", "multi_agent")
	goes.Submit("goes [[agent below [[shell " + deep.Command + "]];; shell " + ended.Command + "]]")
	deep.WaitRunning()
	ended.WaitRunning()

	daemon := daemonPID(t, w)
	staying, going := codexID(t, w, "stays [["), codexID(t, w, "goes [[")
	c.expect([]string{row(staying, stays.PID(), "running"), row(going, goes.PID(), "running")})
	before := toolsOf(staying)
	if got := c.alone(going, daemon); len(got) == 0 || len(before) == 0 || !slices.Equal(got, toolsOf(going)) {
		t.Fatalf("the thread's processes are %v, want %v; those of the other one %v", got, toolsOf(going), before)
	}
	c.does("stop", going)
	if left := toolsOf(going); len(left) > 0 {
		t.Errorf("tools %v are left", left)
	}
	if got := rowOf(c.status(going)); got != row(going, 0, "stopped interrupted") || living(goes.PID()) {
		t.Errorf("after stop: %s", got)
	}
	children := 0
	for _, s := range c.list("-a", "--children") {
		if s.ParentID == going {
			children++
			if s.Status != "stopped" || strings.Contains(s.Path, "archived_sessions") {
				t.Errorf("its sub-agent: %s in %s", rowOf(s), s.Path)
			}
		}
	}
	if children != 1 {
		t.Errorf("%d sub-agents, want 1", children)
	}
	if got := rowOf(c.status(staying)); got != row(staying, stays.PID(), "running") || !slices.Equal(toolsOf(staying), before) {
		t.Errorf("the other thread: %s, tools %v, before %v", got, toolsOf(staying), before)
	}
	again := a.TUI("resume", going)
	again.Submit("and on")
	again.WaitFor("OK: and on")
	if !living(daemon) {
		t.Error("the daemon is dead")
	}
}
