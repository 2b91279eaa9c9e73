//go:build linux || darwin

package proc

import (
	"os/exec"
	"testing"

	"agentctl/tests/must"
)

// TestJobWithReusedPID: the ID of the group of a job may be reused once all its processes have ended.
func TestJobWithReusedPID(t *testing.T) {
	j, err := StartJob(exec.Command("/bin/sh", "-c", "exit 0"), true)
	must.Do(t, err)
	must.Do(t, j.Wait())
	other := exec.Command("/bin/sh", "-c", "read x")
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	next, err := StartJob(other, true)
	must.Do(t, err)
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
