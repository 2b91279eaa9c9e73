package realagents

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// TestCodexTerminalsHaveRows: a terminal has a row from its first moment on, before the daemon runs and its thread is there; then the
// row is its thread's, with the terminal as the process. Of two in one directory, each has its own.
func TestCodexTerminalsHaveRows(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	first := a.Terminal()
	c.expect([]string{row("null", first.PID(), "idle")})
	if s := c.list()[0]; s.CWD != a.Dir() || s.TTY == "" {
		t.Errorf("the first moments: %+v", s)
	}
	first.WaitReady()
	first.Submit("said in the first")
	first.WaitFor("OK: said in the first")
	second := a.TUI() // of two that start before the daemon has loaded a thread, nothing says whose is whose
	second.Submit("said in the second")
	second.WaitFor("OK: said in the second")

	want := map[string]*world.TUI{codexID(t, w, "said in the first"): first, codexID(t, w, "said in the second"): second}
	var rows []string
	for id, tui := range want {
		rows = append(rows, row(id, tui.PID(), "idle"))
	}
	ttys := map[string]bool{}
	for _, s := range c.expect(rows, "--cwd", a.Dir()) {
		tui := want[*s.ID]
		if !slices.Equal(s.PIDs, []int{tui.PID(), daemonPID(t, w)}) || s.CWD != a.Dir() || s.Evidence.Strength != "exact" {
			t.Errorf("%+v, evidence %+v", s, s.Evidence)
		}
		ttys[s.TTY] = true
		if by := c.status(fmt.Sprintf("pid:%d", tui.PID())); by.ID == nil || *by.ID != *s.ID {
			t.Errorf("pid:%d names %s, want %s", tui.PID(), rowOf(by), *s.ID)
		}
	}
	if len(ttys) != 2 || ttys[""] {
		t.Errorf("terminals %v", ttys)
	}
}

// TestCodexStopTerminal: stop ends the terminal that shows an idle session, and the daemon unloads the session.
func TestCodexStopTerminal(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	stays := a.TUI()
	stays.Submit("this one stays")
	stays.WaitFor("OK: this one stays")
	goes := a.TUI()
	goes.Submit("this one goes")
	goes.WaitFor("OK: this one goes")
	staying, going, daemon := codexID(t, w, "this one stays"), codexID(t, w, "this one goes"), daemonPID(t, w)
	c.expect([]string{row(staying, stays.PID(), "idle"), row(going, goes.PID(), "idle")})
	before, err := os.Stat(c.status(going).Path)
	if err != nil {
		t.Fatal(err)
	}

	if out, errs, code := c.run("stop", "--dry-run", "--force", going); code != 0 || !strings.Contains(out, fmt.Sprintf("SIGINT to pid %d", goes.PID())) {
		t.Errorf("dry run: exit code %d, %s%s", code, out, errs)
	}
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
	if now, err := os.Stat(after.Path); err != nil || !os.SameFile(before, now) || filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(after.Path))))) != "sessions" {
		t.Errorf("its file is %s: %v", after.Path, err)
	}
	if _, errs, code := c.run("wait", going); code != 0 {
		t.Errorf("wait: exit code %d, %s", code, errs)
	}
	if out, errs, code := c.run("resume", going, "and on"); code != 0 {
		t.Errorf("resume: exit code %d, %s%s", code, out, errs)
	}
	if got := rowOf(c.status(staying)); got != row(staying, stays.PID(), "idle") {
		t.Errorf("the other session: %s", got)
	}
}

// TestCodexStopUntouchedTerminal: nothing is stored of its session. It is released, and gone once the daemon unloads it.
func TestCodexStopUntouchedTerminal(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	tui := a.TUI()
	var id string
	if !poll(func() bool {
		rows := c.list()
		if len(rows) == 1 && rows[0].ID != nil && rows[0].PID == tui.PID() {
			id = *rows[0].ID
		}
		return id != ""
	}) {
		t.Fatalf("rows %q", rowsOf(c.list()))
	}
	if s := c.stopped(id); s.Result != "released" || living(tui.PID()) {
		t.Errorf("%+v, the terminal lives: %v", s, living(tui.PID()))
	}
	if _, errs, code := c.run("wait", id); code != 0 {
		t.Errorf("wait: exit code %d, %s", code, errs)
	}
	if stored, _ := filepath.Glob(filepath.Join(w.Home, ".codex", "*sessions", "*", "*", "*", "*")); len(stored) > 0 {
		t.Errorf("stored: %q", stored)
	}
}

