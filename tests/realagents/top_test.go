package realagents

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// TestTop drives `agentctl top` as a person would, beside all agents: sessions come, wait, are answered in their own terminal, and die;
// one is looked into, sent a message, attached to inside and outside of tmux, and stopped.
func TestTop(t *testing.T) {
	w := world.New(t)
	claude, codex, opencode := w.Claude(install.ClaudeCurrent), w.Codex(install.CodexCurrent), w.OpenCode(install.OpenCodeCurrent)
	mux, c := newTmux(t, agentctlIn(t, w).asAll(claude, codex, opencode))
	dir := t.TempDir()
	before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
	top := c.topIn(before, after)
	top.sees("^no live sessions")

	// Sessions come, and wait; what for is shown, and wide characters move no column.
	mux.window("claude", claude.Dir(), "claude", "--permission-mode", "manual")
	top.sees("^> .* idle +.*claude-code", "^no live sessions")
	mux.shows("claude", "? for shortcuts")
	mux.submits("claude", "漢字 のテスト [[shell touch q;; text 終わり]]")
	top.sees("^> .*waiting \\(permission\\) .*claude-code .*Bash: touch q .*漢字 のテスト")
	server := opencode.Serve()
	ask(t, serverURL(t, server), opencode.Dir(), "asks [[question どの色? Which color is it to be?]]")
	top.sees("^  .*waiting \\(question\\) .*opencode .*question: どの色\\? ")
	running := codex.Run("日本語 in Codex [[hang]]")
	w.WaitCall("in Codex", 0)
	top.sees("^  .*running .*codex .*日本語 in Codex")
	top.sees(`^2 waiting, 1 running`)
	top.aligned(term.Width, []string{"STATUS", "AGENT", "WAITING ON", "DIR", "TITLE"}, agentsShown(top)...)
	top.colored()

	// The permission is given in Claude Code's own terminal.
	mux.answers("claude", "Do you want to proceed?")
	top.sees("^> .*idle .*claude-code .*漢字", "Bash: touch q")
	top.sees(`^1 waiting, 1 running, 1 idle`)

	looksAndSends(top, mux)
	attaches(t, c, top, mux, claude)
	diesAndIsStopped(t, c, top, running)

	top.types("q")
	top.sees("it ended with 0", "STATUS")
	if top.Alternate() {
		t.Error("the alternate screen is left")
	}
	was, err := os.ReadFile(before)
	if err != nil {
		t.Fatal(err)
	}
	if is, err := os.ReadFile(after); err != nil || !bytes.Equal(is, was) {
		t.Errorf("the terminal's modes are %s, and were %s, %v", is, was, err)
	}
}

// agentsShown are the agents of the rows, from the top.
func agentsShown(top topScreen) (agents []string) {
	screen, _ := top.Screen()
	for line := range strings.Lines(screen) {
		for _, agent := range []string{install.ClaudeCode, install.Codex, install.OpenCode} {
			if strings.Contains(line, " "+agent+" ") && strings.Contains(line, "%") {
				agents = append(agents, agent)
			}
		}
	}
	return agents
}

// looksAndSends filters Claude Code's session, peeks at it, sends it a message, and resizes the terminal meanwhile.
func looksAndSends(top topScreen, mux tmux) {
	top.t.Helper()
	top.types("/漢字")
	top.sees("^filter: 漢字▏", "opencode")
	top.types("\r")
	top.sees(`^1 idle +· +filter: 漢字`, "opencode")
	top.types("\r")
	top.sees("^── peek: \\$ agentctl peek -n 50 ")
	top.sees("^ *終わり", "waiting")
	top.types("m")
	top.sees("^message to claude-code [0-9a-f]{8}: ▏")
	top.types("by top [[text It came by top.]]", "\r")
	top.sees(`^── \$ agentctl send -- `)
	top.sees("^[0-9a-f-]{36}  delivered")
	top.sees("^exit 0")
	mux.shows("claude", "It came by top.")
	top.types("\x1b")
	top.sees("^ *It came by top.", "^exit 0") // the peek follows

	for _, size := range [][2]int{{60, 15}, {200, 50}, {300, 100}, {term.Width, term.Height}} {
		if err := top.Resize(size[0], size[1]); err != nil {
			top.t.Fatal(err)
		}
		top.sees(`\n.* \? help +q quit *\z`, "opencode")
		if size[0] >= 170 {
			top.sees(`^> .*idle .*漢字 .*│ ── peek: \$ agentctl peek|claude.* │`)
			edge := size[0]*3/5 + 1
			top.framed(edge)
			top.aligned(edge-1, alwaysShown(), install.ClaudeCode)
		} else {
			top.sees("^── peek: ", "│")
		}
	}
	top.types("\x1b")
	top.sees("^> .*idle .*claude-code .*漢字", "peek:")
}

