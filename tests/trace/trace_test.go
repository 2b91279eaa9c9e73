//go:build linux && (amd64 || arm64)

package trace_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/must"
	"agentctl/tests/trace"
)

func run(t *testing.T, cmd *exec.Cmd) trace.Result {
	t.Helper()
	r, err := trace.Run(cmd)
	must.Do(t, err)
	return r
}

func TestEveryChangeIsSeenAndReadingIsNone(t *testing.T) {
	for _, a := range actions() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			must.Do(t, err)
			dir = filepath.Join(dir, "home")
			must.Do(t, os.MkdirAll(dir+"/dir", 0o700))
			must.Do(t, os.WriteFile(dir+"/file", []byte("hello"), 0o600))
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

// A call is of the program that the process runs when it makes the call: also before and after it becomes another one.
func TestCallsOfAProgram(t *testing.T) {
	dir := t.TempDir()
	shell, err := filepath.EvalSymlinks("/bin/sh")
	must.Do(t, err)
	touch, err := exec.LookPath("touch")
	if err == nil {
		touch, err = filepath.EvalSymlinks(touch)
	}
	must.Do(t, err)
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

// A command that is killed at a call has not made it.
func TestKill(t *testing.T) {
	const script = "touch a; (touch b; touch c); touch d; true"
	for kill, want := range map[bool]string{false: "a b c d", true: "a"} {
		dir := t.TempDir()
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Dir = dir
		r, err := trace.Kill(cmd, func(c trace.Call) bool { return kill && c.Effect == trace.Create && c.Path == filepath.Join(dir, "b") })
		if err != nil || r.Exit != map[bool]int{true: 128 + int(syscall.SIGKILL)}[kill] {
			t.Errorf("%v: exit %d, %v", kill, r.Exit, err)
		}
		var got []string
		list, err := os.ReadDir(dir)
		must.Do(t, err)
		for _, d := range list {
			got = append(got, d.Name())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v: %v, want %s", kill, got, want)
		}
	}
}
