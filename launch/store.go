package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/lock"
)

// StoreAction is what is done to a stored session.
type StoreAction string

// The actions.
const (
	ActionRemove    StoreAction = "rm"
	ActionArchive   StoreAction = "archive"
	ActionUnarchive StoreAction = "unarchive"
)

// StoreOutcome is what became of a stored session.
type StoreOutcome string

// The outcomes.
const (
	StoreDone        StoreOutcome = "done"
	StorePlanned     StoreOutcome = "planned"     // a dry run
	StoreUnneeded    StoreOutcome = "unneeded"    // it is archived already, or is not
	StoreRefused     StoreOutcome = "refused"     // it is live, or its home is not ours
	StoreUnsupported StoreOutcome = "unsupported" // the agent has no such command, or is not installed
	StoreFailed      StoreOutcome = "failed"
)

// StoreResult is what was done to one session.
type StoreResult struct {
	Before  discover.Session
	Outcome StoreOutcome
	// Err is why it was refused, is not supported or failed; else nil.
	Err error
	// Command is the agent's command that was run or, in a dry run, would be.
	Command []string
	// After is the session as it is now; nil if it is gone, or was not touched.
	After *discover.Session
}

// StoreOptions says what is done to stored sessions.
type StoreOptions struct {
	Action StoreAction
	DryRun bool
	// Host is the environment that the agents' commands run in.
	Host Environment
}

// ManageStored carries out the action on each session by its agent's own command, one after the other; it writes nothing itself. The
// results are in the order of the sessions. It ends early with ctx. What an agent refuses to remove because another of the sessions
// goes on from it is tried again when that one is removed.
func ManageStored(ctx context.Context, scanner *discover.Scanner, sessions []discover.Session, o StoreOptions) []StoreResult {
	m := storeManager{scanner, o, map[string]error{}}
	var results []StoreResult
	for _, s := range sessions {
		if ctx.Err() != nil {
			break
		}
		results = append(results, m.manage(ctx, s))
	}
	removed := func(r StoreResult) bool { return o.Action == ActionRemove && r.Outcome == StoreDone }
	for again := slices.ContainsFunc(results, removed); again; {
		again = false
		for i := range results {
			if results[i].Outcome == StoreFailed && ctx.Err() == nil {
				results[i] = m.manage(ctx, results[i].Before)
				again = again || removed(results[i])
			}
		}
	}
	return results
}

// storeManager is one call of [ManageStored].
type storeManager struct {
	scanner *discover.Scanner
	StoreOptions
	supported map[string]error // by the command line that prints the help
}

func (m storeManager) manage(ctx context.Context, s discover.Session) StoreResult {
	result := StoreResult{Before: s}
	end := func(o StoreOutcome, err error) StoreResult {
		result.Outcome, result.Err = o, err
		return result
	}
	if err := m.checkStopped(s); err != nil {
		return end(StoreRefused, err)
	}
	command, err := AdapterOf(m.scanner.Adapters, s.Agent).StoreCommand(m.Action, s, m.Host)
	switch {
	case err != nil:
		return end(StoreUnsupported, err)
	case m.Action != ActionRemove && s.Archived == (m.Action == ActionArchive):
		return end(StoreUnneeded, nil)
	}
	if result.Command = command.Args; m.DryRun {
		return end(StorePlanned, nil)
	}
	ctx, cancel := context.WithTimeout(ctx, storeCommandTimeout)
	defer cancel()
	help := strings.Join(command.Help, "\x00")
	if _, asked := m.supported[help]; !asked { // the installed version is asked once
		m.supported[help] = command.Supported(ctx, s.Agent, m.Host)
	}
	if err := m.supported[help]; err != nil {
		return end(StoreUnsupported, err)
	}
	held, err := m.lockWorkspace(ctx, s)
	if err != nil {
		return end(StoreFailed, err)
	}
	defer held.Release()
	now, found, err := m.read(ctx, s) // just before: it may have been resumed
	if err == nil && !found {
		err = errVanished
	}
	if err != nil {
		return end(StoreFailed, err)
	}
	if err := m.checkStopped(now); err != nil {
		return end(StoreRefused, err)
	}
	failed := command.Run(ctx, m.Host)
	// What is true now counts, whatever the command said.
	now, found, err = m.read(ctx, s)
	done := !found
	if found {
		result.After = &now
		done = m.Action != ActionRemove && now.Archived == (m.Action == ActionArchive)
	} else if m.Action != ActionRemove {
		done, err = false, errors.Join(err, errVanished)
	}
	switch {
	case err != nil:
		return end(StoreFailed, errors.Join(failed, err))
	case done:
		return end(StoreDone, nil)
	case failed == nil:
		failed = fmt.Errorf("%s has changed nothing", strings.Join(command.Args, " "))
	}
	return end(StoreFailed, failed)
}

// checkStopped returns an error unless the session is stopped, and of a home that is ours.
func (m storeManager) checkStopped(s discover.Session) error {
	if err := s.CheckTrust(string(m.Action)); err != nil {
		return err
	}
	switch s.Status {
	case discover.Stopped:
		return nil
	case discover.Unknown:
		return errors.New("it is not known whether a process runs the session")
	}
	return fmt.Errorf("the session is live (%s)", s.Status)
}

// lockWorkspace keeps launches out of the workspace that the session would be resumed in, and waits for one that has begun. There
// is no lock, and no error, if the directory is gone or not known, or if a process that [LockWorkspace] does not wait for has
// the lock.
func (m storeManager) lockWorkspace(ctx context.Context, s discover.Session) (*lock.Flock, error) {
	workspace, err := lock.WorkspaceOf(s.Dir)
	if err != nil {
		return nil, nil //nolint:nilerror // nothing can be resumed there, either
	}
	held, err := LockWorkspace(ctx, m.scanner, workspace)
	if _, occupied := errors.AsType[*OccupiedError](err); occupied && ctx.Err() == nil {
		return nil, nil
	}
	return held, err
}

var errVanished = errors.New("the session has vanished meanwhile")

// read finds the session again, in whatever file of its home. It is not found only if nothing with its ID is stored there.
func (m storeManager) read(ctx context.Context, s discover.Session) (now discover.Session, found bool, err error) {
	result, err := m.scanner.Find(ctx, s.Argument(), []discover.Agent{s.Agent}, discover.ReadOptions{})
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
