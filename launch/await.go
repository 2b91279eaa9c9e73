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

// EndedError: the agent ended before its session was proven, or with an error while it was.
type EndedError struct {
	Agent discover.Agent
	Exit  Exit
	// Words are the agent's own, "" if it said nothing.
	Words string
	// Session is what there is of it in storage; nil if nothing.
	Session *discover.Session
}

func (e *EndedError) Error() string {
	what := fmt.Sprintf("%s failed (%s)", e.Agent, e.Exit)
	switch {
	case e.Exit == Exit{} && e.Session == nil:
		what = fmt.Sprintf("%s ended without a session", e.Agent)
	case e.Exit == Exit{}: // as if nothing had been wrong
		what = fmt.Sprintf("%s failed", e.Agent)
	}
	return what + ": " + cmp.Or(e.Words, "it did not say why")
}

// ErrUnproven: the session was not proven in time.
var ErrUnproven = errors.New("the session did not appear in time")

const (
	// settling is how long after its session is in storage the child is watched: what fails at once is to be reported
	// as failed.
	settling = 250 * time.Millisecond
	// patience is how long the turn may take to show in storage at all. An agent that stores nothing has none to show.
	patience = time.Second
	// ending is how long an agent may take to end once its turn has failed, and to have the model's answer or its refusal
	// (OpenCode 1.18.33, from the proof on: an unknown model 0.2 to 1.6 s, an HTTP error at once 0.6 to 2.2 s).
	ending = 5 * time.Second
	// slowness is how many times as long as until the proof an agent may take for that, where this is more: a machine that
	// is too busy for the one is for the other. To store its turn it may take as long as until the proof.
	slowness = 3
)

// Watch watches what was started.
type Watch struct {
	world   *discover.Scanner
	agent   Agent
	child   *Child
	watcher *watch.Watcher
	// session is the one that was proven; nobody while none was.
	session discover.Session
	// prompted: the storage has the new turn of a resumed session.
	prompted bool
}

// NewWatch begins to watch a child.
func NewWatch(world *discover.Scanner, agent Agent, child *Child) *Watch {
	return &Watch{
		world: world, agent: agent, child: child, watcher: watch.Launch(world, agent.Name(), child.Ended()),
		session: discover.UnknownSession(),
	}
}

// Await blocks until a session is proven to be run by the child or by what the child has started, and returns it; of a
// resumed one, until its new turn is in storage. The proof is what every other verb goes by: the claims of live
// processes, joined with the storage. Errors: [*EndedError], [ErrUnproven] once ctx's deadline is over, and ctx's own;
// the child goes on, then.
func (w *Watch) Await(ctx context.Context) (discover.Session, error) {
	err := w.until(ctx, func(s discover.Session) bool { return !w.child.spec.Resumed || w.begun(ctx, s) })
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = ErrUnproven
	}
	return w.session, err
}

