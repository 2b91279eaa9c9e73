package realagents

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// TestOpenCodeUnderAnyName: as .opencode, which npm's launcher runs, and installed as oc, a session that works is live in every
// answer, and nothing is done that a live session forbids.
func TestOpenCodeUnderAnyName(t *testing.T) {
	for name, agent := range map[string]func(*world.World) world.Agent{
		".opencode": func(w *world.World) world.Agent { return w.OpenCode(install.OpenCodeOld) },
		"oc":        func(w *world.World) world.Agent { return called(t, w.OpenCode(install.OpenCodeCurrent), "oc") },
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			a := agent(w)
			c := agentctlIn(t, w).as(a)
			tool := w.Tool(a.Dir())
			p := a.Run("works [[shell " + tool.Command + "]]")
			tool.WaitRunning()
			id := idOf(t, w, a, "works")
			want := []string{row(id, p.PID(), "running")}
			c.expect(want)
			if got := rowsOf(c.list("-a")); !slices.Equal(got, want) {
				t.Errorf("list -a: %q, want %q", got, want)
			}
			for _, arg := range []string{id, "pid:" + strconv.Itoa(p.PID())} {
				if got := rowOf(c.status(arg)); got != want[0] {
					t.Errorf("status %s: %s, want %s", arg, got, want[0])
				}
			}
			for _, args := range [][]string{{"guard"}, {"resume", id, "again"}, {"launch", "opencode", "-p", "another"}, {"rm", "--yes", id}} {
				if out, errs, code := c.run(args...); code != 5 {
					t.Errorf("%q: exit code %d\n%s%s", args, code, out, errs)
				}
			}
			if s := c.status(id); s.Status != "running" || len(userMessages(t, w, id)) != 1 {
				t.Errorf("afterwards: %s", rowOf(s))
			}
			stopsWith(t, c, id, tool)
			c.expect(nil)
		})
	}
}

// called is the agent installed under another name, as a hard link beside it.
func called(t *testing.T, a world.Agent, name string) world.Agent {
	t.Helper()
	program, err := filepath.EvalSymlinks(a.Native)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(program), "renamed-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	a.Native, a.Shim = filepath.Join(dir, name), nil
	if err := os.Link(program, a.Native); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestReadersOfOpenCodesDatabase are not OpenCode: sqlite3 opens the database for writing, even to read.
func TestReadersOfOpenCodesDatabase(t *testing.T) {
	w := world.New(t)
	a := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(a)
	p := a.Run("cut off [[hang]]")
	w.WaitCall("cut off", 0)
	id := idOf(t, w, a, "cut off")
	p.Kill()
	database := filepath.Join(w.OpenCodeHome(), "opencode.db")
	f, err := os.OpenFile(database, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader := exec.Command("tail", "-f", filepath.Join(w.OpenCodeHome(), "log", "opencode.log"))
	reader.ExtraFiles = []*os.File{f}
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = reader.Process.Kill()
		_ = reader.Wait()
	}()
	want := []string{row(id, 0, "stopped interrupted")}
	if !poll(func() bool { return slices.Equal(rowsOf(c.list("-a")), want) }) {
		t.Errorf("%q, want %q", rowsOf(c.list("-a")), want)
	}
}

// TestOpenCodeDatabasesWithOneSession: a copy of the database beside it, under the name of another channel, makes no second session. The
// session is the one in the database that the process has open.
func TestOpenCodeDatabasesWithOneSession(t *testing.T) {
	w := world.New(t)
	a := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(a)
	tui := a.TUI()
	tui.Submit("before the copy")
	tui.WaitFor("OK: before the copy")
	id := idOf(t, w, a, "before the copy")
	c.expect([]string{row(id, tui.PID(), "idle")})
	own, backup := filepath.Join(w.OpenCodeHome(), "opencode.db"), filepath.Join(w.OpenCodeHome(), "opencode-backup.db")
	copyDatabase(t, own, backup)
	c.expect([]string{row(id, tui.PID(), "idle")}, "-a")
	if s := c.status(id); s.Path != own || fmt.Sprint(s.Meta.Get("copies")) != "["+backup+"]" {
		t.Errorf("in %s, copies %v", s.Path, s.Meta.Get("copies"))
	}
	if s := c.status(id + "@" + backup); s.Path != backup || s.Status != "stopped" {
		t.Errorf("the copy: %s in %s", rowOf(s), s.Path)
	}
	var usage struct {
		Total struct{ Sessions int }
	}
	out, errs, code := c.run("usage", "--json")
	if err := json.Unmarshal([]byte(out), &usage); err != nil || code != 0 || usage.Total.Sessions != 1 {
		t.Errorf("usage of %d sessions, %v, exit code %d\n%s", usage.Total.Sessions, err, code, errs)
	}
	if out := c.does("search", "-l", "before the copy"); out != id+"\n" {
		t.Errorf("search: %q", out)
	}
	tui.HangUp()
	tui.Wait()
	c.expect([]string{row(id, 0, "stopped completed")}, "-a")
}

// copyDatabase copies a database that is in use.
func copyDatabase(t *testing.T, from, to string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+from+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("VACUUM INTO ?", to); err != nil {
		t.Fatal(err)
	}
}

// TestOpenCodeLeavesAMessageUnread: a message that was sent during an answer which the person then aborts, or during a question that the
// person dismisses, is left to the next prompt. The session is idle, as its screen is.
func TestOpenCodeLeavesAMessageUnread(t *testing.T) {
	w := world.New(t)
	a := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(a)
	tui := a.TUI("--port", "0")
	tool := w.Tool(a.Dir())
	tui.Submit("works [[shell " + tool.Command + "]]")
	tool.WaitRunning()
	id := idOf(t, w, a, "works")
	c.expect([]string{row(id, tui.PID(), "running")})
	tui.Submit("typed meanwhile")
	tui.WaitFor("QUEUED")
	c.delivers(id, "sent meanwhile")
	tui.WaitFor("sent meanwhile")
	tui.Press(term.Escape)
	tui.WaitFor("again to interrupt")
	tui.Press(term.Escape)
	tui.WaitFor("interrupted")
	c.rests(w, id, tui.PID(), 3)

	tui.Submit("[[question Which way?]]")
	tui.WaitFor("1. Yes")
	c.expect([]string{row(id, tui.PID(), "waiting question")})
	c.delivers(id, "sent during a question")
	tui.Answer("1. Yes", term.Escape)
	c.rests(w, id, tui.PID(), 5)

	tui.Submit("what now?")
	if q := w.WaitCall("what now?", 0); !strings.Contains(string(q.Body), "sent during a question") {
		t.Error("the message that was left is not with the next prompt")
	}
	c.expect([]string{row(id, tui.PID(), "idle")})
}

// rests waits until the session is idle with so many messages of the user.
func (c agentctl) rests(w *world.World, id string, pid, messages int) {
	c.t.Helper()
	c.expect([]string{row(id, pid, "idle")})
	if n := len(userMessages(c.t, w, id)); n != messages {
		c.t.Errorf("%d messages of the user, want %d", n, messages)
	}
	for _, args := range [][]string{{"guard"}, {"wait", id, "--until", "idle", "--timeout", "1m"}} {
		if out, errs, code := c.run(args...); code == 5 || code == 124 {
			c.t.Errorf("%q: exit code %d\n%s%s", args, code, out, errs)
		}
	}
}
