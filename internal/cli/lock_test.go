package cli

import (
	"strings"
	"testing"

	"agentctl/discover"
)

// A sub-agent's lock is the session's.
func TestLockOfASubAgent(t *testing.T) {
	f, out := SharedProcess(t, map[string]discover.TurnState{"boss": discover.TurnOpen, "hand": discover.TurnOpen}, "inside")
	for _, step := range []struct {
		mark, args string
		exit       int
	}{
		{"hand", "lock .", ExitOK},
		{"boss", "guard", ExitOK},
		{"boss", "lock .", ExitConflict},
		{"boss", "unlock .", ExitOK},
		{"boss", "lock . --by hand", ExitOK},
		{"hand", "unlock .", ExitConflict},
		{"hand", "unlock . --by hand", ExitOK},
	} {
		if exit := Run(t.Context(), Setenv(f, "THREAD", step.mark), strings.Fields(step.args)...); exit != step.exit {
			t.Errorf("%s: agentctl %s: exit %d\n%s", step.mark, step.args, exit, out.Stderr.String())
		}
	}
	if !strings.Contains(out.Stderr.String(), "locked by codex/boss since") {
		t.Errorf("%s", out.Stderr.String())
	}
}

// A span that is none is wrong usage before anything is looked at, and the error says what is wanted.
func TestDurationFlags(t *testing.T) {
	for _, args := range []string{
		"launch codex -p x --timeout 0", "launch codex -p x --timeout=-1s", "launch codex -p x --wait --max-time 5",
		"resume aaaaaaaa-2 x --timeout 0", "wait aaaaaaaa-1 --timeout 5", "stop aaaaaaaa-1 --timeout 0s", "stop --older-than 0d", "lock . --for 0",
	} {
		f, out := testEnv(t)
		if got := Run(t.Context(), f, strings.Fields(args)...); got != ExitUsage || !strings.Contains(out.Stderr.String(), "use a duration such as 90s, 30m, 1h30m, 2d or 1w") {
			t.Errorf("%s: exit %d, %s", args, got, out.Stderr.String())
		}
	}
}

// A command that is an empty variable of a script's leaves no lock behind.
func TestLockWithoutItsCommand(t *testing.T) {
	f, out := testEnv(t)
	if got := Run(t.Context(), f, "lock", t.TempDir(), "--"); got != ExitUsage || !strings.Contains(out.Stderr.String(), "no command follows --") {
		t.Errorf("exit %d, %s", got, out.Stderr.String())
	}
	out.Stdout.Reset()
	if Run(t.Context(), f, "locks", "--json"); strings.Contains(out.Stdout.String(), "declared") {
		t.Error(out.Stdout.String())
	}
}
