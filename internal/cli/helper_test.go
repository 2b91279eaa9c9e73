// This file has what the commands are tested with: agents with made-up stores, and an environment that knows only them.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/proctest"
	"agentctl/tests/schema"
	"agentctl/tests/stub"
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
func SharedProcess(t *testing.T, states map[string]discover.TurnState, where string) (Env, *Output) {
	t.Helper()
	f, out := testEnv(t)
	dir := t.TempDir()
	t.Chdir(dir)
	parents := map[string]int{"inside": 11, "nested": 31, "outside": 1}
	table := proctest.NewTable(Process(1, 0), Process(10, 1), Process(11, 10), Process(30, 11), Process(31, 30), Process(1000, parents[where]))
	f.ReadTable = func(context.Context, bool) (*proc.Table, error) { return table, nil }
	codex := Stub{Agent: "codex", Bin: "codex", HomeList: []discover.Home{{Dir: "/h/codex", FromUser: true}}}
	add := func(s *Stub, pid int, r discover.Record) {
		id := proc.ID{PID: pid, Birth: "boot/1"}
		s.Records = append(s.Records, r)
		s.ClaimList = append(
			s.ClaimList, discover.Claim{Agent: s.Agent, Process: id, Home: r.Home},
			discover.Claim{Agent: s.Agent, Process: id, Home: r.Home, Session: r.ID, Path: r.Path, Strength: discover.Exact, Kind: "lock"},
		)
	}
	for id, parent := range map[string]string{"boss": "", "hand": "boss", "finger": "hand", "other": ""} {
		if state, ok := states[id]; ok {
			r := Record(id, dir, state, 0)
			r.Parent = parent
			add(&codex, 10, r)
		}
	}
	claude := Stub{Agent: "claude-code", Bin: "claude", HomeList: []discover.Home{{Dir: "/h/claude", FromUser: true}}}
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
func WithChildren(env Env) Env {
	shell, server, foreign, inner := Process(11, 10), Process(12, 11), Process(13, 10), Process(14, 13)
	shell.Arguments = []string{"sh", "-c", strings.Repeat("é", 300)}
	shell.ResourceUsage = proc.Usage{CPU: 100 * time.Millisecond, Memory: 1 << 20}
	server.Arguments, server.Ports = []string{"server", "--port", "3000"}, []int{3000}
	server.ResourceUsage = proc.Usage{CPU: 90 * time.Second, Memory: 3 << 20}
	foreign.Err, foreign.Name = fs.ErrPermission, "sudo"
	inner.ResourceUsage = proc.Usage{CPU: time.Hour, Memory: 1 << 30}
	table := proctest.NewTable(Process(1, 0), Process(10, 1), shell, server, foreign, inner, Process(20, 1), Process(1000, 1))
	codex := env.Adapters[1].(Stub)
	codex.ClaimList = append(codex.ClaimList, discover.Claim{
		Agent: "codex", Process: inner.ID, Session: "aaaaaaaa-2", Path: codex.Records[1].Path, Strength: discover.Exact,
	})
	env.Adapters = []discover.Adapter{env.Adapters[0], codex}
	env.ReadTable = func(context.Context, bool) (*proc.Table, error) { return table, nil }
	return env
}

// InRepository is the made-up world in a repository with the worktree "wt" on branch "fix" below it. Its sessions are
// elsewhere.
func InRepository(t *testing.T) (Env, *Output) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	f, out := testEnv(t)
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

// Now is the time of day in the tests.
func Now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// Stub is an agent whose store and processes are made up.
type Stub = stub.Adapter

// Process is a live process of the made-up table; the test itself is 1000.
func Process(pid, parent int) proctest.Process {
	return proctest.Process{Process: proc.Process{
		ID: proc.ID{PID: pid, Birth: "boot/1"}, Parent: parent, State: 'S', Started: Now().Add(-time.Hour),
	}}
}

// Record is a stored session of codex.
func Record(id, dir string, turn discover.TurnState, age time.Duration) discover.Record {
	return discover.Record{
		Agent: "codex", ID: id, Dir: dir, Home: "/h/codex", Path: "/h/codex/" + id + dir + ".jsonl",
		Title: "title of " + id, Updated: Now().Add(-age), Turn: discover.Turn{State: turn},
	}
}

// testEnv is a world of: aaaaaaaa-1 running in process 10; aaaaaaaa-2 stopped, completed; cccccccc stopped twice, in
// /w/a and /w/b; dddddddd stopped 30 days ago; process 20 of claude-code, which runs a session no one can name.
func testEnv(t *testing.T) (Env, *Output) {
	t.Helper()
	out := &Output{}
	table := proctest.NewTable(Process(1, 0), Process(10, 1), Process(11, 10), Process(20, 1), Process(21, 20), Process(1000, 11))
	live := Record("aaaaaaaa-1", t.TempDir(), discover.TurnOpen, time.Minute)
	codex := Stub{
		Agent: "codex", Bin: "codex", HomeList: []discover.Home{{Dir: "/h/codex", FromUser: true}},
		Records: []discover.Record{
			live,
			Record("aaaaaaaa-2", "/w/a", discover.TurnDone, time.Hour),
			Record("cccccccc", "/w/a", discover.TurnFailed, 2*time.Hour),
			Record("cccccccc", "/w/b", discover.TurnOpen, 3*time.Hour),
			Record("dddddddd", "/w/d", discover.TurnDone, 30*24*time.Hour),
		},
		ClaimList: []discover.Claim{
			{Agent: "codex", Process: proc.ID{PID: 10, Birth: "boot/1"}, Home: "/h/codex"},
			{
				Agent: "codex", Process: proc.ID{PID: 10, Birth: "boot/1"}, Home: "/h/codex", Session: live.ID, Path: live.Path,
				Strength: discover.Exact, Kind: "writer-lock", Detail: "/h/codex/lock",
			},
		},
	}
	claude := Stub{
		Agent: "claude-code", Bin: "claude", HomeList: []discover.Home{{Dir: "/h/claude", FromUser: true}},
		ClaimList: []discover.Claim{{Agent: "claude-code", Process: proc.ID{PID: 20, Birth: "boot/1"}, Home: "/h/claude"}},
	}
	vars := map[string]string{"HOME": t.TempDir()}
	return Env{
		Stdout: &out.Stdout, Stderr: &out.Stderr, Report: NewReporter(&out.Stderr),
		Getenv: func(k string) string { return vars[k] },
		Now:    Now, PID: 1000,
		Adapters:  []discover.Adapter{claude, codex},
		ReadTable: func(ctx context.Context, _ bool) (*proc.Table, error) { return table, ctx.Err() },
		CrossCheck: func(*proc.Table) (int, []proc.Difference, error) {
			return 7, []proc.Difference{{PID: 12, Name: "x) R 1", Text: "missing in go-ps"}}, nil
		},
	}, out
}

// Output is what a command has printed.
type Output struct{ Stdout, Stderr bytes.Buffer }

// Setenv adds to the environment.
func Setenv(env Env, pairs ...string) Env {
	old := env.Getenv
	env.Getenv = func(k string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == k {
				return pairs[i+1]
			}
		}
		return old(k)
	}
	return env
}

