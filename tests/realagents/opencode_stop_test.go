package realagents

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestOpenCodeIsStoppedMidTool, with its tool: a headless one, and one in a terminal.
func TestOpenCodeIsStoppedMidTool(t *testing.T) {
	eachOpenCode(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		headless := w.Tool(a.Dir())
		id := startedBy(t, c, "launch", "opencode", "-p", "headless [[shell "+headless.Command+"]]")
		headless.WaitRunning()
		stopsWith(t, c, id, headless)
		if got := rowOf(c.status(id)); got != row(id, 0, "stopped interrupted") {
			t.Errorf("afterwards: %s", got)
		}

		inTUI := w.Tool(a.Dir())
		tui := a.TUI()
		tui.Submit("in a terminal [[shell " + inTUI.Command + "]]")
		inTUI.WaitRunning()
		id = idOf(t, w, a, "in a terminal")
		c.expect([]string{row(id, tui.PID(), "running")})
		stopsWith(t, c, id, inTUI)
		tui.Wait()
		if got := rowOf(c.status(id)); got != row(id, 0, "stopped interrupted") {
			t.Errorf("afterwards: %s", got)
		}
	})
}

// stopsWith stops a session in whose turn a tool runs, and looks that no process of it is left.
func stopsWith(t *testing.T, c agentctl, id string, tool *world.Tool) {
	t.Helper()
	if out, errs, code := c.run("stop", id); code != 0 {
		t.Errorf("stop: exit code %d\n%s%s", code, out, errs)
	}
	if left := commandLineWith(waits(tool)); left != "" {
		t.Errorf("the tool is left: %q", left)
	}
}

// waits is what the tool's own process has in its command line.
func waits(tool *world.Tool) string {
	_, command, _ := strings.Cut(tool.Command, "; ")
	return strings.Fields(command)[len(strings.Fields(command))-1]
}

// TestOpenCodeServerGoesOn when one of its sessions is stopped: that one's turn is over and its tool gone, the other's
// works on.
func TestOpenCodeServerGoesOn(t *testing.T) {
	w := world.New(t)
	a := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(a)
	server := a.Serve()
	base := serverURL(t, server)
	tools := []*world.Tool{w.Tool(a.Dir()), w.Tool(a.Dir())}
	var ids []string
	for _, tool := range tools {
		ids = append(ids, ask(t, base, a.Dir(), "[[shell "+tool.Command+"]]"))
		tool.WaitRunning()
	}
	c.expect([]string{row(ids[0], server.PID(), "running"), row(ids[1], server.PID(), "running")})
	if got := c.doingAlone(ids[0], server.PID()); len(got) > 0 { // OpenCode marks no tool with its session
		t.Errorf("%v are the session's alone", got)
	}
	stopsWith(t, c, ids[0], tools[0])
	c.expect([]string{row(ids[0], server.PID(), "idle"), row(ids[1], server.PID(), "running")})
	if commandLineWith(waits(tools[1])) == "" {
		t.Error("the other session's tool is gone, too")
	}
	tools[1].End()
	w.WaitCall(tools[1].Command, 1)
	if out, errs, code := c.run("stop", ids[0]); code != 0 {
		t.Errorf("stop of one that is idle: exit code %d\n%s%s", code, out, errs)
	}
	if !server.Alive() {
		t.Error("the server is dead")
	}
}

// TestOpenCodeReleasesASession: a server keeps a session that is in no turn. It is stopped once no terminal shows it: the one that does is
// ended, and one that may show another session is not.
func TestOpenCodeReleasesASession(t *testing.T) {
	w := world.New(t)
	a := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(a)
	server := a.Serve()
	base := serverURL(t, server)
	id, other := c.answered(w, a, base, "one"), c.answered(w, a, base, "two")
	if out, errs, code := c.run("wait", id, "--timeout", "1m"); code != 0 {
		t.Errorf("wait: exit code %d\n%s%s", code, out, errs)
	}
	shows := a.Terminal("attach", base, "--session", id)
	shows.WaitFor("one")
	c.expect([]string{row(id, shows.PID(), "idle"), row(other, server.PID(), "idle")})
	roams := a.TUI("attach", base)
	if out, errs, code := c.run("stop", id); code == 0 || !strings.Contains(out+errs, fmt.Sprintf("may be shown in pid %d", roams.PID())) {
		t.Errorf("stop of one that may be shown elsewhere: exit code %d\n%s%s", code, out, errs)
	}
	roams.Kill()
	if out, errs, code := c.run("stop", id); code != 0 || !strings.Contains(out, "released") {
		t.Errorf("stop: exit code %d\n%s%s", code, out, errs)
	}
	shows.Wait()
	c.expect([]string{row(id, server.PID(), "idle"), row(other, server.PID(), "idle")})
}