// attaches goes to Claude Code's window of tmux: from a terminal outside, where the client of tmux is killed in the end, and inside.
func attaches(t *testing.T, c agentctl, top topScreen, mux tmux, claude world.Agent) {
	t.Helper()
	mine := mux.run("list-clients", "-F", "#{client_pid}")
	top.types("a")
	top.sees("It came by top.", "STATUS")
	for pid := range strings.FieldsSeq(mux.run("list-clients", "-F", "#{client_pid}")) {
		if n, err := strconv.Atoi(pid); err != nil || pid != mine && syscall.Kill(n, syscall.SIGKILL) != nil {
			t.Fatalf("the client %s cannot be killed: %v", pid, err)
		}
	}
	top.sees("^agentctl attach [0-9a-f-]{36}: signal: killed")
	top.types("\r")
	top.sees("^> .*idle .*claude-code .*漢字", "It came by top")
	top.aligned(term.Width, alwaysShown(), install.ClaudeCode)

	inside := topScreen{t, mux.client}
	mux.window("top", claude.Dir(), "env", "NO_COLOR=1", os.Getenv(binary), "top")
	mux.run("select-window", "-t", "top")
	inside.types("/漢字\r")
	inside.sees(`^1 idle +· +filter: 漢字`, "opencode")
	if shown := mux.run("capture-pane", "-e", "-p", "-t", "top"); !strings.Contains(shown, "\n>   idle") || strings.Contains(shown, "\x1b") {
		t.Errorf("with NO_COLOR: %q", shown)
	}
	inside.types("a")
	inside.sees("It came by top.", "STATUS")
	if window := mux.run("display-message", "-p", "-t", "work", "#{window_name}"); window != "claude" {
		t.Errorf("attach has selected %q", window)
	}
	mux.run("select-window", "-t", "top")
	inside.sees("^> .*idle .*claude-code .*漢字", "It came by top")
	inside.types("q")
	if !poll(func() bool { return !strings.Contains(mux.run("list-windows", "-F", "#{window_name}"), "top") }) {
		t.Error("top in tmux does not end")
	}
	if s := c.list("--adapter", install.ClaudeCode); len(s) != 1 || s[0].Status != "idle" {
		t.Errorf("after attach: %q", rowsOf(s))
	}
}

// diesAndIsStopped has Codex's process killed, and Claude Code's session stopped by its confirmation.
func diesAndIsStopped(t *testing.T, c agentctl, top topScreen, running *world.Process) {
	t.Helper()
	top.types("\x1b")
	top.sees("opencode", "filter:")
	running.Kill()
	top.sees("stopped \\(interrupted\\) .*codex .*日本語")
	top.sees(`^1 waiting, 1 idle, 1 stopped`)
	list := c.list("--adapter", install.ClaudeCode)
	if len(list) != 1 {
		t.Fatalf("%q", rowsOf(list))
	}
	top.types("/claude\r", "K")
	top.sees(`^agentctl stop ` + *list[0].ID + ` \? \[y/N\] ▏`)
	top.types("n")
	top.sees("^nothing was done")
	if !living(list[0].PID) {
		t.Fatal("it was stopped without a yes")
	}
	top.types("K")
	top.sees(`\? \[y/N\] ▏`)
	top.types("y")
	top.sees(`^── \$ agentctl stop `)
	top.sees(*list[0].ID + "  stopped")
	top.sees("^exit 0")
	if living(list[0].PID) {
		t.Error("its process lives")
	}
}
