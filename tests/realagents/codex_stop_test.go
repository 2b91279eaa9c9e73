package realagents

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// toolsOf are the living processes that a thread's tools run, sub-agents' included.
func toolsOf(id string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		raw, _ := os.ReadFile(filepath.Join(name, "environ"))
		var pid int
		if _, err := fmt.Sscan(filepath.Base(name), &pid); err != nil || !living(pid) {
			continue
		}
		for _, key := range []string{"CODEX_THREAD_ID=", "CODEX_SESSION_ID="} {
			if slices.ContainsFunc(bytes.Split(raw, []byte{0}), func(v []byte) bool { return string(v) == key+id }) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// TestCodexStop: the agent notes the end itself, and none of its tools runs on – sandboxed or not, in the foreground or
// gone into the background.
func TestCodexStop(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		for _, permissions := range []string{"edit", "full"} {
			tool := w.Tool(a.Dir())
			prompt := permissions + " [[shell (setsid sleep 1000 &) ; " + tool.Command + "]]"
			id := c.launched("codex", "--permissions", permissions, "-p", prompt)
			tool.WaitRunning()
			if len(toolsOf(id)) == 0 {
				t.Fatal("no tool is seen to run")
			}
			if out, errs, code := c.run("stop", id); code != 0 {
				t.Errorf("stop: exit code %d, %s%s", code, out, errs)
			}
			if left := toolsOf(id); len(left) > 0 {
				t.Errorf("%s: tools %v are left", permissions, left)
			}
			if got := rowOf(c.status(id)); got != row(id, 0, "stopped interrupted") {
				t.Errorf("%s: after stop: %s", permissions, got)
			}
			lines := rolloutOf(t, w, id)
			if !slices.ContainsFunc(lines, func(line []byte) bool { return bytes.Contains(line, []byte(`"turn_aborted"`)) }) {
				t.Errorf("%s: the rollout does not know of the end: %.200s", permissions, lines[len(lines)-1])
			}
		}
		if pids := running(a.Native); len(pids) > 0 {
			t.Errorf("still running: %v", pids)
		}
	})
}

// TestCodexStopInDaemon: a thread is ended, with its terminal, its sub-agent and their tools; the daemon, its other thread and that
// one's tool go on.
func TestCodexStopInDaemon(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
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
	if len(toolsOf(going)) == 0 || len(before) == 0 {
		t.Fatal("no tool is seen to run")
	}
	if got, want := c.doingAlone(going, daemon), toolsOf(going); !sameSet(got, want) {
		t.Errorf("the thread's processes are %v, want %v", got, want)
	}
	if out, errs, code := c.run("stop", going); code != 0 {
		t.Errorf("stop: exit code %d, %s%s", code, out, errs)
	}
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
