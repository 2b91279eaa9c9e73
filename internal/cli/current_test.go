package cli

import (
	"testing"
)

func TestCurrent(t *testing.T) {
	for pid, tc := range map[int]struct {
		exit        int
		stdout, err string
	}{
		1000: {0, "aaaaaaaa-1\n", ""},
		21:   {8, "", "agentctl: error: running inside claude-code, but no evidence names the session\n"},
		1:    {8, "", "agentctl: error: not running inside an agent session\n"},
	} {
		f, out := testEnv(t)
		f.PID = pid
		if got := Run(t.Context(), f, "current", "-q"); got != tc.exit || out.Stdout.String() != tc.stdout || out.Stderr.String() != tc.err {
			t.Errorf("pid %d: exit %d, %q, %q", pid, got, out.Stdout.String(), out.Stderr.String())
		}
	}
}
