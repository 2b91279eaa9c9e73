package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/internal/cli"
	"agentctl/tests/extent"
	"agentctl/tests/realagents/term"
	"agentctl/tests/sandbox"
)

func TestMain(m *testing.M) {
	// The test binary is all programs: testscript puts links to it into PATH, so that a fake's /proc/PID/exe ends in the
	// agent's own name.
	commands := map[string]func(){
		"agentctl":             func() { os.Exit(cli.Main(os.Args, cli.NewEnv("v0.0.0-test"))) },
		"claude":               func() { runFake(newClaude()) },
		"codex":                func() { manageCodex(); serveQueue(); runFake(newCodex()) },
		"opencode":             func() { beOpenCode2(); manageOpenCode(); runFake(newOpenCode()) },
		"sample":               func() { runFake(&sample{home: home("", ".sample")}) },
		"agentctl-with-sample": agentctlWithSample,
		"decoy":                func() { serve(decoy{}) },
		"interrupted":          interrupted,
		"listen":               func() { os.Exit(listen(os.Args[1])) },
		"stored":               func() { os.Exit(stored(os.Args[1])) },
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if program := filepath.Base(self); commands[program] != nil {
		os.Args[0] = program // a decoy's says something else
	} else if code, ran := enter(); ran {
		os.Exit(code)
	}
	testscript.Main(m, commands)
}

// enter sees to it that the only agents to be seen are the tests' own.
func enter() (code int, ran bool) {
	if code, ran = sandbox.Enter(sandbox.Processes); ran {
		return code, ran
	}
	if err := becomeSubreaper(); err != nil {
		fmt.Fprintln(os.Stderr, "adopting orphans:", err)
		return 1, true
	}
	return 0, false
}

// scriptTimeout is the deadline of a script, and so of each step of it: far above what any script takes, so that a busy machine is no
// failure.
const scriptTimeout = 4 * time.Minute

func TestScripts(t *testing.T) { run(t, scripts("testdata")) }

// onlyScript is, in the environment, the script that this process is to run.
const onlyScript = "AGENTCTL_TEST_SCRIPT"

// run runs each script of a directory in a process of its own, with a process table of its own. Where there is none, the scripts run one after
// the other, since they all look at one process table.
func run(t *testing.T, p testscript.Params) {
	if script := os.Getenv(onlyScript); script != "" {
		p.Dir, p.Files = "", []string{script}
		if !runScript(serial{t}, p, scriptTimeout) {
			t.Errorf("%s had not ended after %s, and its processes were killed", script, scriptTimeout)
		}
		return
	}
	files, err := filepath.Glob(filepath.Join(p.Dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	test := t.Name()
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			if sandbox.Inside() {
				t.Parallel()
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.v")
			cmd.Env = append(sandbox.Nested(os.Environ()), onlyScript+"="+file)
			out, err := cmd.CombinedOutput()
			switch {
			case err != nil:
				t.Errorf("%v\n%s", err, out)
			case bytes.Contains(out, []byte("--- SKIP: ")):
				t.Skipf("%s", out)
			case testing.Verbose():
				t.Logf("%s", out)
			}
		})
	}
}

// serial runs a script at once.
type serial struct{ *testing.T }

func (s serial) Parallel() {}
func (s serial) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(serial{t}) })
}
func (s serial) Verbose() bool { return testing.Verbose() }

// runScript runs scripts with a deadline, and reports whether they ended in time. A step that hangs is first asked for its goroutines:
// testscript sends SIGQUIT. But testscript waits for whoever holds the step's output, without end: at the deadline all processes below this one
// are killed, whatever group, session or pid namespace they are in.
func runScript(t testscript.T, p testscript.Params, timeout time.Duration) (inTime bool) {
	p.Deadline = time.Now().Add(timeout)
	killed := make(chan struct{})
	kill := time.AfterFunc(timeout, func() {
		defer close(killed)
		_ = killChildren() // the script fails in any case
	})
	defer func() {
		if inTime = kill.Stop(); !inTime {
			<-killed
		}
	}()
	testscript.RunT(t, p)
	return true
}

// scripts are the parameters for the scripts in a directory.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
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
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each child of a -race run takes a second to end
			env.Values[hostsKey{}] = newMachines(env)
			env.Values[fakesKey{}] = newFakes(env)
			env.Values[screenKey{}] = new(*term.Terminal)
			return os.WriteFile(filepath.Join(env.WorkDir, "repo/.git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644)
		},
		Cmds: scriptCommands(),
		Condition: func(name string) (bool, error) {
			switch name {
			case "binds":
				return binds(), nil
			case "unpackable":
				return unpackable(), nil
			case "installable":
				return installable(), nil
			case "all":
				return extent.All(), nil
			case "machines":
				return machinesAllowed()
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	}
}

// A step ends by its deadline though its child keeps stdout open, in a kernel session of its own.
func TestStepEndsByItsDeadline(t *testing.T) {
	file := filepath.Join(t.TempDir(), "step.txtar")
	if err := os.WriteFile(file, []byte("exec sh -c 'sleep 1000 & exec setsid sleep 1000'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Not as a subtest, which would fail.
	if runScript(quiet{t}, testscript.Params{Files: []string{file}}, time.Second) {
		t.Error("the step ended before its deadline")
	}
}

// quiet runs a script of which a failure is expected.
type quiet struct{ *testing.T }

func (q quiet) Parallel()     {}
func (q quiet) Verbose() bool { return false }
func (q quiet) FailNow()      { panic(failed{}) }
func (q quiet) Fatal(...any)  { panic(failed{}) }
func (q quiet) Run(_ string, f func(testscript.T)) {
	defer func() {
		if r := recover(); r != nil && r != any(failed{}) {
			panic(r)
		}
	}()
	f(q)
}

type failed struct{}