// StoreError is why the store of broken cannot be read whole.
func StoreError() error {
	return &discover.Warning{Agent: "codex", Path: "/h/codex/sessions", Err: errors.New("it is\x1b[2J broken")}
}

// Broken has a store that cannot be read whole.
func Broken(env Env) Env {
	s := env.Adapters[1].(Stub)
	s.Warning = StoreError()
	env.Adapters = []discover.Adapter{env.Adapters[0], s}
	return env
}

// Text is a message of an age.
func Text(id string, role discover.Role, text string, age time.Duration) discover.Message {
	return discover.Message{ID: id, Role: role, Kind: discover.KindText, Text: text, Time: Now().Add(-age)}
}

// Pending is the call of a shell that has no result.
func Pending(id, command string, age time.Duration) discover.Message {
	m := Text(id, discover.RoleAssistant, "", age)
	m.Kind, m.Model = discover.KindTool, "claude-opus-4-8"
	m.Tokens = &discover.Tokens{In: 100, Out: 20, CacheRead: 11, CacheWrite: 7, Total: 138}
	m.Tool = &discover.ToolCall{
		ID: id, Name: "Bash", Brief: command, Input: json.RawMessage(fmt.Sprintf(`{"command":%q}`, command)), State: discover.ToolOpen,
	}
	return m
}

// WithMessages is the made-up world, in which aaaaaaaa-1 runs and aaaaaaaa-2 has sub-agents.
func WithMessages(t *testing.T) (Env, *Output) {
	f, out := testEnv(t)
	s := f.Adapters[1].(Stub)
	s.Transcripts = map[string][]discover.Message{
		"aaaaaaaa-1": {
			Text("m1", discover.RoleUser, "make the tests pass", time.Hour),
			Text("m2", discover.RoleAssistant, "I run\nthem.\x1b[2J", 50*time.Minute),
			Pending("m3", "npm test", 49*time.Minute),
		},
		"aaaaaaaa-2": {Text("a", discover.RoleUser, "one", 9*time.Minute), Text("d", discover.RoleAssistant, "four", 6*time.Minute)},
		"eeeeeeee-1": {Text("b", discover.RoleUser, "two", 8*time.Minute), Text("c", discover.RoleAssistant, "three", 7*time.Minute)},
		"eeeeeeee-2": {Text("e", discover.RoleUser, "five", 5*time.Minute)},
		"dddddddd":   {Text("x", discover.RoleUser, "go", time.Minute), Pending("y", "sleep 9", time.Minute)},
	}
	for id, parent := range map[string]string{"eeeeeeee-1": "aaaaaaaa-2", "eeeeeeee-2": "eeeeeeee-1", "ffffffff": "dddddddd"} {
		r := Record(id, "/w/a", discover.TurnDone, time.Hour)
		r.Parent, r.Sub = parent, true
		s.Records = append(s.Records, r)
	}
	f.Adapters = []discover.Adapter{f.Adapters[0], s}
	return f, out
}

// Doc returns a page of the documentation.
func Doc(t *testing.T, name string) string {
	t.Helper()
	for _, top := range []string{"../..", "../../.."} {
		text, err := os.ReadFile(top + "/docs/" + name)
		if err == nil {
			return string(text)
		}
	}
	t.Fatalf("there is no docs/%s", name)
	return ""
}

// CheckSchema fails the test unless text is JSON that the schema's part takes.
func CheckSchema(t *testing.T, part, text string) {
	t.Helper()
	if err := schema.Check(part, text); err != nil {
		t.Error(err)
	}
}
