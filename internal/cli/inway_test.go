package cli

import (
	"context"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

// marking is an agent that marks what its tools run.
type marking struct{ stub }

func (marking) ReadMarker(getenv func(string) string) (discover.EnvMarker, bool) {
	id := getenv("THREAD")
	return discover.EnvMarker{Session: id}, id != ""
}

func (marking) MarkerKeys() []string { return []string{"THREAD"} }

func (marking) IsAgentProcess(proc.Process) bool { return false }

// sharedEnv is a world of one codex process, 10, that runs the threads "boss", its sub-agents "hand" and "finger", and
// "other", all in one directory, which is where we are; the states are theirs, "" for none at all. We are below it,
// under a claude-code of our own if nested, or elsewhere if outside.
func sharedEnv(t *testing.T, states map[string]discover.TurnState, where string) (Env, *captured) {
	t.Helper()
	env, out := testEnv(t)
	dir := t.TempDir()
	t.Chdir(dir)
	parents := map[string]int{"inside": 11, "nested": 31, "outside": 1}
	table := proc.NewFakeTable(process(1, 0), process(10, 1), process(11, 10), process(30, 11), process(31, 30), process(1000, parents[where]))
	env.Take = func(context.Context) (*proc.Table, error) { return table, nil }
	codex := stub{name: "codex", program: "codex", home: "/h/codex"}
	add := func(s *stub, pid int, r discover.Record) {
		id := proc.ID{PID: pid, Birth: "boot/1"}
		s.records = append(s.records, r)
		s.claims = append(
			s.claims, discover.Claim{Agent: s.name, Process: id, Home: s.home},
			discover.Claim{Agent: s.name, Process: id, Home: s.home, Session: r.ID, Path: r.Path, Strength: discover.Exact, Kind: "lock"},
		)
	}
	for id, parent := range map[string]string{"boss": "", "hand": "boss", "finger": "hand", "other": ""} {
		if state, ok := states[id]; ok {
			r := record(id, dir, state, 0)
			r.Parent = parent
			add(&codex, 10, r)
		}
	}
	claude := stub{name: "claude-code", program: "claude", home: "/h/claude"}
	if where == "nested" {
		r := record("inner", dir, discover.TurnOpen, 0)
		r.Agent, r.Home = "claude-code", "/h/claude"
		add(&claude, 30, r)
	}
	env.Adapters = []discover.Adapter{claude, marking{codex}}
	return env, out
}

// A session is never in its own way, whichever of its sub-agents calls; another thread of the same process is.
func TestGuardInASharedProcess(t *testing.T) {
	const open, done = discover.TurnOpen, discover.TurnDone
	for name, tc := range map[string]struct {
		states map[string]discover.TurnState
		where  string
		mark   string
		says   string // "" for exit 0 and silence
	}{
		"itself":                   {map[string]discover.TurnState{"boss": open}, "inside", "boss", ""},
		"without a mark":           {map[string]discover.TurnState{"boss": open}, "inside", "", ""},
		"its sub-agent":            {map[string]discover.TurnState{"boss": open, "hand": open}, "inside", "boss", ""},
		"its sub-agent alone":      {map[string]discover.TurnState{"boss": done, "hand": open}, "inside", "boss", ""},
		"who it works for":         {map[string]discover.TurnState{"boss": open, "hand": open}, "inside", "hand", ""},
		"who that one works for":   {map[string]discover.TurnState{"boss": open, "hand": open, "finger": open}, "inside", "finger", ""},
		"another thread":           {map[string]discover.TurnState{"boss": open, "other": open}, "inside", "boss", "error: codex other (pid 10, since"},
		"another one of a hand's":  {map[string]discover.TurnState{"boss": open, "hand": open, "other": open}, "inside", "hand", "error: codex other (pid"},
		"another one, idle":        {map[string]discover.TurnState{"boss": open, "other": done}, "inside", "boss", "warning: codex other"},
		"a nested agent":           {map[string]discover.TurnState{"boss": open}, "nested", "boss", ""},
		"from outside":             {map[string]discover.TurnState{"boss": open, "hand": open}, "outside", "", "error: codex boss (pid 10"},
		"a mark from elsewhere":    {map[string]discover.TurnState{"boss": open}, "outside", "boss", "error: codex boss (pid 10"},
		"a sub-agent at work":      {map[string]discover.TurnState{"boss": done, "hand": open}, "outside", "", "error: codex hand (pid 10"},
		"all idle, the boss tells": {map[string]discover.TurnState{"boss": done, "hand": done}, "outside", "", "warning: codex boss"},
	} {
		t.Run(name, func(t *testing.T) {
			env, out := sharedEnv(t, tc.states, tc.where)
			want := exitOK
			if strings.HasPrefix(tc.says, "error") {
				want = exitConflict
			}
			exit := Run(t.Context(), setenv(env, "THREAD", tc.mark), "guard")
			said := out.stderr.String()
			if exit != want || strings.Contains(said, "more") || tc.says == "" && said != "" ||
				!strings.Contains(said, tc.says) || strings.Count(said, "agentctl: error") > 1 {
				t.Errorf("exit %d, want %d and %q:\n%s", exit, want, tc.says, said)
			}
		})
	}
}

// A sub-agent's lock is the session's.
func TestLockOfASubAgent(t *testing.T) {
	env, out := sharedEnv(t, map[string]discover.TurnState{"boss": discover.TurnOpen, "hand": discover.TurnOpen}, "inside")
	for _, step := range []struct {
		mark, args string
		exit       int
	}{
		{"hand", "lock .", exitOK},
		{"boss", "guard", exitOK},
		{"boss", "lock .", exitConflict},
		{"boss", "unlock .", exitOK},
		{"boss", "lock . --by hand", exitOK},
		{"hand", "unlock .", exitConflict},
		{"hand", "unlock . --by hand", exitOK},
	} {
		if exit := Run(t.Context(), setenv(env, "THREAD", step.mark), strings.Fields(step.args)...); exit != step.exit {
			t.Errorf("%s: agentctl %s: exit %d\n%s", step.mark, step.args, exit, out.stderr.String())
		}
	}
	if !strings.Contains(out.stderr.String(), "locked by codex/boss since") {
		t.Errorf("%s", out.stderr.String())
	}
}
