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

// AgentFailedError: the agent ended before its session was proven, or with an error while it was.
type AgentFailedError struct {
	Agent discover.Agent
	Exit  ExitStatus
	// Message are the agent's own, "" if it said nothing.
	Message string
	// Session is what there is of it in storage; nil if nothing.
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

// ErrSessionTimeout: the session was not proven in time.
var ErrSessionTimeout = errors.New("the session did not appear in time")

const (
	// turnObservation is how long after its session is in storage the child is watched: what fails at once is to be reported
	// as failed.
	turnObservation = 250 * time.Millisecond
	// storeTimeout is how long the turn may take to show in storage at all. An agent that stores nothing has none to show.
	storeTimeout = time.Second
	// failureTimeout is how long an agent may take to end once its turn has failed, and to have the model's answer or its refusal
	// (OpenCode 1.18.33, from the proof on: an unknown model 0.2 to 1.6 s, an HTTP error at once 0.6 to 2.2 s).
	failureTimeout = 5 * time.Second
	// timeoutFactor is how many times as long as until the proof an agent may take for that, where this is more: a machine that
	// is too busy for the one is for the other. To store its turn it may take as long as until the proof.
	timeoutFactor = 3
)

// Verifier watches what was started.
type Verifier struct {
	scanner *discover.Scanner
	agent   Adapter
	child   *Child
	watcher *watch.Watcher
	// session is the one that was proven; nobody while none was.
	session discover.Session
	// prompted: the storage has the new turn of a resumed session.
	prompted bool
}

// NewVerifier begins to watch a child.
func NewVerifier(world *discover.Scanner, agent Adapter, child *Child) *Verifier {
	return &Verifier{
		scanner: world, agent: agent, child: child, watcher: watch.NewLaunchWatcher(world, agent.Name(), child.Done()),
		session: discover.UnknownSession(),
	}
}

// AwaitSession blocks until a session is proven to be run by the child or by what the child has started, and returns it; of a
// resumed one, until its new turn is in storage. The proof is what every other verb goes by: the claims of live
// processes, joined with the storage. Errors: [*AgentFailedError], [ErrSessionTimeout] once ctx's deadline is over, and ctx's own;
// the child goes on, then.
func (w *Verifier) AwaitSession(ctx context.Context) (discover.Session, error) {
	err := w.poll(ctx, func(s discover.Session) bool { return !w.child.spec.Resumed || w.turnStored(ctx, s) })
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = ErrSessionTimeout
	}
	return w.session, err
}

// AwaitTurn watches on, for a moment, whether the agent fails at once: then the error is an [*AgentFailedError]. It is settled
// when the turn is under way, in storage, or over, or the child has ended well.
func (w *Verifier) AwaitTurn(ctx context.Context) error {
	proven, stored := time.Now(), time.Time{}
	took := proven.Sub(w.child.startTime)
	patience, ending := max(storeTimeout, took), max(failureTimeout, timeoutFactor*took)
	return w.poll(ctx, func(s discover.Session) bool {
		if stored.IsZero() && w.turnStored(ctx, s) {
			stored = time.Now()
		}
		switch {
		case s.Turn.State == discover.TurnFailed, s.Turn.Unanswered:
			return time.Since(proven) >= ending
		case s.Turn.State == discover.TurnDone, s.Turn.State == discover.TurnWaiting:
			return true
		case stored.IsZero():
			return time.Since(proven) >= patience
		}
		return time.Since(stored) >= turnObservation
	})
}

// Failure is why the child failed, an [*AgentFailedError], if it has ended and did; nil otherwise.
func (w *Verifier) Failure(ctx context.Context) error {
	select {
	case <-w.child.Done():
		return w.exitFailure(ctx)
	default:
		return nil
	}
}

// poll looks again and again until a session is proven and enough is known of it, or the child has ended.
func (w *Verifier) poll(ctx context.Context, enough func(discover.Session) bool) error {
	for {
		done, err := w.check(ctx, enough)
		if done || err != nil {
			return err
		}
		if err := w.watcher.Wait(ctx); err != nil {
			return err
		}
	}
}

// check looks once.
func (w *Verifier) check(ctx context.Context, enough func(discover.Session) bool) (done bool, err error) {
	ended := false
	select {
	case <-w.child.Done():
		ended = true
	default:
	}
	// Whether it had ended is asked first: then nothing can appear later that this look did not see.
	r, err := w.watcher.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	own := w.childSessions(r)
	if ended && len(own) == 0 {
		return true, w.exitFailure(ctx)
	}
	s, ok := w.provenSession(ctx, own)
	if !ok {
		return false, nil
	}
	w.session = s
	return enough(s), nil
}

