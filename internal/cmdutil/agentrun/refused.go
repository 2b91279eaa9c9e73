package agentrun

import (
	"context"
	"errors"
	"fmt"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/launch"
)

// refusal turns the error of a plan into one that names who is in the way, and says what to do.
func refusal(err error) error {
	occupied, live := (*launch.OccupiedError)(nil), (*launch.LiveError)(nil)
	switch {
	case errors.As(err, &occupied) && occupied.Flocked:
		return cmdutil.LocksErr(occupied.Locks, "wait for it")
	case errors.As(err, &occupied):
		return cmdutil.LocksErr(occupied.Locks, "wait for it, stop it, use a worktree of its own, or --force")
	case errors.As(err, &live):
		s := live.Session
		hint := "wait for it, stop it, or continue a copy: --fork"
		switch {
		case len(s.Clients) > 0:
			hint = fmt.Sprintf("talk to it in its terminal (pid %d), stop it, or continue a copy: --fork", s.Clients[0].ID.PID)
		case s.Shared && s.Status == discover.Idle: // it does not go away when it is stopped
			hint = fmt.Sprintf("pid %d keeps it open: talk to it there, wait --until stopped, or continue a copy: --fork", s.Processes[0].ID.PID)
		}
		return cmdutil.ConflictError(fmt.Sprintf("%s is live (%s)", cmdutil.DescribeSession(s), s.Status), hint)
	}
	return err
}

// explain turns the error of a start into one that says whether the agent still runs; with --kill-on-timeout it kills
// the agent.
func (l *Launched) explain(err error) error {
	pid := l.execution.Process.ID.PID
	switch {
	case errors.Is(err, launch.ErrSessionTimeout) && l.killOnTimeout:
		return errors.Join(
			cmdutil.TimeoutError(fmt.Sprintf("the session of pid %d did not appear within %s; it was ended", pid, l.timeout), ""),
			l.execution.KillTree(context.Background()),
		)
	case errors.Is(err, launch.ErrSessionTimeout):
		return cmdutil.TimeoutError(
			fmt.Sprintf("the session of pid %d did not appear within %s; %s keeps running", pid, l.timeout, l.name),
			fmt.Sprintf("agentctl status pid:%d shows it once it is known; agentctl stop pid:%d ends it", pid, pid),
		)
	case errors.Is(err, context.Canceled):
		l.Report.Note(fmt.Sprintf("%s keeps running as pid %d", l.name, pid))
	}
	return err
}
