//go:build linux && (amd64 || arm64)

package trace_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agentctl/tests/trace"
)

func run(t *testing.T, cmd *exec.Cmd) trace.Result {
	t.Helper()
	r, err := trace.Run(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryChangeIsSeenAndReadingIsNone(t *testing.T) {
	for _, a := range actions() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir = filepath.Join(dir, "home")
			if err := os.MkdirAll(dir+"/dir", 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir+"/file", []byte("hello"), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "TRACE_ACTION="+a.name, "TRACE_DIR="+dir, "GORACE=atexit_sleep_ms=0")
			cmd.Stderr = &out
			r := run(t, cmd)
			if r.Exit != 0 {
				t.Fatalf("exit %d: %s", r.Exit, out.String())
			}
			changes := r.Changes(dir)
			if a.effect == "" {
				if len(changes) > 0 {
					t.Errorf("reported as changes: %+v", changes)
				}
				if len(r.Below(dir)) == 0 {
					t.Error("nothing seen below the folder at all")
				}
				return
			}
			if !slices.ContainsFunc(changes, func(c trace.Call) bool {
				return c.Effect == a.effect && c.Path == filepath.Join(dir, a.path)
			}) {
				t.Errorf("no %s of %s in %+v", a.effect, a.path, changes)
			}
		})
	}
}

func TestReadingIsCounted(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const size = 300_000
	if err := os.WriteFile(dir+"/big", bytes.Repeat([]byte("x"), size), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.Command("cat", dir+"/big")
	cmd.Stdout = &out
	r := run(t, cmd)
	if out.Len() != size {
		t.Errorf("the traced command put out %d bytes", out.Len())
	}
	calls := r.Below(dir)
	if n := trace.BytesRead(calls); n != size {
		t.Errorf("%d bytes read, want %d", n, size)
	}
	if got := trace.Opened(calls); !slices.Equal(got, []string{dir + "/big"}) {
		t.Errorf("opened %q", got)
	}
	if r.PeakRSS < 100<<10 || r.PeakRSS > 1<<30 {
		t.Errorf("peak of resident memory: %d bytes", r.PeakRSS)
	}
}

func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		script string
		exit   int
	}{{"exit 0", 0}, {"exit 7", 7}, {"kill -KILL $$", 128 + 9}, {"(exit 3) & exit 4", 4}, {"kill -STOP $$; exit 5", 5}} { // the last: a tracer restarts what a signal stopped
		cmd := exec.Command("/bin/sh", "-c", c.script)
		if r := run(t, cmd); r.Exit != c.exit {
			t.Errorf("%s: exit %d, want %d", c.script, r.Exit, c.exit)
		}
	}
}

func TestCommandThatCannotStart(t *testing.T) {
	if _, err := trace.Run(exec.Command(t.TempDir() + "/missing")); err == nil {
		t.Error("no error")
	}
}

func TestContextEndsTheCommand(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "echo started; exec sleep 1000")
	cmd.Stdout = out
	go func() {
		_, _ = in.Read(make([]byte, 1))
		cancel()
	}()
	r, _ := trace.Run(cmd)
	out.Close()
	if r.Exit != 128+9 {
		t.Errorf("exit %d", r.Exit)
	}
}

// A call is of the program that the process runs when it makes the call: also before and after it becomes another one.
func TestCallsOfAProgram(t *testing.T) {
	dir := t.TempDir()
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	touch, err := exec.LookPath("touch")
	if err == nil {
		touch, err = filepath.EvalSymlinks(touch)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, exec.Command("/bin/sh", "-c", `: >"$0/a"; touch "$0/b"; exec touch "$0/c"`, dir))
	for program, want := range map[string][]string{shell: {"a"}, touch: {"b", "c"}, "/other": nil} {
		var got []string
		for _, c := range r.Of(program).Changes(dir) {
			if c.Effect == trace.Create {
				got = append(got, filepath.Base(c.Path))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has made %q, want %q", program, got, want)
		}
	}
}

// Tracers wait for their own processes only, whatever else the program starts meanwhile.
func TestTracersLeaveOtherChildrenAlone(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				if r, err := trace.Run(exec.Command("/bin/sh", "-c", "/bin/true; exit 6")); err != nil || r.Exit != 6 {
					t.Errorf("traced: exit %d, %v", r.Exit, err)
				}
			}
		})
		wg.Go(func() {
			for range 20 {
				if err := exec.Command("true").Run(); err != nil {
					t.Errorf("untraced: %v", err)
				}
			}
		})
	}
	wg.Wait()
}

func TestCountIsTheSameTwice(t *testing.T) {
	dir := t.TempDir()
	count := func() int { return len(run(t, exec.Command("ls", dir)).Calls) }
	if a, b := count(), count(); a != b || a < 20 {
		t.Errorf("%d and %d calls", a, b)
	}
}

// Who is killed at a call has not made it; who is not goes on.
func TestKill(t *testing.T) {
	const script = "touch a; (touch b; touch c); touch d; true"
	for who, want := range map[trace.Victims]string{trace.Nobody: "a b c d", trace.Caller: "a c d", trace.Everybody: "a"} {
		dir := t.TempDir()
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Dir = dir
		r, err := trace.Kill(cmd, func(c trace.Call) trace.Victims {
			if c.Effect == trace.Create && c.Path == filepath.Join(dir, "b") {
				return who
			}
			return trace.Nobody
		})
		if err != nil || r.Exit != map[trace.Victims]int{trace.Everybody: 128 + int(syscall.SIGKILL)}[who] {
			t.Errorf("%v: exit %d, %v", who, r.Exit, err)
		}
		var got []string
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			got = append(got, d.Name())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v: %v, want %s", who, got, want)
		}
	}
}
