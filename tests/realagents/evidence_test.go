package realagents

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// called is an agent installed under another name, as a hard link beside its program.
func called(t *testing.T, a world.Agent, name string) world.Agent {
	t.Helper()
	program, err := filepath.EvalSymlinks(a.Native)
	must.Do(t, err)
	dir, err := os.MkdirTemp(filepath.Dir(program), "renamed-")
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	a.Native, a.Shim = filepath.Join(dir, name), nil
	must.Do(t, os.Link(program, a.Native))
	return a
}

// holds checks that nothing takes a running session for a stopped one.
func (c agentctl) holds(a world.Agent, id string, pid int) {
	c.t.Helper()
	if got, want := rowsOf(c.list("-a")), []string{row(id, pid, "running")}; !slices.Equal(got, want) {
		c.t.Errorf("list -a: %q, want %q", got, want)
	}
	c.does("status", id, "--alive")
	for _, args := range [][]string{{"guard", c.dir}, {"resume", id, "another turn"}, {"launch", a.Agent(), "--cwd", c.dir, "-p", "beside it"}} {
		c.exits(5, "", args...)
	}
	if a.Agent() != install.ClaudeCode { // whose sessions nobody removes one by one
		c.exits(5, "", "rm", "--yes", id)
	}
}

// A session is live whatever its program is called: what the process holds, or what registers it, says so.
func TestUnderAnotherName(t *testing.T) {
	eachAgent(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		p := called(t, a, map[string]string{install.ClaudeCode: "cc", install.Codex: "foo", install.OpenCode: "oc"}[a.Agent()]).Run("under another name [[hang]]")
		w.WaitCall("under another name", 0)
		id := idOf(t, w, a, "under another name")
		c.expect([]string{row(id, p.PID(), "running")})
		c.holds(a, id, p.PID())
		if c.does("stop", id); living(p.PID()) {
			t.Error("it is alive after stop")
		}
		c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")
	}, install.Pi, install.Copilot) // Pi is a script; Copilot CLI does not run without the files beside it
}

// A session that lives in a profile is the one that is stored in ~/.claude if the profile leads to the same file.
func TestClaudeProfileThatSharesItsStore(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)
	id := c.launched("claude-code", "-p", "the first turn")
	c.expect([]string{row(id, 0, "stopped completed")}, "-a")
	home, profile := filepath.Join(w.Home, ".claude"), filepath.Join(w.Home, ".claude-work")
	folder := filepath.Dir(claudeTranscript(t, w, id))
	config, err := os.ReadFile(filepath.Join(w.Home, ".claude.json"))
	if err = errors.Join(err, os.MkdirAll(filepath.Join(profile, "projects"), 0o700), os.Symlink(folder, filepath.Join(profile, "projects", filepath.Base(folder))),
		os.WriteFile(filepath.Join(profile, ".claude.json"), config, 0o600)); err != nil {
		t.Fatal(err)
	}
	tui := a.With("CLAUDE_CONFIG_DIR="+profile).TUI("--resume", id)
	tui.Submit("the second turn [[hang @end]]")
	w.WaitCall("the second turn", 0)
	want := []string{row(id, tui.PID(), "running")}
	if s := c.expect(want); s[0].Home != home {
		t.Errorf("it is shown in %s", s[0].Home)
	}
	c.expect(want, "-a", "--home", profile)
	c.holds(a, id, tui.PID())
	for _, dir := range []string{home, profile} {
		c.exits(5, "", "resume", id+"@"+dir, "another turn")
	}
	w.Model.Release("end")
	c.expect([]string{row(id, tui.PID(), "idle")})
	c.does("send", id, "a message [[text received]]")
	if c.does("stop", id); living(tui.PID()) {
		t.Error("it is alive after stop")
	}
	c.expect([]string{row(id, 0, "stopped completed")}, "-a")
}

// While it asks whether the directory is trusted, a process has no session and no registry entry. It is known to be Claude Code all the same,
// so that it can be ended.
func TestClaudeBeforeItRegisters(t *testing.T) {
	_, a, c := newest(t, install.ClaudeCode)
	tui := a.In(t.TempDir()).Terminal()
	tui.WaitFor("trust this folder")
	c.expect([]string{row("null", tui.PID(), "running")})
	if c.does("stop", fmt.Sprintf("pid:%d", tui.PID())); living(tui.PID()) {
		t.Error("it is alive after stop")
	}
}

// The sessions of editors. codex-acp takes no lock; it writes the rollout, whatever it is called.
func TestCodexACP(t *testing.T) {
	i, err := install.Find(install.CodexACP())
	must.Do(t, err)
	w, a, c := newest(t, install.Codex)
	editor := a
	editor.Installation = i
	p := startACP(t, a, called(t, editor, "foo").Native)
	id := p.call("session/new", map[string]any{"cwd": a.Dir(), "mcpServers": []any{}}).SessionID
	p.send("session/prompt", map[string]any{"sessionId": id, "prompt": []any{map[string]string{"type": "text", "text": "in an editor [[hang]]"}}})
	w.WaitCall("in an editor", 0)
	pid := p.cmd.Process.Pid
	c.expect([]string{row(id, pid, "running")}, "-a")
	c.holds(a, id, pid)
	c.exits(5, "--force ends the process", "stop", id)
	if c.does("stop", "--force", id); living(pid) {
		t.Error("it is alive after stop --force")
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
	must.Do(t, err)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.Do(t, err)
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
	must.Do(p.t, err)
}

// call sends a request and returns the answer.
func (p *acp) call(method string, params any) (result struct{ SessionID string }) {
	p.t.Helper()
	p.send(method, params)
	for {
		line, err := p.out.ReadBytes('\n')
		must.Do(p.t, err)
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

// OpenCode writes the line that names a session about a second after the session is stored. Until then the session is live in the only process
// that may have begun it, and no second process continues it.
func TestOpenCodeLivesBeforeItsLogSaysSo(t *testing.T) {
	w, a, c := newest(t, install.OpenCode)
	a.Run("an old one").Wait()
	old := openCodeID(t, w, "an old one")
	c.expect(nil)

	server := a.Serve()
	base, query := serverURL(t, server), "?directory="+url.QueryEscape(a.Dir())
	lives := func(id, status string) {
		t.Helper()
		if got, want := rowOf(c.status(id)), row(id, server.PID(), status); got != want {
			t.Errorf("status: %s, want %s", got, want)
		}
		c.exits(5, "", "resume", id, "twice")
	}
	prompts := func(id, text string) {
		t.Helper()
		post(t, base+"/session/"+id+"/prompt_async"+query, `{"parts":[{"type":"text","text":`+strconv.Quote(text)+`}]}`)
		lives(openCodeID(t, w, text), "running")
		c.exits(5, "", "guard")
	}
	id := newSession(t, base, a.Dir())
	lives(id, "idle")
	prompts(id, "served [[hang]]")
	prompts(old, "again [[hang]]")
	server.Kill()
	c.expect(nil)

	tui := a.TUI()
	tui.Submit("in a terminal")
	id = openCodeID(t, w, "in a terminal")
	if got := c.status(id); got.PID != tui.PID() || got.Status == "stopped" {
		t.Errorf("status: %s, want it live in %d", rowOf(got), tui.PID())
	}
	c.exits(5, "", "resume", id, "twice")
}
