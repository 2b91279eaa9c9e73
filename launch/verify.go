package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	storing, ending, observing := max(storeTimeout, took), max(failureTimeout, timeoutFactor*took), max(turnObservation, took/2)
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
		return time.Since(stored) >= observing
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

// Update replaces the session by a newer reading of it. Its group is known by the live process and the plan only, and its directory by the plan
// until it is stored.
func (v *Verification) Update(s discover.Session) {
	s.Group = cmp.Or(s.Group, v.plan.Environment.Getenv(discover.GroupEnv))
	if s.Record != nil && s.Dir == "" {
		record := *s.Record
		record.Dir, s.Record = v.plan.Spec.Dir, &record
	}
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

// ownSessions returns the rows, with and without an ID, of what was started.
func (v *Verification) ownSessions(r discover.Result) []discover.Session {
	return slices.DeleteFunc(r.Sessions, func(s discover.Session) bool {
		for _, p := range s.AllProcesses() { // a client of a server is the started process, too
			if v.execution.isDescendant(r.Table, p) {
				return false
			}
		}
		return true
	})
}

// provenSession returns the session among the rows of what was started: the one whose ID was known before, or that the agent's
// output or exact evidence names. If there is none, a record of a new session with the ID that was chosen for it, or that the
// agent has printed, is proof: no other process knows the ID, and some agents leave no better proof.
func (v *Verification) provenSession(ctx context.Context, own []discover.Session) (discover.Session, bool) {
	chosen, said := v.plan.Spec.ID, ""
	if chosen == "" {
		said = v.plan.Agent.ParseOutput(v.execution.readOutput()).ID
	}
	id := cmp.Or(chosen, said)
	var found []discover.Session
	for _, s := range own {
		// A command line with the ID that we chose is no proof: the agent may not have taken it.
		proven := s.HasExactEvidence() || said != "" || chosen != "" && s.Path != ""
		if s.ID != "" && s.ID == cmp.Or(id, s.ID) && proven {
			found = append(found, s)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	if v.plan.Spec.Resumed {
		return discover.Session{}, false
	}
	s, ok := v.findByID(ctx, id)
	return s, ok && s.Path != ""
}

// findByID finds a session of the agent that is stored or live.
func (v *Verification) findByID(ctx context.Context, id string) (discover.Session, bool) {
	if id == "" {
		return discover.Session{}, false
	}
	r, err := v.plan.Scanner.Find(ctx, id, []discover.Agent{v.plan.Agent.Name()}, discover.ReadOptions{TurnStart: true})
	if several := (*discover.AmbiguousError)(nil); errors.As(err, &several) && v.plan.Request.Resume != nil {
		r.Sessions, err = slices.DeleteFunc(several.Candidates, func(s discover.Session) bool { return !s.MayBeSame(*v.plan.Request.Resume) }), nil
	}
	if err != nil || len(r.Sessions) != 1 || r.Sessions[0].ID != id {
		return discover.Session{}, false
	}
	return r.Sessions[0], true
}

// turnStored reports whether the storage has the turn that the agent was started for, with its prompt.
func (v *Verification) turnStored(ctx context.Context, s discover.Session) bool {
	if s.Path == "" || s.Turn.State == discover.TurnNone {
		return false
	}
	if !v.plan.Spec.Resumed {
		return s.Turn.State != discover.TurnUnknown
	}
	// The state of the turn may stay unknown: old versions record neither its start nor its end.
	v.prompted = v.prompted || v.promptStored(ctx, s) || s.Turn.Ended() && !s.Turn.Began.Before(v.execution.StartTime)
	return v.prompted
}

// promptStored reports whether the storage has a message of the user that is newer than the start. The time at which a turn
// began is no proof: Codex stores it before the prompt, and what Claude Code stores first may be no message.
func (v *Verification) promptStored(ctx context.Context, s discover.Session) bool {
	const most = 100 // messages of the new turn that may be stored by now
	n := 0
	for m, err := range v.plan.Scanner.Messages(ctx, s) {
		if n++; n > most || err != nil {
			return false
		}
		if m.Role == discover.RoleUser && m.Kind == discover.KindText && !m.Time.Before(v.execution.StartTime) {
			return true
		}
	}
	return false
}

// AgentFailedError says that the agent ended before its session was proven, or with an error while it was.
type AgentFailedError struct {
	Agent discover.Agent
	Exit  ExitStatus
	// Message is the agent's own words, "" if it printed none.
	Message string
	// Session is the session as far as it is in storage; nil if it is not.
	Session *discover.Session
}

func (e *AgentFailedError) Error() string {
	what := fmt.Sprintf("%s failed (%s)", e.Agent, e.Exit)
	switch {
	case e.Exit == ExitStatus{} && e.Session == nil:
		what = fmt.Sprintf("%s ended without a session", e.Agent)
	case e.Exit == ExitStatus{}: // as if nothing had been wrong
		what = fmt.Sprintf("%s failed", e.Agent)
	}
	return what + ": " + cmp.Or(e.Message, "it did not say why")
}

// Failure returns an [*AgentFailedError] if the process has ended and the agent has failed, nil otherwise.
func (v *Verification) Failure(ctx context.Context) error {
	if !v.execution.HasEnded() {
		return nil
	}
	_, err := v.exitFailure(ctx)
	return err
}

// exitFailure returns the session of a process that has ended, nil if there is none in storage, and an [*AgentFailedError] if
// the agent has failed.
func (v *Verification) exitFailure(ctx context.Context) (*discover.Session, error) {
	said := v.plan.Agent.ParseOutput(v.execution.readOutput())
	s, ok := v.findByID(ctx, cmp.Or(v.plan.Spec.ID, said.ID, v.Session.ID))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var stored *discover.Session
	if ok {
		stored = &s
	}
	// An agent may say that it failed and end as if it had not (OpenCode 1.1.65), and what it said may be lost.
	failed := v.execution.ExitStatus() != ExitStatus{} || said.Error != "" || !ok || v.plan.Spec.Resumed && !v.turnStored(ctx, s) ||
		s.Turn.State == discover.TurnFailed || s.Turn.Unanswered
	if !failed {
		return stored, nil
	}
	e := &AgentFailedError{Agent: v.plan.Agent.Name(), Exit: v.execution.ExitStatus(), Message: said.Error, Session: stored}
	if ok && v.turnStored(ctx, s) {
		// What the agent stored as its turn's error beats what else it printed: warnings, of a model's age say.
		e.Message = cmp.Or(e.Message, s.Error)
	}
	e.Message = cmp.Or(e.Message, outputTail(v.execution.readOutput()))
	return stored, e
}

// outputTail returns the end of what a process printed, of stderr if there is anything.
func outputTail(o Output) string {
	const most = 1000
	text := cmp.Or(strings.TrimSpace(string(o.Stderr)), strings.TrimSpace(string(o.Stdout)))
	if len(text) > most {
		text = "…" + text[len(text)-most:]
	}
	return text
}
