// Package stored removes, archives and restores stored sessions, by the agents' own commands. It writes nothing itself.
package stored

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/lock"
)

// commandTimeout is how long a command of an agent may take: several times what the slowest took on a busy machine (2 s).
const commandTimeout = time.Minute

// Outcome is what became of a session.
type Outcome string

// The outcomes.
const (
	Done        Outcome = "done"
	Planned     Outcome = "planned"     // a dry run
	Unneeded    Outcome = "unneeded"    // it is archived already, or is not
	Refused     Outcome = "refused"     // it is live, or its home is not ours
	Unsupported Outcome = "unsupported" // the agent has no such command, or is not installed
	Failed      Outcome = "failed"
)

// Result is what was done to one session.
type Result struct {
	Before  discover.Session
	Outcome Outcome
	// Err is why it was refused, is not supported or failed; else nil.
	Err error
	// Command is the agent's command that was run or, in a dry run, would be.
	Command []string
	// After is the session as it is now; nil if it is gone, or was not touched.
	After *discover.Session
}

// Options says what is done.
type Options struct {
	Action launch.StoreAction
	DryRun bool
	// Host is the environment that the agents' commands run in.
	Host launch.Environment
}

// LiveError says that a session is live, or may be.
type LiveError struct{ Session discover.Session }

func (e *LiveError) Error() string {
	if e.Session.Status == discover.Unknown {
		return "it is not known whether a process runs the session"
	}
	return fmt.Sprintf("the session is live (%s)", e.Session.Status)
}

// Sessions carries out the action on each session, one after the other. The results are in their order. It ends early with ctx.
// What an agent refuses to remove because another of the sessions goes on from it is tried again when that one is removed.
func Sessions(ctx context.Context, scanner *discover.Scanner, sessions []discover.Session, o Options) []Result {
	r := run{scanner: scanner, Options: o, supported: map[string]error{}}
	var results []Result
	for _, s := range sessions {
		if ctx.Err() != nil {
			break
		}
		results = append(results, r.session(ctx, s))
	}
	for again := o.Action == launch.ActionRemove; again && ctx.Err() == nil; {
		again = r.retry(ctx, results)
	}
	return results
}

// retry tries once more what failed, if something else was removed, and reports whether that has removed more.
func (r *run) retry(ctx context.Context, results []Result) (more bool) {
	if !slices.ContainsFunc(results, func(o Result) bool { return o.Outcome == Done }) {
		return false
	}
	for i := range results {
		if results[i].Outcome == Failed && ctx.Err() == nil {
			results[i] = r.session(ctx, results[i].Before)
			more = more || results[i].Outcome == Done
		}
	}
	return more
}

// CheckSupport returns the error of an agent that has no command for the action on this session, as far as its adapter knows.
func CheckSupport(adapters []discover.Adapter, action launch.StoreAction, s discover.Session, host launch.Environment) error {
	_, err := commandFor(adapters, action, s, host)
	return err
}

func commandFor(adapters []discover.Adapter, action launch.StoreAction, s discover.Session, host launch.Environment) (launch.Command, error) {
	return launch.AdapterOf(adapters, s.Agent).StoreCommand(action, s, host)
}

// run is one call of [Sessions].
type run struct {
	scanner *discover.Scanner
	Options
	supported map[string]error // by the command line that prints the help
}

func (r *run) session(ctx context.Context, s discover.Session) Result {
	result := Result{Before: s}
	fail := func(o Outcome, err error) Result {
		result.Outcome, result.Err = o, err
		return result
	}
	if err := s.CheckTrust(string(r.Action)); err != nil {
		return fail(Refused, err)
	}
	if s.Status != discover.Stopped {
		return fail(Refused, &LiveError{s})
	}
	command, err := commandFor(r.scanner.Adapters, r.Action, s, r.Host)
	if err != nil {
		return fail(Unsupported, err)
	}
	if r.Action != launch.ActionRemove && s.Archived == (r.Action == launch.ActionArchive) {
		return fail(Unneeded, nil)
	}
	if result.Command = command.Args; r.DryRun {
		return fail(Planned, nil)
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	if err := r.checkVersion(ctx, s.Agent, command); err != nil {
		return fail(Unsupported, err)
	}
	held, err := r.lockWorkspace(ctx, s)
	if err != nil {
		return fail(Failed, err)
	}
	defer held.Release()
	now, found, err := r.read(ctx, s) // just before: it may have been resumed
	switch {
	case err != nil:
		return fail(Failed, err)
	case !found:
		return fail(Failed, errGone)
	case now.Status != discover.Stopped:
		return fail(Refused, &LiveError{now})
	}
	if err := now.CheckTrust(string(r.Action)); err != nil {
		return fail(Refused, err)
	}
	failed := r.Host.RunIn(ctx, command.Dir, command.Env, command.Args...)
	return r.verify(ctx, result, failed)
}

// lockWorkspace keeps launches out of the workspace that the session would be resumed in, and waits for one that has begun. There
// is no lock, and no error, if the directory is gone or not known, or if a process that [launch.LockWorkspace] does not wait for has
// the lock.
func (r *run) lockWorkspace(ctx context.Context, s discover.Session) (*lock.Flock, error) {
	workspace, err := lock.WorkspaceOf(s.Dir)
	if err != nil {
		return nil, nil //nolint:nilerror // nothing can be resumed there, either
	}
	held, err := launch.LockWorkspace(ctx, r.scanner, workspace)
	if _, occupied := errors.AsType[*launch.OccupiedError](err); occupied && ctx.Err() == nil {
		return nil, nil
	}
	return held, err
}

var errGone = errors.New("the session has vanished meanwhile")

// verify reads the session again: what is true now counts, whatever the command said.
func (r *run) verify(ctx context.Context, result Result, failed error) Result {
	now, found, err := r.read(ctx, result.Before)
	done := !found
	if found {
		result.After = &now
		done = r.Action != launch.ActionRemove && now.Archived == (r.Action == launch.ActionArchive)
	} else if r.Action != launch.ActionRemove {
		done, err = false, errors.Join(err, errGone)
	}
	switch {
	case err != nil:
		result.Outcome, result.Err = Failed, errors.Join(failed, err)
	case done:
		result.Outcome = Done
	case failed != nil:
		result.Outcome, result.Err = Failed, failed
	default:
		result.Outcome, result.Err = Failed, fmt.Errorf("%s has changed nothing", strings.Join(result.Command, " "))
	}
	return result
}

// read finds the session again, in whatever file of its home. It is not found only if nothing with its ID is stored there.
func (r *run) read(ctx context.Context, s discover.Session) (now discover.Session, found bool, err error) {
	result, err := r.scanner.Find(ctx, s.Argument(), []discover.Agent{s.Agent}, discover.ReadOptions{})
	for _, o := range result.Sessions {
		if o.ID == s.ID && (o.Home == s.Home || o.Path == s.Path) {
			return o, true, nil
		}
	}
	if _, ambiguous := errors.AsType[*discover.AmbiguousError](err); ambiguous || errors.Is(err, discover.ErrNotFound) {
		err = nil
	}
	return now, false, err
}

// checkVersion asks the installed version, once, whether it has the command.
func (r *run) checkVersion(ctx context.Context, agent discover.Agent, c launch.Command) error {
	key := strings.Join(c.Help, "\x00")
	err, asked := r.supported[key]
	if !asked {
		err = c.Supported(ctx, agent, r.Host)
		r.supported[key] = err
	}
	return err
}
