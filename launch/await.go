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
	if e.Exit == (Exit{}) {
		what = fmt.Sprintf("%s ended without a session", e.Agent)
	}
	return what + ": " + cmp.Or(e.Words, "it did not say why")
}

// ErrUnproven: the session was not proven in time.
var ErrUnproven = errors.New("the session could not be proven in time")

const (
	// settling is how long the child is watched after the proof: what fails at once is to be reported as failed.
	settling = 200 * time.Millisecond
	// patience is how long after the proof of the process the turn may take to show in storage. An agent that stores
	// nothing has none to show.
	patience = time.Second
	// glance and stare are the shortest and the longest time between two looks.
	glance = 15 * time.Millisecond
	stare  = 200 * time.Millisecond
)

// Await blocks until a session is proven to be run by the child or by what the child has started, and returns it. The
// proof is what every other verb goes by: the claims of live processes, joined with the storage. Errors: [*EndedError],
// [ErrUnproven] once ctx's deadline is over, and ctx's own; the child goes on, then.
func Await(ctx context.Context, world *discover.World, agent Agent, child *Child) (discover.Session, error) {
	w := &watch{world: world, agent: agent, child: child}
	for {
		began := time.Now()
		session, done, err := w.look(ctx)
		if done || err != nil {
			return session, unproven(ctx, err)
		}
		// A busy machine makes a look slow: looking must not make it busier.
		pause := time.NewTimer(min(max(3*time.Since(began), glance), stare))
		select {
		case <-ctx.Done():
			pause.Stop()
			return w.proven, unproven(ctx, ctx.Err())
		case <-child.Ended():
			pause.Stop()
		case <-pause.C:
		}
	}
}

func unproven(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ErrUnproven
	}
	return err
}

// watch is what is known so far.
type watch struct {
	world *discover.World
	agent Agent
	child *Child
	// proven is the session, and at when its process was proven.
	proven discover.Session
	at     time.Time
}

// look looks once. It is done when there is nothing more to find out.
func (w *watch) look(ctx context.Context) (discover.Session, bool, error) {
	ended := false
	select {
	case <-w.child.Ended():
		ended = true
	default:
	}
	// Whether it had ended is asked first: then nothing can appear later that this look did not see.
	r, err := w.world.List(ctx, discover.Select{Agents: []discover.Agent{w.agent.Name()}})
	if err != nil {
		return w.proven, false, err
	}
	own := w.own(r)
	if ended && len(own) == 0 {
		s, err := w.end(ctx)
		return s, true, err
	}
	s, ok := w.proof(own)
	if !ok {
		s, ok = w.chosen(ctx)
	}
	if !ok {
		return w.proven, false, nil
	}
	if w.at.IsZero() {
		w.at = time.Now()
	}
	w.proven = s
	waited := time.Since(w.at)
	return s, waited >= settling && (w.begun(s) || waited >= patience && !w.child.spec.Resumed), nil
}

// own are the rows, with and without a name, of what the child has started.
func (w *watch) own(r discover.Result) []discover.Session {
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
// exact evidence name.
func (w *watch) proof(own []discover.Session) (discover.Session, bool) {
	id := w.child.spec.ID
	if id == "" {
		id = w.agent.Said(w.child.output()).ID
	}
	var found []discover.Session
	for _, s := range own {
		if s.ID != "" && s.ID == cmp.Or(id, s.ID) && (id != "" || s.Proven()) {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		return discover.Session{}, false
	}
	return found[0], true
}

// chosen finds a new session by the ID that was chosen for it: nobody but the child was told, so that a record of it is
// proof enough for agents that leave no better one.
func (w *watch) chosen(ctx context.Context) (discover.Session, bool) {
	if w.child.spec.ID == "" || w.child.spec.Resumed {
		return discover.Session{}, false
	}
	return w.find(ctx, w.child.spec.ID)
}

func (w *watch) find(ctx context.Context, id string) (discover.Session, bool) {
	if id == "" {
		return discover.Session{}, false
	}
	r, err := w.world.Find(ctx, id, []discover.Agent{w.agent.Name()}, discover.Want{})
	if err != nil || len(r.Sessions) != 1 || r.Sessions[0].ID != id {
		return discover.Session{}, false
	}
	return r.Sessions[0], true
}

// begun reports whether the storage has the turn that the child was started for.
func (w *watch) begun(s discover.Session) bool {
	if s.Path == "" || s.Turn.State == discover.TurnNone || s.Turn.State == discover.TurnUnknown {
		return false
	}
	if !w.child.spec.Resumed {
		return true
	}
	// Agents note times to the millisecond, the kernel to a hundredth of a second.
	const clock = 20 * time.Millisecond
	began := s.Turn.Began
	if began.IsZero() {
		began = s.Updated
	}
	return !began.Before(w.child.Process.Started.Add(-clock))
}

// end is what is true of a child that has ended.
func (w *watch) end(ctx context.Context) (discover.Session, error) {
	said := w.agent.Said(w.child.output())
	s, ok := w.find(ctx, cmp.Or(w.child.spec.ID, said.ID, w.proven.ID))
	if err := ctx.Err(); err != nil {
		return s, err
	}
	failed := w.child.Exit() != Exit{} || !ok
	if w.child.spec.Resumed && ok && !w.begun(s) {
		failed = true
	}
	if !failed {
		return s, nil
	}
	e := &EndedError{Agent: w.agent.Name(), Exit: w.child.Exit(), Words: said.Error}
	if e.Words == "" {
		e.Words = lastWords(w.child.output())
	}
	if ok {
		e.Session = &s
	}
	return s, e
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
