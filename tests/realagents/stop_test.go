package realagents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
	"agentctl/tests/trace"
)

// A run is stopped while its tool runs, and nothing of the tool goes on: neither what it has started beside itself, in a session of the kernel
// of its own or with an empty environment, nor what has left its parents, where the agent marks what it starts.
func TestStopLeavesNothing(t *testing.T) {
	eachAgent(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		tool := w.Tool(a.Dir())
		seconds := fmt.Sprint(1e6 + float64(os.Getpid()))
		tree := fmt.Sprintf("sleep %[1]s & setsid sleep %[1]s & env -i sh -c 'sleep %[1]s & exec sleep %[1]s' & (setsid sleep %[1]s &) ; ", seconds)
		p := a.Run("ends [[shell " + tree + tool.Command + "]]")
		tool.WaitRunning()
		id := idOf(t, w, a, "ends [[shell")
		c.expect([]string{row(id, p.PID(), "running")})
		s := c.stopped(id)
		if s.Result != "stopped" || s.Session.Status != "stopped" || s.Session.Outcome != "interrupted" || len(s.Survived) > 0 {
			t.Errorf("%+v", s)
		}
		if left := inhabitants(w.Home); len(left) > 0 {
			t.Errorf("there are left\n%s", strings.Join(left, "\n"))
		}
		if left := processesWhere("cmdline", "sleep\x00"+seconds); len(left) > 0 {
			t.Errorf("there are left %v", left)
		}
		if again := c.stopped(id); again.Result != "already_stopped" || len(again.Signalled) > 0 {
			t.Errorf("a second time: %+v", again)
		}
	})
}

// A background session is ended for good, and its daemon starts no other.
func TestClaudeStopBackground(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)
	a.Output("--bg", "in the background [[hang]]")
	w.WaitCall("in the background", 0)
	id := claudeID(t, w, "in the background [[hang]]")
	if !poll(func() bool { s := c.status(id); return s.Status == "running" && s.PID != 0 && s.Source == "bg" }) {
		t.Fatalf("it is %s", rowOf(c.status(id)))
	}
	pid := c.status(id).PID
	c.does("stop", id)
	if s := c.status(id); s.Status != "stopped" || living(pid) {
		t.Errorf("after stop: %s, pid %d alive: %v", rowOf(s), pid, living(pid))
	}
	state, err := os.ReadFile(filepath.Join(w.Home, ".claude", "jobs", id[:8], "state.json"))
	if err != nil || !strings.Contains(string(state), `"stopped"`) {
		t.Errorf("Claude Code's own job is not stopped: %v %s", err, state)
	}
	c.expect(nil)
}

// When one session of OpenCode's server is stopped, its turn is over and its tool gone, and the other one works on. A session in no turn is
// released once no terminal shows it: the one that does is ended, and one that may show another session is not.
func TestOpenCodeServerGoesOn(t *testing.T) {
	w, a, c := newest(t, install.OpenCode)
	server := a.Serve()
	base := serverURL(t, server)
	tools := []*world.Tool{w.Tool(a.Dir()), w.Tool(a.Dir())}
	var ids []string
	for _, tool := range tools {
		ids = append(ids, ask(t, base, a.Dir(), "[[shell "+tool.Command+"]]"))
		tool.WaitRunning()
	}
	c.expect([]string{row(ids[0], server.PID(), "running"), row(ids[1], server.PID(), "running")})
	if got := c.alone(ids[0], server.PID()); len(got) > 0 { // OpenCode marks no tool with its session
		t.Errorf("%v are the session's alone", got)
	}
	c.does("stop", ids[0])
	c.expect([]string{row(ids[0], server.PID(), "idle"), row(ids[1], server.PID(), "running")})
	if len(processesWhere("cmdline", commandOfTool(tools[0]))) > 0 || len(processesWhere("cmdline", commandOfTool(tools[1]))) == 0 {
		t.Error("the tool is left, or the other session's is gone")
	}
	tools[1].End()
	w.WaitCall(tools[1].Command, 1)

	c.expect([]string{row(ids[0], server.PID(), "idle"), row(ids[1], server.PID(), "idle")})
	shows := a.Terminal("attach", base, "--session", ids[1])
	shows.WaitFor("done:")
	c.expect([]string{row(ids[0], server.PID(), "idle"), row(ids[1], shows.PID(), "idle")})
	roams := a.TUI("attach", base)
	if out, errs, code := c.run("stop", ids[1]); code == 0 || !strings.Contains(out+errs, fmt.Sprintf("may be shown in pid %d", roams.PID())) {
		t.Errorf("stop of one that may be shown elsewhere: exit code %d\n%s%s", code, out, errs)
	}
	roams.Kill()
	c.exits(0, "released", "stop", ids[1])
	shows.Wait()
	c.does("wait", ids[1], "--timeout", "2m")
	c.expect([]string{row(ids[0], server.PID(), "idle"), row(ids[1], server.PID(), "idle")})
}

