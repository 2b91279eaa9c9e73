package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentctl/discover"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/launch/stop"
)

// waitOut are the flags of a start that waits for the end of what it started.
type waitOut struct {
	wait, quiet          bool
	maxTime              time.Duration
	onCreate, onComplete string
}

func (o *waitOut) check(verb string, asJSON bool) error {
	switch {
	case !o.wait && o.quiet:
		return badUsage(verb, "--quiet needs --wait")
	case o.quiet && asJSON:
		return badUsage(verb, "--quiet and --json cannot be used together")
	case !o.wait && o.maxTime > 0:
		return badUsage(verb, "--max-time needs --wait")
	case !o.wait && o.onComplete != "":
		return badUsage(verb, "--on-complete needs --wait")
	}
	return nil
}

// waitOut waits until the started session has stopped, and ends as its turn did. failed is what went wrong before, if
// anything did: then the session is not waited for, but its end is told all the same.
func (env Env) waitOut(ctx context.Context, b *begun, failed error) error {
	err := env.outcome(ctx, b, failed)
	if errors.Is(err, context.Canceled) {
		env.report.note(fmt.Sprintf("%s keeps running; agentctl stop %s ends it", named(b.session), render.Clean(b.session.ID)))
		return err
	}
	answer := ""
	if err == nil && !b.quiet {
		answer = b.answer(ctx, env)
	}
	printed := error(nil)
	if b.json {
		b.renew(ctx, discover.Want{Whole: true, Tokens: true})
		object := render.Of(b.session)
		object.Answer = answer
		printed = render.JSON(env.Stdout, object)
	} else {
		printed = env.printAnswer(answer)
	}
	if printed != nil {
		return printed
	}
	return errors.Join(err, env.completed(ctx, b, err))
}

// outcome waits until the session has stopped, and is the error that it ended with.
func (env Env) outcome(ctx context.Context, b *begun, failed error) error {
	err := failed
	if err == nil {
		err = env.await(ctx, b.world, []discover.Session{b.session}, untilStopped, b.maxTime, func(now discover.Session) error {
			b.session = b.grouped(now)
			return nil
		})
	}
	switch {
	case exitOf(err) == exitTimeout:
		return env.overdue(ctx, b)
	case errors.Is(err, context.Canceled), failed != nil:
		return err
	case hasEnded(b.child):
		return judged(err, b.watch.Ended(ctx))
	}
	return err
}

// completed runs what is to run when the turn has ended.
func (env Env) completed(ctx context.Context, b *begun, err error) error {
	code := exitCode(b.child, err)
	return hook{"--on-complete", b.onComplete}.run(ctx, env, b.session, &code)
}

// hasEnded waits until the child has: a launcher ends soon after the agent that it started, if it ends with it.
func hasEnded(child *launch.Child) bool {
	select {
	case <-child.Ended():
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
func (env Env) overdue(ctx context.Context, b *begun) error {
	working, done := env.work(ctx, "stopping")
	defer done()
	results, err := stop.Sessions(working, b.world, []discover.Session{b.session}, stop.Options{
		Timeout: stopTimeout, Force: true, Self: env.PID, Host: launch.NewHost(env.Environ, env.Adapters),
	})
	message := fmt.Sprintf("%s took longer than --max-time %s", named(b.session), b.maxTime)
	if err := errors.Join(err, notStopped(results)); err != nil {
		return errors.Join(err, late(message, ""))
	}
	return late(message+"; it was stopped", "agentctl resume continues it")
}

// exitCode is that of the agent: as a shell counts it, where a signal ended it. While it lives it has none, and what we
// are about to end with stands for it.
func exitCode(child *launch.Child, err error) int {
	select {
	case <-child.Ended():
	default:
		return exitOf(err)
	}
	exit := child.Exit()
	if exit.Signal != 0 {
		return 128 + int(exit.Signal)
	}
	return exit.Code
}
