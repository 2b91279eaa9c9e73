package realagents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// rename returns a program under another name.
func rename(t *testing.T, program, name string) string {
	t.Helper()
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		t.Fatal(err)
	}
	renamed := filepath.Join(t.TempDir(), name)
	if err = os.Link(program, renamed); err != nil { // on another disk
		err = exec.Command("cp", "-p", program, renamed).Run()
	}
	if err != nil {
		t.Fatal(err)
	}
	return renamed
}

// TestClaudeUnderAnotherName: a session is live whatever its program is called. Its registry entry names the process.
func TestClaudeUnderAnotherName(t *testing.T) {
	for _, version := range []string{install.ClaudeCurrent, install.ClaudeMain} {
		for _, name := range []string{"claude-raw", "cc"} {
			t.Run(version+"/"+name, func(t *testing.T) {
				w := world.New(t)
				a := w.Claude(version)
				c := agentctlIn(t, w).as(a)
				a.Native = rename(t, a.Native, name)
				p := a.Run("under another name [[hang]]")
				w.WaitCall("under another name", 0)
				id := claudeID(t, w, "under another name")
				c.expect([]string{row(id, p.PID(), "running")})
				c.holds(id, p.PID())
				c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")
			})
		}
	}
}

// holds checks that nothing takes a running session for a stopped one, and ends it.
func (c agentctl) holds(id string, pid int) {
	c.t.Helper()
	if got := rowsOf(c.list("-a")); !slices.Contains(got, row(id, pid, "running")) {
		c.t.Errorf("list -a says %q", got)
	}
	for _, q := range []struct {
		code int
		args []string
	}{
		{0, []string{"status", id, "--alive"}},
		{5, []string{"guard", c.dir}},
		{5, []string{"resume", id, "another turn"}},
		{5, []string{"launch", "claude-code", "--cwd", c.dir, "-p", "beside it"}},
		{0, []string{"stop", id}},
	} {
		if out, errs, code := c.run(q.args...); code != q.code {
			c.t.Errorf("%q: exit code %d, %s%s", q.args, code, out, errs)
		}
	}
	if living(pid) {
		c.t.Errorf("pid %d is alive after stop", pid)
	}
}

// TestClaudeProfileUnderAnotherName: neither the name of the program nor a home that is known leads to the session. What
// says that it has stopped must have asked every process.
func TestClaudeProfileUnderAnotherName(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeCurrent)
	c := agentctlIn(t, w).as(a)
	a.Native = rename(t, a.Native, "cc")
	profile := filepath.Join(w.Home, "profile")
	p := a.With("CLAUDE_CONFIG_DIR=" + profile).Run("in a profile [[hang]]")
	w.WaitCall("in a profile", 0)
	id := strings.TrimSuffix(filepath.Base(fileWith(t, profile, ".jsonl", "in a profile")), ".jsonl")
	c.expect([]string{row(id, p.PID(), "running")}, "-a")
	c.holds(id, p.PID())
}

// TestClaudeBeforeItRegisters: while it asks whether the directory is trusted, a process has no session and no registry entry. It is
// known to be Claude Code all the same, so that it can be ended.
func TestClaudeBeforeItRegisters(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeCurrent)
	c := agentctlIn(t, w).as(a)
	tui := a.In(t.TempDir()).Terminal()
	tui.WaitFor("trust this folder")
	c.expect([]string{row("null", tui.PID(), "running")})
	if out, errs, code := c.run("stop", fmt.Sprintf("pid:%d", tui.PID())); code != 0 || living(tui.PID()) {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}
