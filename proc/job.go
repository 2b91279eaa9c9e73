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

// Job is a running command with all that it has started: what is asked to end is not a shell alone, but what that runs.
//
// A job usually leads a process group of its own. One that shares ours is what a person's terminal needs: only our group
// may read from it, and the signals of its keys reach the command as they reach us. Then the job is the command and what
// descends from it.
type Job struct {
	cmd      *exec.Cmd
	id       ID
	ownGroup bool // it leads a process group of its own

	mu        sync.Mutex
	signalled Descendants // of one without a group: all that a signal was sent to
}

// StartJob starts a command as a job; own: in a process group of its own.
func StartJob(cmd *exec.Cmd, own bool) (*Job, error) {
	if own {
		if cmd.SysProcAttr == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		cmd.SysProcAttr.Setpgid = true
	}
	if cmd.Dir != "" { // os/exec names it only where there are no attributes
		if _, err := os.Stat(cmd.Dir); err != nil {
			return nil, &fs.PathError{Op: "chdir", Path: cmd.Dir, Err: missingFile(err)}
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	j := &Job{cmd: cmd, id: ID{PID: cmd.Process.Pid}, ownGroup: own, signalled: Descendants{}}
	if p, err := Inspect(j.id.PID); err == nil { // nobody has collected it: the pid is still its
		j.id = p.ID
	}
	return j, nil
}

func missingFile(err error) error {
	if about, ok := errors.AsType[*fs.PathError](err); ok {
		return about.Err
	}
	return err
}

// RunJob runs a command to its end, as [exec.Cmd.Run]. If ctx ends first, the whole job is sent SIGTERM, and SIGKILL after
// the grace period if any of it still lives; then it returns, with the command's own error.
func RunJob(ctx context.Context, cmd *exec.Cmd, own bool, grace time.Duration) error {
	j, err := StartJob(cmd, own)
	if err != nil {
		return err
	}
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

// Wait waits for the command itself, as [exec.Cmd.Wait].
func (j *Job) Wait() error { return j.cmd.Wait() }

// Signal sends a signal to all of the job that lives. What has ended is not signalled, nor what has its number since.
func (j *Job) Signal(sig syscall.Signal) {
	if j.ownGroup {
		if !j.pidReused() {
			_ = syscall.Kill(-j.id.PID, sig) // that it has just ended is no news
		}
		return
	}
	// The oldest first: a parent that outlived its children for a moment could end well, or start others.
	byAge := func(a, b Process) int { return cmp.Or(cmp.Compare(a.Ticks, b.Ticks), cmp.Compare(a.ID.PID, b.ID.PID)) }
	for _, p := range slices.SortedFunc(maps.Values(j.members()), byAge) {
		h, err := Open(p.ID)
		if errors.Is(err, ErrUnsupported) && p.ID == j.id {
			_ = j.cmd.Process.Signal(sig)
		}
		if err != nil {
			continue
		}
		_ = h.Signal(sig)
		_ = h.Close()
	}
}

// pidReused reports whether another process has the number of the command and of its group. While any process is in
// the group, the system gives the number to nobody.
func (j *Job) pidReused() bool {
	p, err := Inspect(j.id.PID)
	return err == nil && p.ID != j.id && j.id.Birth != ""
}

// members is the command, what descends from it, and what was signalled before.
func (j *Job) members() Descendants {
	j.mu.Lock()
	defer j.mu.Unlock()
	table, err := ReadTable(context.Background())
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

// alive reports whether any of the job does. Zombies, which somebody else has to collect, do not.
func (j *Job) alive() bool {
	switch {
	case !j.ownGroup:
		return len(j.members()) > 0
	case j.pidReused() || syscall.Kill(-j.id.PID, 0) != nil:
		return false
	}
	table, err := ReadTable(context.Background())
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
