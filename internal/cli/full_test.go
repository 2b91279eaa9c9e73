package cli

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Whatever prints fails if that cannot be written: every help, and every command that has an answer without an agent.
func TestFullDisk(t *testing.T) {
	lines := []string{
		"", "help", "--help", "--version", "version", "version --json", "schema", "skill", "completion bash", "completion zsh", "completion fish",
		"doctor", "doctor --json", "metrics", "list", "list --json", "list -a --since all -q", "list --wide", "list --format {{.id}}",
		"list --orphans --json", "status aaaaaaaa-1", "status aaaaaaaa-1 --json", "status aaaaaaaa-1 --explain", "peek aaaaaaaa-2 --json",
		"logs aaaaaaaa-2 --json", "current", "current -q", "locks --json", "stop aaaaaaaa-2", "stop aaaaaaaa-2 --json",
		"events --initial", "wait aaaaaaaa-2", "wait aaaaaaaa-2 --json",
	}
	for _, v := range Verbs() {
		if strings.HasPrefix(v.Name, "__") {
			continue // of programs, which have no help
		}
		lines = append(lines, v.Name+" --help", "help "+v.Name)
	}
	for _, below := range []string{"worktree list", "worktree clean", "hooks install", "hooks run"} {
		lines = append(lines, below+" --help", "help "+below)
	}
	for _, line := range lines {
		f, out := testEnv(t)
		f.Stdout = full{}
		if got := Run(t.Context(), f, strings.Fields(line)...); got != ExitFailed || !strings.Contains(out.Stderr.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%s: exit %d, %q", line, got, out.Stderr.String())
		}
	}
	if _, err := os.Stat("/dev/full"); errors.Is(err, os.ErrNotExist) {
		return // not on every system
	}
	device, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	f, _ := testEnv(t)
	f.Stdout = device
	if got := Run(t.Context(), f, "help"); got != ExitFailed {
		t.Errorf("help > /dev/full: exit %d", got)
	}
}
