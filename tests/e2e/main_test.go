package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/internal/cli"
)

func TestMain(m *testing.M) {
	// The test binary is all programs: testscript puts links to it into PATH, so that a fake's /proc/PID/exe ends in the
	// agent's own name.
	commands := map[string]func(){
		"agentctl": func() { os.Exit(cli.Main(os.Args, cli.System("v0.0.0-test"))) },
		"claude":   func() { serve(newClaude()) },
		"codex":    func() { serve(newCodex()) },
		"opencode": func() { serve(newOpenCode()) },
		"decoy":    func() { serve(decoy{}) },
	}
	if commands[filepath.Base(os.Args[0])] == nil && os.Getenv(insideKey) == "" {
		if code, ok := isolated(); ok {
			os.Exit(code)
		}
		fmt.Fprintln(os.Stderr, "note: no private pid namespace here: agents that run on this machine would disturb these tests")
	}
	testscript.Main(m, commands)
}

// serial runs one script after the other: they all look at one process table.
type serial struct{ *testing.T }

func (s serial) Parallel() {}
func (s serial) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(serial{t}) })
}
func (s serial) Verbose() bool { return testing.Verbose() }

func TestScripts(t *testing.T) {
	testscript.RunT(serial{t}, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for _, dir := range []string{"home", "repo/.git", "repo/sub", "other"} {
				if err := os.MkdirAll(filepath.Join(env.WorkDir, dir), 0o755); err != nil {
					return err
				}
			}
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", "atexit_sleep_ms=10") // else each child of a -race run takes a second to end
			env.Values[castKey{}] = newCast(env)
			return os.WriteFile(filepath.Join(env.WorkDir, "repo/.git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644)
		},
		Cmds: steering(),
	})
}
