//go:build linux || darwin

package proc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"
)

// TestRunJobEndsAllProcesses: the command and all that it has started end, at SIGTERM or killed after the grace period,
// those that outlive the command included.
func TestRunJobEndsAllProcesses(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		own          bool
		grace        time.Duration
	}{
		{"at once", "sleep 1000 & echo $!; wait", true, time.Hour},
		{"at once, in our group", "sleep 1000 & echo $!; wait", false, time.Hour},
		{"killed", "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1000; done' & trap '' TERM; wait", true, 100 * time.Millisecond},
		{"killed, in our group", "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1000; done' & trap '' TERM; wait", false, 100 * time.Millisecond},
		{"outlives the shell", "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1000; done' & wait", true, 100 * time.Millisecond},
		{"outlives the shell, in our group", "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1000; done' & wait", false, 100 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.Command("/bin/sh", "-c", tc.script)
			cmd.WaitDelay = time.Minute
			out, in := io.Pipe()
			cmd.Stdout = in
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			go func() { ended <- RunJob(ctx, cmd, tc.own, tc.grace) }()
			var pid int
			if _, err := fmt.Fscan(bufio.NewReader(out), &pid); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.Copy(io.Discard, out) }()
			below, err := Inspect(pid)
			if err != nil {
				t.Fatal(err)
			}
			stop()
			if err := <-ended; err == nil {
				t.Error("a command that was ended ended well")
			}
			_ = in.Close()
			if now, err := Inspect(pid); err == nil && now.ID == below.ID && now.Alive() {
				t.Errorf("process %d lives", pid)
				if h, err := Open(below.ID); err == nil {
					_ = h.Signal(9)
					_ = h.Close()
				}
			}
		})
	}
}

// TestRunJobReturnsTheCommandsError: a command that ends by itself is not signalled, and what it has started goes on.
func TestRunJobReturnsTheCommandsError(t *testing.T) {
	for _, own := range []bool{true, false} {
		if err := RunJob(t.Context(), exec.Command("/bin/sh", "-c", "exit 3"), own, time.Hour); err == nil || err.Error() != "exit status 3" {
			t.Errorf("own group %t: %v", own, err)
		}
		if err := RunJob(t.Context(), exec.Command("/no/such/program"), own, time.Hour); err == nil {
			t.Error("there is no such program")
		}
	}
}

// TestJobWithReusedPID: the ID of the group of a job may be reused once all its processes have ended.
func TestJobWithReusedPID(t *testing.T) {
	j, err := StartJob(exec.Command("/bin/sh", "-c", "exit 0"), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Wait(); err != nil {
		t.Fatal(err)
	}
	other := exec.Command("/bin/sh", "-c", "read x")
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	next, err := StartJob(other, true)
	if err != nil {
		t.Fatal(err)
	}
	j.id = ID{next.id.PID, "earlier"}
	j.Signal(9)
	if j.alive() {
		t.Error("another's group is taken for the job's")
	}
	if !next.alive() {
		t.Error("another's group was killed")
	}
	next.Signal(9)
	_ = next.Wait()
}
