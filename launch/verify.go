package launch

import (
	"cmp"
	"context"
	"errors"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
)

// ErrSessionTimeout says that the session was not proven in time.
var ErrSessionTimeout = errors.New("the session did not appear in time")

// Verification is what is known of an execution: which session it runs, and whether that is proven.
type Verification struct {
	// Session is the session that was found, [discover.UnknownSession] before.
	Session discover.Session
	// Proven: Session is the execution's, be it one that has failed.
	Proven bool

	plan      *Plan
	execution *Execution
	watcher   *watch.Watcher
	// prompted: the storage has the new turn of a resumed session.
	prompted bool
}

// Verify begins to watch an execution.
func (x *Execution) Verify() *Verification {
	return &Verification{
		plan: x.plan, execution: x, Session: discover.UnknownSession(),
		watcher: watch.NewLaunchWatcher(x.plan.Scanner, x.plan.Agent.Name(), x.Done()),
	}
}

// AwaitSession blocks until it is proven which session the started process, or one that it has started, runs. For a resumed
// session it blocks until the new turn is in storage. The proof is the correlation that every other verb uses: the claims of
// live processes and the records of the storage. Errors: [*AgentFailedError]; [ErrSessionTimeout] after ctx's deadline, and
// ctx's own: then the agent goes on.
func (v *Verification) AwaitSession(ctx context.Context) error {
	err := v.poll(ctx, func(s discover.Session) bool { return !v.plan.Spec.Resumed || v.turnStored(ctx, s) })
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = ErrSessionTimeout
	}
	ended := (*AgentFailedError)(nil)
	v.Proven = err == nil || errors.As(err, &ended) && v.Session.ID != ""
	return err
}

// AwaitTurn watches for a moment longer. If the agent fails at once, the error is an [*AgentFailedError]. AwaitTurn returns when
// the turn is in storage and goes on, is over, or does not show in time, or when the agent has ended well.
func (v *Verification) AwaitTurn(ctx context.Context) error {
	proven, stored := time.Now(), time.Time{}
	took := proven.Sub(v.execution.StartTime)
	storing, ending := max(storeTimeout, took), max(failureTimeout, timeoutFactor*took)
	return v.poll(ctx, func(s discover.Session) bool {
		if stored.IsZero() && v.turnStored(ctx, s) {
			stored = time.Now()
		}
		switch {
		case s.Turn.State == discover.TurnFailed, s.Turn.Unanswered:
			return time.Since(proven) >= ending
		case s.Turn.State == discover.TurnDone, s.Turn.State == discover.TurnWaiting:
			return true
		case stored.IsZero():
			return time.Since(proven) >= storing
		}
		return time.Since(stored) >= turnObservation
	})
}

// poll takes snapshots until a session is proven and enough is known of it, or the agent has ended.
func (v *Verification) poll(ctx context.Context, enough func(discover.Session) bool) error {
	for {
		done, err := v.check(ctx, enough)
		if done || err != nil {
			return err
		}
		if err := v.watcher.Wait(ctx); err != nil {
			return err
		}
	}
}

// check takes one snapshot.
func (v *Verification) check(ctx context.Context, enough func(discover.Session) bool) (done bool, err error) {
	// This is read first: if the process has ended, nothing can appear after the snapshot.
	ended := v.execution.HasEnded()
	r, err := v.watcher.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	own := v.ownSessions(r)
	if ended && len(own) == 0 {
		s, err := v.exitFailure(ctx)
		if s != nil {
			v.Update(*s)
		}
		return true, err
	}
	s, ok := v.provenSession(ctx, own)
	if !ok {
		return false, nil
	}
	v.Update(s)
	return enough(s), nil
}

// Update replaces the session by a newer reading of it. Its group is known by the live process and the plan only.
func (v *Verification) Update(s discover.Session) {
	s.Group = cmp.Or(s.Group, v.plan.Environment.Getenv(discover.GroupEnv))
	v.Session = s
}

// Refresh reads the session again, which has changed since its proof. It is found by agent, ID and path. Before it was in
// storage it had no path: then its process, or that no other session has its ID, identifies it. A session that is not found
// stays as it is.
func (v *Verification) Refresh(ctx context.Context, options discover.ReadOptions) {
	found, err := v.plan.Scanner.Find(ctx, v.Session.ID, []discover.Agent{v.Session.Agent}, options)
	if several := (*discover.AmbiguousError)(nil); errors.As(err, &several) {
		found.Sessions = several.Candidates
	}
	for _, s := range found.Sessions {
		unstored := v.Session.Path == "" && s.ID == v.Session.ID
		if s.Key() == v.Session.Key() || unstored && (len(found.Sessions) == 1 || s.SharesProcess(v.Session)) {
			v.Update(s)
			return
		}
	}
}

// Hint tells the user how the request was carried out, if that may surprise; else it is "". If only the session shows it, the
// session is read again: what the turn may do is stored after the session has appeared.
func (v *Verification) Hint(ctx context.Context) string {
	if v.Session.ID == "" || v.plan.Request.Permissions != PermissionsOwn {
		return v.plan.Spec.Hint
	}
	v.Refresh(ctx, discover.ReadOptions{})
	return cmp.Or(v.plan.Spec.Hint, v.plan.Agent.Hint(v.plan.Request, v.Session))
}