// childSessions are the rows, with and without a name, of what the child has started.
func (w *Verifier) childSessions(r discover.Result) []discover.Session {
	return slices.DeleteFunc(r.Sessions, func(s discover.Session) bool {
		for _, p := range s.Processes {
			if w.child.isDescendant(r.Table, p) {
				return false
			}
		}
		return true
	})
}

// provenSession finds the session among the child's rows: the one whose ID was known before, or that the child's own words or
// exact evidence name. If there is none, a record of a new session with the ID that was chosen for it, or that the child
// has said, is proof enough: nobody else was told or could say, and some agents leave no better one.
func (w *Verifier) provenSession(ctx context.Context, own []discover.Session) (discover.Session, bool) {
	chosen, said := w.child.spec.ID, ""
	if chosen == "" {
		said = w.agent.ParseOutput(w.child.readOutput()).ID
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
	if w.child.spec.Resumed {
		return discover.Session{}, false
	}
	s, ok := w.findByID(ctx, id)
	return s, ok && s.Path != ""
}

func (w *Verifier) findByID(ctx context.Context, id string) (discover.Session, bool) {
	if id == "" {
		return discover.Session{}, false
	}
	r, err := w.scanner.Find(ctx, id, []discover.Agent{w.agent.Name()}, discover.ReadOptions{TurnStart: true})
	if err != nil || len(r.Sessions) != 1 || r.Sessions[0].ID != id {
		return discover.Session{}, false
	}
	return r.Sessions[0], true
}

// turnStored reports whether the storage has the turn that the child was started for, with its prompt.
func (w *Verifier) turnStored(ctx context.Context, s discover.Session) bool {
	if s.Path == "" || s.Turn.State == discover.TurnNone || s.Turn.State == discover.TurnUnknown {
		return false
	}
	if !w.child.spec.Resumed || w.prompted {
		return true
	}
	w.prompted = w.promptStored(ctx, s) || s.Turn.Ended() && !s.Turn.Began.Before(w.child.startTime)
	return w.prompted
}

// promptStored reports whether the storage has a message of the person that is newer than the start. When a turn began is no
// proof: agents note that before they store what they were asked (Codex), and what they store first may be no message
// (Claude Code).
func (w *Verifier) promptStored(ctx context.Context, s discover.Session) bool {
	const most = 100 // messages of the new turn that may be stored by now
	n := 0
	for m, err := range w.scanner.Messages(ctx, s) {
		if n++; n > most || err != nil {
			return false
		}
		if m.Role == discover.RoleUser && m.Kind == discover.KindText && !m.Time.Before(w.child.startTime) {
			return true
		}
	}
	return false
}

// exitFailure judges a child that has ended.
func (w *Verifier) exitFailure(ctx context.Context) error {
	said := w.agent.ParseOutput(w.child.readOutput())
	s, ok := w.findByID(ctx, cmp.Or(w.child.spec.ID, said.ID, w.session.ID))
	if err := ctx.Err(); err != nil {
		return err
	}
	// An agent may say that it failed and end as if it had not (OpenCode 1.1.65), and what it said may be lost.
	failed := w.child.ExitStatus() != ExitStatus{} || said.Error != "" || !ok || w.child.spec.Resumed && !w.turnStored(ctx, s) ||
		s.Turn.State == discover.TurnFailed || s.Turn.Unanswered
	if ok {
		w.session = s
	}
	if !failed {
		return nil
	}
	e := &AgentFailedError{Agent: w.agent.Name(), Exit: w.child.ExitStatus(), Message: said.Error}
	if ok {
		e.Session = &s
	}
	if ok && w.turnStored(ctx, s) {
		// What the agent stored as its turn's error beats what else it printed: warnings, of a model's age say.
		e.Message = cmp.Or(e.Message, s.Error)
	}
	e.Message = cmp.Or(e.Message, outputTail(w.child.readOutput()))
	return e
}

// outputTail are the end of what a process printed, of its errors if there are any.
func outputTail(o Output) string {
	const most = 1000
	text := strings.TrimSpace(string(o.Stderr))
	if text == "" {
		text = strings.TrimSpace(string(o.Stdout))
	}
	if len(text) > most {
		text = "…" + text[len(text)-most:]
	}
	return text
}
