package proc

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Job is a running command with all processes that it has started, so that a signal reaches not only a shell but also
// what the shell runs.
//
// A job usually leads a process group of its own. A command that needs the terminal shares our group: only the foreground
// group may read from the terminal, and the signals of its keys reach the command as they reach this process. The job
// then consists of the command and its descendants.
type Job struct {
	cmd      *exec.Cmd
	id       ID
	ownGroup bool // it leads a process group of its own

	mu        sync.Mutex
	signalled Descendants // without a group of its own: all that a signal was sent to
}

// StartJob starts a command as a job, in a process group of its own if ownGroup.
func StartJob(cmd *exec.Cmd, ownGroup bool) (*Job, error) {
	if ownGroup {
		if cmd.SysProcAttr == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		cmd.SysProcAttr.Setpgid = true
	}
	if cmd.Dir != "" { // os/exec names it only where there are no attributes
		if _, err := os.Stat(cmd.Dir); err != nil {
			return nil, &fs.PathError{Op: "chdir", Path: cmd.Dir, Err: errors.Unwrap(err)}
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	j := &Job{cmd: cmd, id: ID{PID: cmd.Process.Pid}, ownGroup: ownGroup, signalled: Descendants{}}
	if p, err := Inspect(j.id.PID); err == nil { // it was not waited for, so the pid is still its own
		j.id = p.ID
	}
	return j, nil
}

// RunJob runs a command to its end, as [exec.Cmd.Run] does. If ctx ends first, RunJob sends SIGTERM to the whole job, and
// SIGKILL after the grace period if a process of it is still alive. It returns the command's own error.
func RunJob(ctx context.Context, cmd *exec.Cmd, ownGroup bool, grace time.Duration) error {
	j, err := StartJob(cmd, ownGroup)
	if err != nil {
		return err
	}
	return j.WaitContext(ctx, grace)
}

// WaitContext waits for the command itself, as [Job.Wait] does. If ctx ends first, it ends the whole job, as [RunJob] does.
func (j *Job) WaitContext(ctx context.Context, grace time.Duration) error {
	ended := make(chan error, 1)
	go func() { ended <- j.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	j.Signal(syscall.SIGTERM)
	const interval = 10 * time.Millisecond
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for deadline := time.Now().Add(grace); j.alive() && time.Now().Before(deadline); {
		<-tick.C
	}
	j.Signal(syscall.SIGKILL)
	return <-ended
}

// Wait waits for the command itself, as [exec.Cmd.Wait] does.
func (j *Job) Wait() error { return j.cmd.Wait() }

// Signal sends a signal to all live processes of the job. Processes that reuse a pid of the job get none.
func (j *Job) Signal(sig syscall.Signal) {
	if j.ownGroup {
		if !j.pidReused() {
			_ = syscall.Kill(-j.id.PID, sig) // it may have ended just now
		}
		return
	}
	// The oldest first: a parent that outlived its children for a moment could end well, or start others.
	byAge := func(a, b Process) int { return cmp.Or(cmp.Compare(a.Ticks, b.Ticks), cmp.Compare(a.ID.PID, b.ID.PID)) }
	for _, p := range slices.SortedFunc(maps.Values(j.members()), byAge) {
		h, err := Open(p.ID)
		if err != nil {
			continue
		}
		_ = h.Signal(sig)
		_ = h.Close()
	}
}

// pidReused reports whether another process has the pid of the command, which is also the ID of its group. The system
// does not reuse the pid while the group has a process.
func (j *Job) pidReused() bool {
	p, err := Inspect(j.id.PID)
	return err == nil && p.ID != j.id && j.id.Birth != ""
}

// members returns the command, its descendants, and processes that were signalled before.
func (j *Job) members() Descendants {
	j.mu.Lock()
	defer j.mu.Unlock()
	table, err := ReadTable(context.Background(), false)
	if err != nil {
		j.signalled[j.id] = Process{ID: j.id}
		return maps.Clone(j.signalled)
	}
	if p, ok := table.Find(j.id); ok {
		j.signalled[j.id] = p
	}
	j.signalled.Expand(table, func(Process) bool { return false })
	for id := range j.signalled {
		if _, ok := table.Find(id); !ok {
			delete(j.signalled, id)
		}
	}
	return maps.Clone(j.signalled)
}

// alive reports whether a process of the job is alive. Zombies are not.
func (j *Job) alive() bool {
	switch {
	case !j.ownGroup:
		return len(j.members()) > 0
	case j.pidReused() || syscall.Kill(-j.id.PID, 0) != nil:
		return false
	}
	table, err := ReadTable(context.Background(), false)
	if err != nil {
		return true
	}
	for p := range table.All() {
		if p.Group == j.id.PID && p.Alive() {
			return true
		}
	}
	return false
}