// Archived, unarchived and removed by Codex itself, with the sub-agent; a live thread never is.
func TestCodexRemoves(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	a.Run("above [[agent [[text below]];; text done]]", "--enable", "multi_agent").Wait()
	if rows := c.list("-a", "--children"); len(rows) != 2 || len(c.list("-a")) != 1 {
		t.Fatalf("%q, want a thread and its sub-agent", rowsOf(rows))
	}
	id := *c.list("-a")[0].ID
	c.does("archive", "--yes", id)
	if s := c.status(id); !strings.Contains(s.Path, "archived_sessions") {
		t.Errorf("archived in %s", s.Path)
	}
	c.does("unarchive", "--yes", id)
	if s := c.status(id); strings.Contains(s.Path, "archived_sessions") {
		t.Errorf("unarchived to %s", s.Path)
	}
	a.Run("the origin").Wait()
	origin := codexID(t, w, "the origin")
	a.Run("", "fork", origin, "its fork [[text forked]]").Wait()
	c.exits(1, "", "rm", "--yes", origin) // a fork continues it
	c.status(origin)
	c.does("rm", "--yes", origin, codexID(t, w, "its fork"))

	live := a.Run("alive [[hang]]")
	w.WaitCall("alive", 0)
	lives := codexID(t, w, "alive")
	c.exits(5, "", "rm", "--yes", lives)
	c.exits(5, "", "archive", "--yes", lives)
	live.Kill()
	c.does("rm", "--yes", id, lives)
	c.expect(nil, "-a", "--since", "all", "--children")
}

// Removed by OpenCode itself, with the sub-agent, while another session of the database lives.
func TestOpenCodeRemoves(t *testing.T) {
	w, a, c := newest(t, install.OpenCode)
	const prompt = "with help [[agent [[shell true]];; text main]]"
	a.Run(prompt).Wait()
	live := a.Run("alive [[hang]]")
	w.WaitCall("alive", 0)
	lives := openCodeID(t, w, "alive [[hang]]")
	c.exits(5, "", "rm", "--yes", lives)
	c.does("rm", "--yes", openCodeID(t, w, prompt))
	c.expect([]string{row(lives, live.PID(), "running")}, "-a", "--since", "all", "--children")
	live.Kill()
	c.does("rm", "--older-than", "1ms", "--yes")
	c.expect(nil, "-a", "--since", "all")
}

// TestRemovingWritesNothing: whatever is removed or archived, the agent's command does it. With a command that does nothing, no system
// call changes anything, and the kernel lock of the session's directory is the only one.
func TestRemovingWritesNothing(t *testing.T) {
	w, a, _ := newest(t, install.Codex)
	a.Run("keep this").Wait()
	id := codexID(t, w, "keep this")
	bin := t.TempDir()
	stub := filepath.Join(bin, "codex")
	must.Do(t, os.WriteFile(stub, []byte("#!/bin/sh\necho \"Usage: codex $1 [OPTIONS] <SESSION>\"\n"), 0o755))
	for _, verb := range []string{"rm", "archive"} {
		cmd := exec.Command(os.Getenv(binary), verb, "--yes", id)
		var errs strings.Builder
		cmd.Env, cmd.Stdout, cmd.Stderr = []string{"HOME=" + w.Home, "PATH=" + bin + ":/usr/bin:/bin"}, &strings.Builder{}, &errs
		result, err := trace.Run(cmd)
		must.Do(t, err)
		if result.Exit != 1 || !strings.Contains(errs.String(), "has changed nothing") {
			t.Errorf("%s: exit code %d\n%s", verb, result.Exit, errs.String())
		}
		locked := 0
		for _, call := range result.Changes("/") {
			if call.Name == "flock" && call.Path == a.Dir() {
				locked++
				continue
			}
			t.Errorf("%s: %s %s of %s (%d)", verb, call.Name, call.Effect, call.Path, call.Ret)
		}
		if locked == 0 {
			t.Errorf("%s: the session's directory was not locked", verb)
		}
	}
}
