package proc

import (
	"errors"
	"os/exec"
	"testing"
)

// TestProcessThatExecutedAnotherProgram: a process that has executed another program since the table was read returns no
// facts for the earlier one.
func TestProcessThatExecutedAnotherProgram(t *testing.T) {
	for range 20 {
		becomesAnother(t)
	}
}

func becomesAnother(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read x; exec sleep 1000")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	before := inspect(t, cmd.Process.Pid)
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	now := before
	for now.Exe == before.Exe {
		now = inspect(t, cmd.Process.Pid)
	}
	if now.ID != before.ID {
		t.Fatalf("%v is not %v", now.ID, before.ID)
	}
	if args, err := before.Args(); !errors.Is(err, ErrGone) {
		t.Errorf("arguments %q, %v", args, err)
	}
	if _, err := before.Cwd(); !errors.Is(err, ErrGone) {
		t.Errorf("directory: %v", err)
	}
	if used, err := before.Usage(); !errors.Is(err, ErrGone) {
		t.Errorf("usage %+v, %v", used, err)
	}
}
