package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/stop"
)

// waitOut waits until the started session has stopped, and ends as its turn did. If something has gone wrong before, the
// session is not waited for, but its end is told all the same.
func (r *agentRun) waitOut(ctx context.Context) error {
	r.err = r.outcome(ctx)
	if errors.Is(r.err, context.Canceled) {
		r.Env.report.note(fmt.Sprintf("%s keeps running; agentctl stop %s ends it", named(r.session), output.Sanitize(r.session.ID)))
		return r.err
	}
	if r.err == nil && !r.quiet {
		r.answer = r.readAnswer(ctx)
	}
	printed := error(nil)
	if r.json {
		r.renew(ctx, discover.ReadOptions{Full: true, Tokens: true})
		object := output.NewSession(r.session)
		object.Answer = r.answer
		printed = output.JSON(r.Stdout, object)
	} else if text := strings.TrimRight(output.SanitizeLines(r.answer), "\n"); text != "" {
		_, printed = fmt.Fprintln(r.Stdout, text)
	}
	if printed != nil {
		return printed
	}
	return errors.Join(r.err, r.completed(ctx))
}

// outcome waits until the session has stopped, and is the error that it ended with.
func (r *agentRun) outcome(ctx context.Context) error {
	failed := r.err
	err := failed
	if err == nil {
		err = r.await(ctx, []discover.Session{r.session}, untilStopped, r.maxTime, func(now discover.Session) error {
			r.session = r.grouped(now)
			return nil
		})
	}
	switch {
	case errors.Is(err, context.Canceled), failed != nil:
		return err
	case exitOf(err) == exitTimeout:
		return r.overdue(ctx)
	case hasEnded(r.child):
		return judged(err, r.watch.Failure(ctx))
	}
	return err
}

// completed runs what is to run when the turn has ended.
func (r *agentRun) completed(ctx context.Context) error {
	code := exitCode(r.child, r.err)
	return hook{"--on-complete", r.onComplete}.run(ctx, r.Env, r.session, &code)
}

// hasEnded waits until the child has: a launcher ends soon after the agent that it started, if it ends with it.
func hasEnded(child *launch.Child) bool {
	select {
	case <-child.Done():
		return true
	case <-time.After(mercy):
		return false
	}
}

// judged is how a turn ended whose agent has ended with own, by its exit code. The agent's own words say more than its
// storage; where the storage does not tell, the exit code does.
func judged(stored, own error) error {
	if own != nil || errors.Is(stored, errPartial) {
		return own
	}
	return stored
}

// overdue stops a session whose time is up.
func (r *agentRun) overdue(ctx context.Context) error {
	working, done := r.work(ctx, "stopping")
	defer done()
	results, err := stop.Sessions(working, r.world, []discover.Session{r.session}, stop.Options{
		Timeout: stopTimeout, Force: true, SelfPID: r.PID, Host: launch.NewEnvironment(r.Environ, r.Adapters),
	})
	message := fmt.Sprintf("%s took longer than --max-time %s", named(r.session), r.maxTime)
	if err := errors.Join(err, notStopped(results)); err != nil {
		return errors.Join(err, late(message, ""))
	}
	return late(message+"; it was stopped", "agentctl resume continues it")
}

// exitCode is that of the agent: as a shell counts it, where a signal ended it. While it lives it has none, and what we
// are about to end with stands for it.
func exitCode(child *launch.Child, err error) int {
	select {
	case <-child.Done():
	default:
		return exitOf(err)
	}
	exit := child.ExitStatus()
	if exit.Signal != 0 {
		return 128 + int(exit.Signal)
	}
	return exit.Code
}
