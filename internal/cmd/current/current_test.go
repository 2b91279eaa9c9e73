package current_test

import (
	"strings"
	"testing"

	"agentctl/internal/cmd"
	"agentctl/tests/cmdtest"
)

// Neither whether a session lives, nor which one this is, takes a look at processes.
func TestAliveAndCurrentShowNoProcesses(t *testing.T) {
	f, out := cmdtest.New(t)
	f = cmdtest.WithChildren(f)
	if got := cmd.Run(t.Context(), f, "status", "aaaaaaaa-1", "--alive"); got != 0 || out.Stdout.Len() > 0 {
		t.Errorf("exit %d: %s", got, out.Stdout.String())
	}
	f.PID = 12
	if got := cmd.Run(t.Context(), f, "current", "--json"); got != 0 || strings.Contains(out.Stdout.String(), "processes") {
		t.Errorf("exit %d: %s", got, out.Stdout.String())
	}
}

func TestCurrent(t *testing.T) {
	for pid, tc := range map[int]struct {
		exit        int
		stdout, err string
	}{
		1000: {0, "aaaaaaaa-1\n", ""},
		21:   {8, "", "agentctl: error: this is inside claude-code, but no evidence names the session\n"},
		1:    {8, "", "agentctl: error: this is not inside a session\n"},
	} {
		f, out := cmdtest.New(t)
		f.PID = pid
		if got := cmd.Run(t.Context(), f, "current", "-q"); got != tc.exit || out.Stdout.String() != tc.stdout || out.Stderr.String() != tc.err {
			t.Errorf("pid %d: exit %d, %q, %q", pid, got, out.Stdout.String(), out.Stderr.String())
		}
	}
}
