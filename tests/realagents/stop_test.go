package realagents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
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
