package stop

import (
	"context"
	"errors"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

const (
	// grace is how long tools may take to end of themselves before they are killed.
	grace = 2 * time.Second
	// rounds is how often what has been started meanwhile is looked for: something that starts its successor whenever
	// it is ended must not keep us for ever.
	rounds = 20
)

// tool is a process that an ended session has left behind.
type tool struct {
	proc.Process
	of []*target
}

// endTools ends the tools of all sessions that are over: it asks them to, and kills what is left after [grace]. It looks
// again until it finds none.
func (s *stopping) endTools(ctx context.Context) {
	for _, a := range s.agents {
		a.gone = a.gone || !lives(a.process.ID) // in its agent's own way, or in the last moment
	}
	asked, denied := map[proc.ID]bool{}, map[proc.ID]bool{}
	var until time.Time
	for range rounds {
		left := s.tools(ctx, denied)
		if ctx.Err() != nil {
			last, cancel := lastly(ctx)
			defer cancel()
			s.tools(last, denied)
			return
		}
		if len(left) == 0 {
			return
		}
		if until.IsZero() {
			until = time.Now().Add(s.patience())
		}
		s.endOnce(ctx, left, asked, denied, until)
	}
	s.tools(ctx, denied)
}

// endOnce signals each tool once and waits until they are gone, or until the time is.
func (s *stopping) endOnce(ctx context.Context, left []tool, asked, denied map[proc.ID]bool, until time.Time) {
	wait := time.Until(until)
	gentle := wait > 0
	if !gentle {
		wait = grace
	}
	var held []*proc.Handle
	for _, p := range left {
		sig := syscall.SIGKILL
		if (gentle || s.mild()) && !asked[p.ID] {
			sig = syscall.SIGTERM
		}
		asked[p.ID] = true
		h, err := proc.Open(p.ID)
		if err == nil {
			held = append(held, h)
			err = send(h, p.Process, sig)
		}
		switch {
		case err == nil:
			for _, t := range p.of {
				t.Signalled = append(t.Signalled, SentSignal{p.ID, sig, RoleTool})
			}
		case !errors.Is(err, proc.ErrGone):
			denied[p.ID] = true
		}
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, h := range held {
		_ = h.Wait(limited) // whether it is gone shows at the next look
		_ = h.Close()       // nothing is lost
	}
	for _, p := range left {
		denied[p.ID] = denied[p.ID] || s.mild() // it was asked, and that is all
	}
}

// mild: nothing is killed. Of what was left behind long ago nobody knows what it is in the midst of.
func (s *stopping) mild() bool { return s.orphans && !s.Force }

// patience is how long tools may take to end of themselves.
func (s *stopping) patience() time.Duration {
	if s.orphans {
		return s.Timeout
	}
	return grace
}

// tools looks for what is left of the sessions that are over, and returns those that are to be ended. The others, and
// those that may not be, are known as their sessions' survivors only.
func (s *stopping) tools(ctx context.Context, denied map[proc.ID]bool) []tool {
	var over []*target
	for _, t := range s.targets {
		if t.isOver() {
			over = append(over, t)
		}
	}
	if len(over) == 0 {
		return nil
	}
	now, err := s.leave(ctx, over)
	if err != nil {
		return nil
	}
	found := map[proc.ID]*tool{}
	for _, t := range over {
		for _, p := range t.below {
			if t.Outcome == AlreadyStopped && !t.Force && !s.orphans || denied[p.ID] {
				continue
			}
			if found[p.ID] == nil {
				found[p.ID] = &tool{Process: p}
			}
			found[p.ID].of = append(found[p.ID].of, t)
		}
	}
	var out []tool
	for p := range now.Table.All() {
		if f := found[p.ID]; f != nil {
			out = append(out, *f)
		}
	}
	return out
}

// leave finds out what these have left behind by now.
func (s *stopping) leave(ctx context.Context, over []*target) (discover.Result, error) {
	if s.orphans {
		return s.leaveOrphans(ctx)
	}
	now, err := s.world.List(ctx, discover.SessionFilter{Subagents: true})
	if err == nil {
		for _, t := range over {
			t.findRivals(ctx)
			t.below = t.leftovers(now)
		}
	}
	return now, err
}

// lives reports whether the process has not ended. What cannot be told is taken to live.
func lives(id proc.ID) bool {
	now, err := proc.Inspect(id.PID)
	return err == nil && now.ID == id && now.Alive() || err != nil && !errors.Is(err, proc.ErrGone)
}

// isOver: nothing of the session is to be left.
func (t *target) isOver() bool {
	return t.Outcome == AlreadyStopped || t.Outcome == "" && (t.over || t.gone())
}

// gone reports whether the session had processes and all of them have ended.
func (t *target) gone() bool {
	for _, a := range t.agents {
		if !a.gone {
			return false
		}
	}
	return len(t.agents) > 0
}
