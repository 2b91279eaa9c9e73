package cli

import (
	"strings"
	"testing"
	"time"

	"agentctl/discover"
)

// A table that is longer than the terminal goes through the pager.
func TestLongListIsPaged(t *testing.T) {
	for args, want := range map[string]bool{
		"list -a --since all": true, "list -a --wide": true, "list": false, "list -a --no-pager": false, "list -a -q": false, "list -a --json": false,
	} {
		env, out := testEnv(t)
		env.Width, env.Height, env.Environ = 80, 4, []string{"PATH=/usr/bin:/bin", "PAGER=sed 's/^/paged /'"}
		if got := Run(t.Context(), env, strings.Fields(args)...); got != 0 || strings.HasPrefix(out.stdout.String(), "paged ID") != want {
			t.Errorf("%s: exit %d\n%s%s", args, got, out.stdout.String(), out.stderr.String())
		}
	}
}

// In the table the sessions that wait for the person come first; JSON keeps the order of activity.
func TestListWaitingFirst(t *testing.T) {
	for args, want := range map[string]int{"list -a": 1, "list -a --wide": 1, "list -a -q": 2} {
		env, out := testEnv(t)
		codex := env.Adapters[1].(stub)
		codex.records[0].Turn, codex.records[0].Updated = discover.Turn{State: discover.TurnWaiting, WaitingFor: "question"}, now().Add(-90*time.Minute)
		Run(t.Context(), env, strings.Fields(args)...)
		lines := strings.Split(out.stdout.String(), "\n")
		if want == 1 != strings.HasPrefix(lines[1], "aaaaaaaa-1 ") {
			t.Errorf("%s:\n%s", args, out.stdout.String())
		}
	}
}
