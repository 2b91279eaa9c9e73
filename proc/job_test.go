//go:build linux || darwin

package proc

import (
	"os/exec"
	"testing"
)

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
