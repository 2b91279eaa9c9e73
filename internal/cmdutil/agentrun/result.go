package agentrun

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/cmdutil/await"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/stop"
)

// waitEnd waits until the session has stopped, prints its end, and returns the error of its turn. After an earlier
// error it does not wait, but prints the end all the same.
func (r *Run) waitEnd(ctx context.Context) error {
	r.Err = r.WaitForEnd(ctx)
	if errors.Is(r.Err, context.Canceled) {
		r.Factory.Report.Note(fmt.Sprintf("%s keeps running; agentctl stop %s ends it", cmdutil.DescribeSession(r.Session), output.Sanitize(r.Session.ID)))
		return r.Err
	}
	if r.Err == nil && !r.Quiet {
		r.Answer = r.ReadAnswer(ctx)
	}
	printed := error(nil)
	if r.JSON {
		r.Refresh(ctx, discover.ReadOptions{Full: true, Tokens: true})
		object := output.NewSession(r.Session)
		object.Answer = r.Answer
		printed = output.JSON(r.Stdout, object)
	} else if text := strings.TrimRight(output.SanitizeLines(r.Answer), "\n"); text != "" {
		_, printed = fmt.Fprintln(r.Stdout, text)
	}
	if printed != nil {
		return printed
	}
	return errors.Join(r.Err, r.RunOnComplete(ctx))
}

// WaitForEnd waits until the session has stopped and returns the error that it ended with.
func (r *Run) WaitForEnd(ctx context.Context) error {
	failed := r.Err
	err := failed
	if err == nil {
		err = await.Until(ctx, r.Call, []discover.Session{r.Session}, await.Stopped, r.maxTime, func(now discover.Session) error {
			r.Session = r.withGroup(now)
			return nil
		})
	}
	switch {
	case errors.Is(err, context.Canceled), failed != nil:
		return err
	case cmdutil.ExitCode(err) == cmdutil.ExitTimeout:
		return r.stopOverdue(ctx)
	case hasEnded(r.Child):
		return turnError(err, r.watch.Failure(ctx))
	}
	return err
}

// RunOnComplete runs the script of --on-complete.
func (r *Run) RunOnComplete(ctx context.Context) error {
	code := exitCode(r.Child, r.Err)
	return cmdutil.Script{Flag: "--on-complete", Command: r.onComplete}.Run(ctx, r.Factory, r.Session, &code)
}

// hasEnded waits a moment for the child to end: a launcher ends soon after the agent that it has started.
func hasEnded(child *launch.Child) bool {
	select {
	case <-child.Done():
		return true
	case <-time.After(cmdutil.GracePeriod):
		return false
	}
}

// turnError combines two errors of a turn: stored is what storage says, own what the agent's exit code and output say.
// The agent's own error says more, and decides where storage does not know.
func turnError(stored, own error) error {
	if own != nil || errors.Is(stored, cmdutil.ErrPartial) {
		return own
	}
	return stored
}

// stopOverdue stops a session that exceeds --max-time.
func (r *Run) stopOverdue(ctx context.Context) error {
	working, done := r.StartWork(ctx, "stopping")
	defer done()
	results, err := stop.Sessions(working, r.Scanner, []discover.Session{r.Session}, stop.Options{
		Timeout: cmdutil.StopTimeout, Force: true, SelfPID: r.PID, Host: launch.NewEnvironment(r.Environ, r.Adapters),
	})
	message := fmt.Sprintf("%s took longer than --max-time %s", cmdutil.DescribeSession(r.Session), r.maxTime)
	if err := errors.Join(err, cmdutil.StopError(results)); err != nil {
		return errors.Join(err, cmdutil.TimeoutError(message, ""))
	}
	return cmdutil.TimeoutError(message+"; it was stopped", "agentctl resume continues it")
}

// exitCode is the agent's exit code, as a shell counts it after a signal. While the agent lives it is the code that
// this command will end with.
func exitCode(child *launch.Child, err error) int {
	select {
	case <-child.Done():
	default:
		return cmdutil.ExitCode(err)
	}
	exit := child.ExitStatus()
	if exit.Signal != 0 {
		return 128 + int(exit.Signal)
	}
	return exit.Code
}
