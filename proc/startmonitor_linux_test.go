package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestStartMonitor: a process is returned once when it starts, and once more when it executes another program.
func TestStartMonitor(t *testing.T) {
	var r StartMonitor
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if all := call(t, &r); !slices.Contains(all, self) {
		t.Errorf("we are not among all: %v", all)
	}
	sh := copyOf(t, "/bin/sh", "its-own-shell")
	sleep := copyOf(t, "/bin/sleep", "its-own-sleep")
	cmd := exec.Command(sh, "-c", "echo; read x; exec "+sleep+" 1000")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil { // it runs
		t.Fatal(err)
	}
	if fresh := call(t, &r); !slices.Contains(fresh, sh) || slices.Contains(fresh, self) {
		t.Errorf("%v", fresh)
	}
	for range newCalls {
		if fresh := call(t, &r); slices.Contains(fresh, sh) {
			t.Errorf("once more: %v", fresh)
		}
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	for inspect(t, cmd.Process.Pid).Exe != sleep {
		runtime.Gosched()
	}
	told := 0
	for range newCalls {
		if slices.Contains(call(t, &r), sleep) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("another program: told %d times", told)
	}
}

func call(t *testing.T, r *StartMonitor) []string {
	t.Helper()
	fresh, err := r.Poll()
	if err != nil {
		t.Fatal(err)
	}
	return fresh
}

// copyOf is a program under another name, so that nobody else runs it.
func copyOf(t *testing.T, program, name string) string {
	t.Helper()
	raw, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, raw, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
