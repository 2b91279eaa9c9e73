package cli

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// MarkingStub is an agent that marks what its tools run.
type MarkingStub struct{ Stub }

// ReadMarker implements [discover.Marker].
func (MarkingStub) ReadMarker(getenv func(string) string) (discover.EnvMarker, bool) {
	id := getenv("THREAD")
	return discover.EnvMarker{Session: id}, id != ""
}

// MarkerKeys implements [discover.Marker].
func (MarkingStub) MarkerKeys() []string { return []string{"THREAD"} }

// IsAgentProcess implements [discover.Marker].
func (MarkingStub) IsAgentProcess(proc.Process) bool { return false }

// SharedProcess is a world of one codex process, 10, that runs the threads "boss", its sub-agents "hand" and "finger", and
// "other", all in one directory, which is where we are; the states are theirs, "" for none at all. We are below it,
// under a claude-code of our own if nested, or elsewhere if outside.
func SharedProcess(t *testing.T, states map[string]discover.TurnState, where string) (Factory, *Output) {
	t.Helper()
	f, out := testFactory(t)
	dir := t.TempDir()
	t.Chdir(dir)
	parents := map[string]int{"inside": 11, "nested": 31, "outside": 1}
	table := proc.NewFakeTable(Process(1, 0), Process(10, 1), Process(11, 10), Process(30, 11), Process(31, 30), Process(1000, parents[where]))
	f.ReadTable = func(context.Context) (*proc.Table, error) { return table, nil }
	codex := Stub{Agent: "codex", Bin: "codex", Home: "/h/codex"}
	add := func(s *Stub, pid int, r discover.Record) {
		id := proc.ID{PID: pid, Birth: "boot/1"}
		s.Records = append(s.Records, r)
		s.ClaimList = append(
			s.ClaimList, discover.Claim{Agent: s.Agent, Process: id, Home: s.Home},
			discover.Claim{Agent: s.Agent, Process: id, Home: s.Home, Session: r.ID, Path: r.Path, Strength: discover.Exact, Kind: "lock"},
		)
	}
	for id, parent := range map[string]string{"boss": "", "hand": "boss", "finger": "hand", "other": ""} {
		if state, ok := states[id]; ok {
			r := Record(id, dir, state, 0)
			r.Parent = parent
			add(&codex, 10, r)
		}
	}
	claude := Stub{Agent: "claude-code", Bin: "claude", Home: "/h/claude"}
	if where == "nested" {
		r := Record("inner", dir, discover.TurnOpen, 0)
		r.Agent, r.Home = "claude-code", "/h/claude"
		add(&claude, 30, r)
	}
	f.Adapters = []discover.Adapter{claude, MarkingStub{codex}}
	return f, out
}

// WithChildren makes the session aaaaaaaa-1 of testEnv a busy one: a tool below its process with a server, one process that
// may not be read, and below that the agent of another session.
func WithChildren(f Factory) Factory {
	shell, server, foreign, inner := Process(11, 10), Process(12, 11), Process(13, 10), Process(14, 13)
	shell.Arguments = []string{"sh", "-c", strings.Repeat("é", 300)}
	shell.ResourceUsage = proc.Usage{CPU: 100 * time.Millisecond, Memory: 1 << 20}
	server.Arguments, server.Ports = []string{"server", "--port", "3000"}, []int{3000}
	server.ResourceUsage = proc.Usage{CPU: 90 * time.Second, Memory: 3 << 20}
	foreign.Err, foreign.Name = fs.ErrPermission, "sudo"
	inner.ResourceUsage = proc.Usage{CPU: time.Hour, Memory: 1 << 30}
	table := proc.NewFakeTable(Process(1, 0), Process(10, 1), shell, server, foreign, inner, Process(20, 1), Process(1000, 1))
	codex := f.Adapters[1].(Stub)
	codex.ClaimList = append(codex.ClaimList, discover.Claim{
		Agent: "codex", Process: inner.ID, Session: "aaaaaaaa-2", Path: codex.Records[1].Path, Strength: discover.Exact,
	})
	f.Adapters = []discover.Adapter{f.Adapters[0], codex}
	f.ReadTable = func(context.Context) (*proc.Table, error) { return table, nil }
	return f
}

// WithOrphans is the world of testEnv, with three processes that are marked by threads of codex: one that a stopped session
// left behind, what that has started, and one of the live session.
func WithOrphans(t *testing.T) (Factory, *Output) {
	t.Helper()
	f, out := testFactory(t)
	server, child, tool := Process(30, 1), Process(31, 30), Process(32, 1)
	server.Arguments, server.Environ = []string{"/opt/serve", "-a\x1b[2J", "x"}, map[string]string{"THREAD": "aaaaaaaa-2"}
	server.Ports, server.Name = []int{3000, 8080}, "serve"
	server.ResourceUsage = proc.Usage{CPU: 90 * time.Second, Memory: 5 << 20}
	child.Name, tool.Environ = "child\x1b[2J", map[string]string{"THREAD": "aaaaaaaa-1"}
	table := proc.NewFakeTable(Process(1, 0), Process(10, 1), Process(11, 10), Process(20, 1), Process(21, 20), Process(1000, 11), server, child, tool)
	f.ReadTable = func(ctx context.Context) (*proc.Table, error) { return table, ctx.Err() }
	f.Adapters[1] = MarkingStub{f.Adapters[1].(Stub)}
	return f, out
}

// InRepository is the made-up world in a repository with the worktree "wt" on branch "fix" below it. Its sessions are
// elsewhere.
func InRepository(t *testing.T) (Factory, *Output) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	f, out := testFactory(t)
	f.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	for _, args := range []string{
		"init -q", "-c user.name=a -c user.email=a@example.com commit -q --allow-empty -m one", "worktree add -q wt -b fix",
	} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Env = f.Environ
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, text)
		}
	}
	return f, out
}
