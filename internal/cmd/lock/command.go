package lock

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"agentctl/internal/cmdutil"
	"agentctl/internal/terminal"
	"agentctl/lock"
	"agentctl/proc"
)

// runLocked runs the command under kernel locks that it inherits, one on each workspace, passes signals on, and ends
// with its exit code. With force, sessions and declared locks are ignored.
func runLocked(ctx context.Context, c *cmdutil.Call, workspaces []*lock.Workspace, command []string, force bool) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	var all []*lock.Flock
	defer func() {
		for _, held := range all {
			held.Release()
		}
	}()
	var taken *lock.Workspace // by somebody else
	for _, workspace := range workspaces {
		limited, cancel := context.WithTimeout(ctx, lock.FlockTimeout)
		held, err := lock.FlockWorkspace(limited, workspace.Top)
		cancel()
		if errors.Is(err, lock.ErrFlocked) {
			taken = workspace
			break
		}
		if err != nil {
			return err
		}
		all = append(all, held)
		cmd.ExtraFiles = append(cmd.ExtraFiles, held.File())
	}
	activity, err := lock.ReadActivity(ctx, c.Scanner, c.Getenv, c.Now) // after the workspaces are held: who has come before is seen
	if err != nil {
		return err
	}
	unseen := c.WarnIfBlind(activity)
	if taken != nil {
		x := c.ConflictsAt(activity, taken, c.Config.Strict)
		x.AddHolders(activity.Table, true)
		return cmdutil.LocksErr(x.Locks, "wait for it")
	}
	for _, workspace := range workspaces {
		if force {
			break
		}
		if err := cmdutil.LocksErr(c.ConflictsAt(activity, workspace, c.Config.Strict).All(), "wait for it, or --force"); err != nil {
			return err
		}
	}
	return cmp.Or(passSignals(cmd), unseen)
}

// passSignals runs a command in place of this one: signals reach it and all its descendants, and its exit code is
// returned.
func passSignals(cmd *exec.Cmd) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	job, err := proc.StartJob(cmd, !terminal.Foreground())
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- job.Wait() }()
	for {
		select {
		case s := <-signals:
			if sig, ok := s.(syscall.Signal); ok && !byKey(s, terminal.Foreground) {
				job.Signal(sig)
			}
		case err := <-ended:
			return passOn(cmd.ProcessState, err)
		}
	}
}

// byKey reports whether a signal comes from a key of the terminal in whose foreground this process is. The command has
// received it already, and many programs take a second one as an order to end at once.
func byKey(s os.Signal, foreground func() bool) bool {
	return (s == os.Interrupt || s == syscall.SIGQUIT) && foreground()
}

func passOn(state *os.ProcessState, err error) error {
	var exit *exec.ExitError
	switch status, ok := state.Sys().(syscall.WaitStatus); {
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return err
	case ok && status.Signaled():
		return cmdutil.ExitWith(128 + int(status.Signal()))
	}
	return cmdutil.ExitWith(state.ExitCode())
}