// Settle watches on, for a moment, whether the agent fails at once: then the error is an [*EndedError]. It is settled
// when the turn is under way, in storage, or over, or the child has ended well.
func (w *Watch) Settle(ctx context.Context) error {
	proven, stored := time.Now(), time.Time{}
	took := proven.Sub(w.child.since)
	patience, ending := max(patience, took), max(ending, slowness*took)
	return w.until(ctx, func(s discover.Session) bool {
		if stored.IsZero() && w.begun(ctx, s) {
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
		return time.Since(stored) >= settling
	})
}

// Ended is why the child failed, an [*EndedError], if it has ended and did; nil otherwise.
func (w *Watch) Ended(ctx context.Context) error {
	select {
	case <-w.child.Ended():
		return w.end(ctx)
	default:
		return nil
	}
}

// until looks again and again until a session is proven and enough is known of it, or the child has ended.
func (w *Watch) until(ctx context.Context, enough func(discover.Session) bool) error {
	for {
		done, err := w.look(ctx, enough)
		if done || err != nil {
			return err
		}
		if err := w.watcher.Wait(ctx); err != nil {
			return err
		}
	}
}

// look looks once.
func (w *Watch) look(ctx context.Context, enough func(discover.Session) bool) (done bool, err error) {
	ended := false
	select {
	case <-w.child.Ended():
		ended = true
	default:
	}
	// Whether it had ended is asked first: then nothing can appear later that this look did not see.
	r, err := w.watcher.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	own := w.own(r)
	if ended && len(own) == 0 {
		return true, w.end(ctx)
	}
	s, ok := w.proof(ctx, own)
	if !ok {
		return false, nil
	}
	w.session = s
	return enough(s), nil
}

// own are the rows, with and without a name, of what the child has started.
func (w *Watch) own(r discover.Result) []discover.Session {
	return slices.DeleteFunc(r.Sessions, func(s discover.Session) bool {
		for _, p := range s.Processes {
			if w.child.started(r.Table, p) {
				return false
			}
		}
		return true
	})
}

// proof finds the session among the child's rows: the one whose ID was known before, or that the child's own words or
// exact evidence name. If there is none, a record of a new session with the ID that was chosen for it, or that the child
// has said, is proof enough: nobody else was told or could say, and some agents leave no better one.
func (w *Watch) proof(ctx context.Context, own []discover.Session) (discover.Session, bool) {
	chosen, said := w.child.spec.ID, ""
	if chosen == "" {
		said = w.agent.Said(w.child.output()).ID
	}
	id := cmp.Or(chosen, said)
	var found []discover.Session
	for _, s := range own {
		// A command line with the ID that we chose is no proof: the agent may not have taken it.
		proven := s.Proven() || said != "" || chosen != "" && s.Path != ""
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
	s, ok := w.find(ctx, id)
	return s, ok && s.Path != ""
}

func (w *Watch) find(ctx context.Context, id string) (discover.Session, bool) {
	if id == "" {
		return discover.Session{}, false
	}
	r, err := w.world.Find(ctx, id, []discover.Agent{w.agent.Name()}, discover.ReadOptions{TurnStart: true})
	if err != nil || len(r.Sessions) != 1 || r.Sessions[0].ID != id {
		return discover.Session{}, false
	}
	return r.Sessions[0], true
}

// begun reports whether the storage has the turn that the child was started for, with its prompt.
func (w *Watch) begun(ctx context.Context, s discover.Session) bool {
	if s.Path == "" || s.Turn.State == discover.TurnNone || s.Turn.State == discover.TurnUnknown {
		return false
	}
	if !w.child.spec.Resumed || w.prompted {
		return true
	}
	w.prompted = w.hasPrompt(ctx, s) || s.Turn.Over() && !s.Turn.Began.Before(w.child.since)
	return w.prompted
}

// hasPrompt reports whether the storage has a message of the person that is newer than the start. When a turn began is no
// proof: agents note that before they store what they were asked (Codex), and what they store first may be no message
// (Claude Code).
func (w *Watch) hasPrompt(ctx context.Context, s discover.Session) bool {
	const most = 100 // messages of the new turn that may be stored by now
	n := 0
	for m, err := range w.world.Messages(ctx, s) {
		if n++; n > most || err != nil {
			return false
		}
		if m.Role == discover.User && m.Kind == discover.KindText && !m.Time.Before(w.child.since) {
			return true
		}
	}
	return false
}

// end judges a child that has ended.
func (w *Watch) end(ctx context.Context) error {
	said := w.agent.Said(w.child.output())
	s, ok := w.find(ctx, cmp.Or(w.child.spec.ID, said.ID, w.session.ID))
	if err := ctx.Err(); err != nil {
		return err
	}
	// An agent may say that it failed and end as if it had not (OpenCode 1.1.65), and what it said may be lost.
	failed := w.child.Exit() != Exit{} || said.Error != "" || !ok || w.child.spec.Resumed && !w.begun(ctx, s) ||
		s.Turn.State == discover.TurnFailed || s.Turn.Unanswered
	if ok {
		w.session = s
	}
	if !failed {
		return nil
	}
	e := &EndedError{Agent: w.agent.Name(), Exit: w.child.Exit(), Words: said.Error}
	if ok {
		e.Session = &s
	}
	if ok && w.begun(ctx, s) {
		// What the agent stored as its turn's error beats what else it printed: warnings, of a model's age say.
		e.Words = cmp.Or(e.Words, s.Error)
	}
	e.Words = cmp.Or(e.Words, lastWords(w.child.output()))
	return e
}

// lastWords are the end of what a process printed, of its errors if there are any.
func lastWords(o Output) string {
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
