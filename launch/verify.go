package launch

import (
	"cmp"
	"context"
	"errors"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
)

// ErrSessionTimeout: the session was not proven in time.
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

// AwaitSession blocks until a session is proven to be run by what was started, or by what that has started; of a
// resumed one, until its new turn is in storage. The proof is what every other verb goes by: the claims of live
// processes, joined with the storage. Errors: [*AgentFailedError], [ErrSessionTimeout] once ctx's deadline is over, and ctx's own;
// the agent goes on, then.
func (v *Verification) AwaitSession(ctx context.Context) error {
	err := v.poll(ctx, func(s discover.Session) bool { return !v.plan.Spec.Resumed || v.turnStored(ctx, s) })
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = ErrSessionTimeout
	}
	ended := (*AgentFailedError)(nil)
	v.Proven = err == nil || errors.As(err, &ended) && v.Session.ID != ""
	return err
}

// AwaitTurn watches on, for a moment, whether the agent fails at once: then the error is an [*AgentFailedError]. It is settled
// when the turn is under way, in storage, or over, or the agent has ended well.
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
	// Whether it had ended is asked first: then nothing can appear later that this snapshot does not have.
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
func (v *Verification) Refresh(ctx context.Context, want discover.ReadOptions) {
	found, err := v.plan.Scanner.Find(ctx, v.Session.ID, []discover.Agent{v.Session.Agent}, want)
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

// Hint returns what the person should know of the way the request was carried out, "" if nothing. Where only the session
// tells, it is read again: what the turn may do is stored after the session has shown itself.
func (v *Verification) Hint(ctx context.Context) string {
	h, ok := v.plan.Agent.(Hinter)
	if !ok || v.Session.ID == "" || v.plan.Request.Permissions != PermissionsOwn {
		return v.plan.Spec.Hint
	}
	v.Refresh(ctx, discover.ReadOptions{})
	return cmp.Or(v.plan.Spec.Hint, h.Hint(v.plan.Request, v.Session))
}