// TestCodexStopAmbiguousTerminal: after /new, the terminal has two sessions, and nothing says which it shows. Only force ends it.
func TestCodexStopAmbiguousTerminal(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	tui := a.TUI()
	tui.Submit("the first of two")
	tui.WaitFor("OK: the first of two")
	// The command is refused until the turn has ended, which the screen does not show.
	if _, errs, code := c.run("wait", codexID(t, w, "the first of two"), "--until", "idle", "--timeout", "2m"); code != 0 {
		t.Fatalf("wait: exit code %d, %s", code, errs)
	}
	tui.Submit("/new")
	tui.WaitFor("Use current Git worktree")
	tui.Press(term.Enter)
	tui.WaitGone("OK: the first of two")
	tui.WaitReady()
	submit(w, tui, "the second of two [[hang]]") // an Enter in its first moments is lost
	w.WaitCall("the second of two", 0)
	id := codexID(t, w, "the second of two")
	out, errs, code := c.run("stop", id)
	if want := fmt.Sprintf("it may be shown in pid %d (/dev/", tui.PID()); code != 5 || !strings.Contains(out+errs, want) || !living(tui.PID()) {
		t.Errorf("exit code %d, %s%s, want 5 and %q", code, out, errs, want)
	}
	if s := c.stopped("--force", id); s.Result != "stopped" || living(tui.PID()) || !living(daemonPID(t, w)) {
		t.Errorf("%+v", s)
	}
}

// TestCodexStopSessionInTwoTerminals: both show the session, and both are ended.
func TestCodexStopSessionInTwoTerminals(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	one := a.TUI()
	one.Submit("shown twice")
	one.WaitFor("OK: shown twice")
	id := codexID(t, w, "shown twice")
	two := a.Terminal("resume", id)
	two.WaitFor("OK: shown twice")
	if !poll(func() bool { return slices.Equal(c.status(id).PIDs, []int{one.PID(), two.PID(), daemonPID(t, w)}) }) {
		t.Errorf("%+v", c.status(id))
	}
	if s := c.stopped(id); s.Result != "stopped" || living(one.PID()) || living(two.PID()) {
		t.Errorf("%+v", s)
	}
}

// TestCodexExecRemote: the thread runs in the app-server. The exec that asked for it is not its process, and is sent no signal.
func TestCodexExecRemote(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	tool := w.Tool(a.Dir())
	tui := a.TUI() // starts the daemon, in whose directory the thread works
	tui.Submit("in the terminal")
	tui.WaitFor("OK: in the terminal")
	socket, err := filepath.EvalSymlinks(filepath.Join(w.Home, ".codex", "app-server-control", "app-server-control.sock"))
	if err != nil {
		t.Fatal(err)
	}
	run := a.In(w.Dir("elsewhere")).Run("from afar [[shell "+tool.Command+"]]", "--remote", "unix://"+socket)
	tool.WaitRunning()
	id := codexID(t, w, "from afar")
	if got := c.status(id); got.PID != daemonPID(t, w) || got.PIDs != nil || got.Status != "running" {
		t.Errorf("it runs in the daemon, %d: %+v", daemonPID(t, w), got)
	}
	if _, errs, code := c.run("status", fmt.Sprintf("pid:%d", run.PID())); code != 3 {
		t.Errorf("pid:%d: exit code %d, %s", run.PID(), code, errs)
	}
	s := c.stopped(id)
	if s.Result != "stopped" || slices.ContainsFunc(s.Signalled, func(sent output.Signal) bool { return sent.PID == run.PID() }) {
		t.Errorf("%+v", s)
	}
	if len(toolsOf(id)) > 0 || !living(daemonPID(t, w)) {
		t.Errorf("tools %v, daemon alive: %v", toolsOf(id), living(daemonPID(t, w)))
	}
	run.Wait()
	c.expect([]string{row(codexID(t, w, "in the terminal"), tui.PID(), "idle")})
}

