package claudecode

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/proc"
	"agentctl/tests/proctest"
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
	server := native329(101, 1001, dir, "/w")
	server.Parent = 100
	if got := claims(t, dir, native329(100, 1000, dir, "/w"), server); len(got) != 1 || got[0].Process.PID != 100 {
		t.Errorf("what a session has started: %+v", got)
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

// Other programs are not taken for Claude Code, whatever their command lines say (S25).
func TestOtherProgramsAreNoAgent(t *testing.T) {
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

// TestIsAgentProcess has the ways in which Claude Code is installed and started.
func TestIsAgentProcess(t *testing.T) {
	for _, f := range []proctest.Process{
		{Process: proc.Process{Name: "claude", Exe: "/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe"}},
		{Process: proc.Process{Name: "claude.exe", Exe: "/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe"}},
		{Process: proc.Process{Name: "claude", Exe: "/x/@anthropic-ai/claude-code-linux-x64/claude"}},
		{Process: proc.Process{Name: "2.1.197", Exe: "/home/u/.local/share/claude/versions/2.1.197"}},
		{Process: proc.Process{Name: "claude", Exe: "/usr/bin/node"}, Arguments: []string{"claude"}},
		{Process: proc.Process{Name: ".claude-wrapped", Exe: "/nix/store/0a-claude-code/bin/.claude-wrapped"}, Arguments: []string{"claude"}},
		{Process: proc.Process{Name: "claude"}, Arguments: []string{"claude"}}, // another user's: no binary to be seen
	} {
		if p, _ := proctest.NewTable(f).ByPID(0); !(Adapter{}).IsAgentProcess(p) {
			t.Errorf("%s, %s, %q is not recognised", f.Name, f.Exe, f.Arguments)
		}
	}
}

// A process that is exiting has no binary and no arguments, but is no zombie yet (S9).
func TestExitingProcessIsNoAgent(t *testing.T) {
	f := process0(100, 1000, "/h", "")
	f.Name = "claude"
	if got := claims(t, "/h", f); len(got) > 0 {
		t.Errorf("claims %+v", got)
	}
}

// A process that may not be read is listed; one that has ended is not.
func TestUnreadableProcess(t *testing.T) {
	f := process0(100, 1000, "/h", "/w")
	f.Name, f.Exe = "claude", "/opt/claude"
	denied := &fs.PathError{Op: "open", Path: "/proc/100/environ", Err: os.ErrPermission}
	for _, err := range []error{denied, proc.ErrUnsupported} {
		f.Err = err
		got := claims(t, t.TempDir(), f)
		if len(got) != 1 || got[0].Session != "" || got[0].Unreadable == "" {
			t.Errorf("%v: %+v", err, got)
		}
	}
	for _, err := range []error{proc.ErrGone, os.ErrNotExist, syscall.ESRCH} {
		f.Err = err
		if got := claims(t, t.TempDir(), f); len(got) != 0 {
			t.Errorf("%v: %+v", err, got)
		}
	}
}

// If the start of a process is unknown, no registry entry can be validated.
func TestRegistryEntryNeedsProcessStart(t *testing.T) {
	p := proc.Process{ID: proc.ID{PID: 100}, Name: "claude"}
	for _, start := range []string{"", "0", "Mon Jan  1 00:00:00 0001"} {
		e := registryEntry{PID: 100, SessionID: alive, ProcStart: start}
		if e.validate(p, 100) == nil {
			t.Errorf("procStart %q", start)
		}
	}
}

// macOS gives the start of a process as a date.
func TestProcStartOfMacOS(t *testing.T) {
	p := proc.Process{ID: proc.ID{PID: 100}, Started: time.Date(2026, 11, 5, 7, 8, 9, 123, time.FixedZone("", 3600))}
	e := registryEntry{PID: 100, SessionID: alive, ProcStart: "Thu Nov  5 06:08:09 2026"}
	if err := e.validate(p, 100); err != nil {
		t.Error(err)
	}
	p.Started = p.Started.Add(time.Second)
	if err := e.validate(p, 100); err == nil {
		t.Error("a second later is another process")
	}
}
