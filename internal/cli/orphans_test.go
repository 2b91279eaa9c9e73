package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"agentctl/proc"
)

// orphanEnv is the world of testEnv, with three processes that are marked by threads of codex: one that a stopped session
// left behind, what that has started, and one of the live session.
func orphanEnv(t *testing.T) (Env, *captured) {
	t.Helper()
	env, out := testEnv(t)
	server, child, tool := process(30, 1), process(31, 30), process(32, 1)
	server.Arguments, server.Environ = []string{"/opt/serve", "-a\x1b[2J", "x"}, map[string]string{"THREAD": "aaaaaaaa-2"}
	server.Ports, server.Name = []int{3000, 8080}, "serve"
	server.ResourceUsage = proc.Usage{CPU: 90 * time.Second, Memory: 5 << 20}
	child.Name, tool.Environ = "child\x1b[2J", map[string]string{"THREAD": "aaaaaaaa-1"}
	table := proc.NewFakeTable(process(1, 0), process(10, 1), process(11, 10), process(20, 1), process(21, 20), process(1000, 11), server, child, tool)
	env.Take = func(ctx context.Context) (*proc.Table, error) { return table, ctx.Err() }
	env.Adapters[1] = marking{env.Adapters[1].(stub)}
	return env, out
}

// list --orphans names the processes and their ports that dead sessions left behind.
func TestListOrphans(t *testing.T) {
	env, out := orphanEnv(t)
	if got := Run(t.Context(), env, "list", "--orphans"); got != 0 || out.stderr.Len() > 0 {
		t.Fatalf("exit %d, %s", got, out.stderr.String())
	}
	want := `PID  PPID  AGENT  SESSION     AGE    CPU   MEMORY  PORTS      COMMAND
 30     1  codex  aaaaaaaa-2   1h  1m30s  5.0 MiB  3000,8080  /opt/serve -a x
 31    30  codex  aaaaaaaa-2   1h   0.0s      0 B             child
`
	if out.stdout.String() != want {
		t.Errorf("got\n%s", out.stdout.String())
	}
	out.stdout.Reset()
	env.Width = 60
	if Run(t.Context(), env, "list", "--orphans"); !strings.Contains(out.stdout.String(), "  3000,8080  serve -a x\n") {
		t.Errorf("narrow:\n%s", out.stdout.String())
	}
	out.stdout.Reset()
	if Run(t.Context(), env, "ls", "--orphans", "-q"); out.stdout.String() != "30\n31\n" {
		t.Errorf("quiet: %q", out.stdout.String())
	}
	out.stdout.Reset()
	Run(t.Context(), env, "list", "--orphans", "--json")
	valid(t, "orphans", out.stdout.String())
	if !strings.Contains(out.stdout.String(), `"cpu":90,"memory":5242880,"ports":[3000,8080]`) {
		t.Errorf("%s", out.stdout.String())
	}
	out.stdout.Reset()
	if Run(t.Context(), env, "list", "--orphans", "--json", "--adapter", "claude-code"); out.stdout.String() != "[]\n" {
		t.Errorf("of another agent: %s", out.stdout.String())
	}
	codex := env.Adapters[1].(marking)
	codex.warning = storeError()
	env.Adapters[1] = codex
	if got := Run(t.Context(), env, "list", "--orphans"); got != 6 || !strings.Contains(out.stderr.String(), "warning: codex: ") {
		t.Errorf("with a store that cannot be read: exit %d, %s", got, out.stderr.String())
	}
}

func TestOrphansAreAskedFor(t *testing.T) {
	for _, tc := range []struct {
		args string
		exit int
		says string // on stderr
	}{
		{"list --orphans --all", 2, "--orphans and --all cannot be used together"},
		{"list --orphans --cwd .", 2, "--orphans and --cwd cannot be used together"},
		{"list --orphans -q --json", 2, "--json and --quiet cannot be used together"},
		{"list --orphans --adapter nobody", 2, "nobody"},
		{"stop --orphans aaaaaaaa-2", 2, "--orphans takes no IDs"},
		{"stop --orphans --all", 2, "--orphans takes no IDs"},
		{"stop --orphans", 2, "need --yes"},
		{"stop --orphans --adapter claude-code", 2, "need --yes"}, // though there is nothing to ask about today
		{"stop --orphans --adapter claude-code --yes", 0, "no orphaned processes found"},
		{"stop --orphans --dry-run", 0, ""},
	} {
		env, out := orphanEnv(t)
		if got := Run(t.Context(), env, strings.Fields(tc.args)...); got != tc.exit || !strings.Contains(out.stderr.String(), tc.says) {
			t.Errorf("%s: exit %d, %s", tc.args, got, out.stderr.String())
		}
	}
	env, out := orphanEnv(t)
	Run(t.Context(), env, "stop", "--orphans", "--dry-run")
	if want := "aaaaaaaa-2  would be stopped (SIGTERM to pid 30, SIGTERM to pid 31)\n"; out.stdout.String() != want {
		t.Errorf("%s", out.stdout.String())
	}
	out.stdout.Reset()
	Run(t.Context(), env, "stop", "--orphans", "--dry-run", "--json")
	valid(t, "stops", out.stdout.String())
	env.Terminal, env.Stdin = true, strings.NewReader("n\n")
	if got := Run(t.Context(), env, "stop", "--orphans"); got != 8 || !strings.Contains(out.stderr.String(), "end these? [y/N] ") ||
		!strings.Contains(out.stderr.String(), "/opt/serve") {
		t.Errorf("exit %d, %s", got, out.stderr.String())
	}
}