// TestCodexUnderAnotherName: a session is live whatever its program is called: what it holds says so.
func TestCodexUnderAnotherName(t *testing.T) {
	for _, name := range []string{"codex-raw", ".codex-unwrapped", "my-codex", "foo"} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			a := w.Codex(install.CodexCurrent)
			c := agentctlIn(t, w).as(a)
			a.Native = rename(t, a.Native, name)
			p := a.Run("under another name [[hang]]")
			w.WaitCall("under another name", 0)
			id := codexID(t, w, "under another name")
			c.expect([]string{row(id, p.PID(), "running")})
			c.holdsCodex(id, p.PID())
			if out, errs, code := c.run("stop", id); code != 0 || living(p.PID()) {
				t.Errorf("stop: exit code %d, %s%s", code, out, errs)
			}
			c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")
		})
	}
}

// TestCodexTerminalUnderAnotherName: a client of the daemon, too. Under another name, Codex starts no daemon itself.
func TestCodexTerminalUnderAnotherName(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	first := a.TUI()
	first.Submit("in the first terminal")
	first.WaitFor("OK: in the first terminal")
	a.Native = rename(t, a.Native, "codex-raw")
	tui := a.TUI()
	tui.Submit("in a renamed terminal")
	tui.WaitFor("OK: in a renamed terminal")
	id := codexID(t, w, "in a renamed terminal")
	c.expect([]string{row(codexID(t, w, "in the first terminal"), first.PID(), "idle"), row(id, tui.PID(), "idle")})
	if s := c.stopped(id); s.Result != "stopped" || living(tui.PID()) {
		t.Errorf("%+v", s)
	}
}

// holdsCodex checks that nothing takes a running session for a stopped one.
func (c agentctl) holdsCodex(id string, pid int) {
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
		{5, []string{"rm", "--dry-run", id}},
		{5, []string{"launch", "codex", "--cwd", c.dir, "-p", "beside it"}},
	} {
		if out, errs, code := c.run(q.args...); code != q.code {
			c.t.Errorf("%q: exit code %d, %s%s", q.args, code, out, errs)
		}
	}
}

// acp is codex-acp, as an editor runs it: JSON-RPC on its stdin and stdout.
type acp struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Reader
	id  int
}

func startACP(t *testing.T, a world.Agent, program string) *acp {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Dir, cmd.Env = a.Dir(), append(a.Environ(), "OPENAI_API_KEY=no-real-key")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	p := &acp{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
	p.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	p.call("authenticate", map[string]any{"methodId": "openai-api-key"})
	return p
}

func (p *acp) send(method string, params any) {
	p.t.Helper()
	p.id++
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": p.id, "method": method, "params": params})
	if err == nil {
		_, err = p.in.Write(append(raw, '\n'))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// call sends a request and returns the answer.
func (p *acp) call(method string, params any) (result struct{ SessionID string }) {
	p.t.Helper()
	p.send(method, params)
	for {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			p.t.Fatal(err)
		}
		var answer struct {
			ID     int
			Method string
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(line, &answer); err != nil || answer.Error != nil {
			p.t.Fatalf("%v: %s", err, line)
		}
		if answer.ID == p.id && answer.Method == "" {
			_ = json.Unmarshal(answer.Result, &result) // not every answer has a session
			return result
		}
	}
}

// TestCodexACP: the sessions of editors. codex-acp takes no lock; it writes the rollout, whatever it is called.
func TestCodexACP(t *testing.T) {
	i, err := install.Find(install.CodexACP())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"codex-acp", "foo"} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			a := w.Codex(install.CodexCurrent)
			c := agentctlIn(t, w).as(a)
			p := startACP(t, a, rename(t, i.Native, name))
			id := p.call("session/new", map[string]any{"cwd": a.Dir(), "mcpServers": []any{}}).SessionID
			p.send("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]string{"type": "text", "text": "in an editor [[hang]]"}}})
			w.WaitCall("in an editor", 0)
			if name == "codex-acp" {
				c.expect([]string{row(id, p.cmd.Process.Pid, "running")})
			}
			c.expect([]string{row(id, p.cmd.Process.Pid, "running")}, "-a")
			c.holdsCodex(id, p.cmd.Process.Pid)
			if out, errs, code := c.run("stop", id); code != 5 || !strings.Contains(out+errs, "--force ends the process") {
				t.Errorf("stop: exit code %d, %s%s", code, out, errs)
			}
			if out, errs, code := c.run("stop", "--force", id); code != 0 || living(p.cmd.Process.Pid) {
				t.Errorf("stop --force: exit code %d, %s%s", code, out, errs)
			}
		})
	}
}
