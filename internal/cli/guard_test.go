package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

// A guard that cannot see lets nothing pass, and says why; one that misses a part of the stores does.
func TestGuardFailsClosed(t *testing.T) {
	t.Chdir(t.TempDir())
	f, out := testEnv(t)
	if got := Run(t.Context(), f, "guard"); got != ExitOK {
		t.Fatalf("exit %d, %s", got, out.Stderr.String())
	}
	f.ReadTable = func(context.Context) (*proc.Table, error) { return nil, errors.New("no /proc here") }
	if got := Run(t.Context(), f, "guard"); got != ExitPartial || !strings.Contains(out.Stderr.String(), "no /proc here") {
		t.Errorf("blind: exit %d, %s", got, out.Stderr.String())
	}
	f, out = testEnv(t)
	if got := Run(t.Context(), Broken(f), "guard"); got != ExitOK {
		t.Errorf("a store that is broken: exit %d, %s", got, out.Stderr.String())
	}
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
			f, out := SharedProcess(t, tc.states, tc.where)
			want := ExitOK
			if strings.HasPrefix(tc.says, "error") {
				want = ExitConflict
			}
			exit := Run(t.Context(), Setenv(f, "THREAD", tc.mark), "guard")
			said := out.Stderr.String()
			if exit != want || strings.Contains(said, "more") || tc.says == "" && said != "" ||
				!strings.Contains(said, tc.says) || strings.Count(said, "agentctl: error") > 1 {
				t.Errorf("exit %d, want %d and %q:\n%s", exit, want, tc.says, said)
			}
		})
	}
}
