package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"agentctl/proc"
)

// A guard that cannot see lets nothing pass, and says why; one that misses a part of the stores does.
func TestGuardFailsClosed(t *testing.T) {
	t.Chdir(t.TempDir())
	env, out := testEnv(t)
	if got := Run(t.Context(), env, "guard"); got != exitOK {
		t.Fatalf("exit %d, %s", got, out.stderr.String())
	}
	env.Take = func(context.Context) (*proc.Table, error) { return nil, errors.New("no /proc here") }
	if got := Run(t.Context(), env, "guard"); got != exitPartial || !strings.Contains(out.stderr.String(), "no /proc here") {
		t.Errorf("blind: exit %d, %s", got, out.stderr.String())
	}
	env, out = testEnv(t)
	if got := Run(t.Context(), broken(env), "guard"); got != exitOK {
		t.Errorf("a store that is broken: exit %d, %s", got, out.stderr.String())
	}
}
