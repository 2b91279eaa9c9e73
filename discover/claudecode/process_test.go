package claudecode

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"agentctl/proc"
)

func TestHelpersAreNoSessions(t *testing.T) {
	dir := home(t, "01-print-2.1.197")
	for _, args := range []string{
		"daemon run --origin x", "mcp serve", "--verbose mcp serve", "agents --json", "doctor", "update", "--version",
		"--bg-spare /tmp/x", "--bg do it", "--model opus install latest", "--mcp-config a.json b.json --strict-mcp-config mcp serve",
	} {
		if got := claims(t, dir, native329(100, 1000, dir, "/w", strings.Fields(args)...)); len(got) > 0 {
			t.Errorf("claude %s: %+v", args, got)
		}
	}
	search := native329(100, 1000, dir, "/w", "--files")
	search.Arguments[0] = "rg"
	if got := claims(t, dir, search); len(got) > 0 {
		t.Errorf("the embedded rg: %+v", got)
	}
	// An MCP server of a node build has wiped its arguments; its parent tells.
	server := node112(101, 1001, dir, "/w")
	server.Parent = 100
	if got := claims(t, dir, node112(100, 1000, dir, "/w"), server); len(got) != 1 || got[0].Process.PID != 100 {
		t.Errorf("an MCP server: %+v", got)
	}
}

func TestSessionsAreNotTakenForHelpers(t *testing.T) {
	dir := home(t, "01-print-2.1.197")
	for _, args := range [][]string{
		{},
		{"-p", "--", "install"},
		{"-n", "doctor"},
		{"--allowedTools", "mcp", "update"},
		{"-p", "stop the server"},
		{"--resume"},
		{"--resume", "project"},
		{"--model=mcp"},
	} {
		if got := claims(t, dir, native329(100, 1000, dir, "/w", args...)); len(got) != 1 || got[0].Session != "" {
			t.Errorf("claude %q: %+v", args, got)
		}
	}
}

// What is not Claude Code, whatever its command line says (S25).
func TestDecoys(t *testing.T) {
	for name, exe := range map[string]string{
		"vim": "/usr/bin/vim", "claude": "/usr/bin/sleep", "bash": "/bin/bash", "claude.sh": "/home/u/claude.sh", "node": "/usr/bin/node",
	} {
		f := process0(100, 1000, "/h", "/w")
		f.Name, f.Exe, f.Arguments = name, exe, []string{"claude", "--session-id", alive, "/.claude/claude.md"}
		if got := claims(t, "/h", f); len(got) > 0 {
			t.Errorf("%s (%s): %+v", name, exe, got)
		}
	}
}

// TestLooksLike goes through the ways in which Claude Code is installed and started.
func TestLooksLike(t *testing.T) {
	for _, f := range []proc.Facts{
		{Process: proc.Process{Name: "claude", Exe: "/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe"}},
		{Process: proc.Process{Name: "claude.exe", Exe: "/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe"}},
		{Process: proc.Process{Name: "claude", Exe: "/x/@anthropic-ai/claude-code-linux-x64/claude"}},
		{Process: proc.Process{Name: "2.1.197", Exe: "/home/u/.local/share/claude/versions/2.1.197"}},
		{Process: proc.Process{Name: "claude", Exe: "/usr/bin/node"}, Arguments: []string{"claude"}},
		{Process: proc.Process{Name: "node", Exe: "/usr/bin/node"}, Arguments: []string{"node", "/x/.bin/claude", "-p"}},
		{Process: proc.Process{Name: "node", Exe: "/usr/bin/node"}, Arguments: []string{"node", "--max-old-space-size=9", "/x/claude-code/cli.js"}},
		{Process: proc.Process{Name: "claude"}, Arguments: []string{"claude"}}, // another user's: no binary to be seen
	} {
		if p, _ := proc.Of(f).PID(0); !looksLike(p) {
			t.Errorf("%s, %s, %q is not recognised", f.Name, f.Exe, f.Arguments)
		}
	}
}

// A process that the kernel is just ending has no binary and no arguments any more, but is no zombie yet (S9).
func TestDyingProcessIsGone(t *testing.T) {
	f := process0(100, 1000, "/h", "")
	f.Name = "claude"
	if got := claims(t, "/h", f); len(got) > 0 {
		t.Errorf("claims %+v", got)
	}
}

func TestAnotherUsersProcess(t *testing.T) {
	f := process0(100, 1000, "/h", "/w")
	f.Name, f.Arguments = "claude", []string{"claude"}
	p, _ := proc.Of(f).PID(100)
	denied := &fs.PathError{Op: "open", Path: "/proc/100/environ", Err: os.ErrPermission}
	x := process{Process: p, unreadable: "another user's process: " + denied.Error()}
	if c := x.presence(); c.Unreadable == "" {
		t.Error("the presence does not say that it is unreadable")
	}
	f.Exe, f.Err = "/opt/claude", denied
	got := claims(t, t.TempDir(), f)
	if len(got) != 1 || got[0].Session != "" || !strings.Contains(got[0].Unreadable, "permission denied") {
		t.Errorf("claims %+v", got)
	}
	f.Err = proc.ErrGone
	if got := claims(t, t.TempDir(), f); len(got) != 0 {
		t.Errorf("a process that vanished: %+v", got)
	}
}
