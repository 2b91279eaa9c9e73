package stop

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// tool is a process that ended sessions have left behind.
type tool struct {
	proc.Process
	of []*execution
}

// toolSignals is the state of ending tools: which of them have got a signal, and which are not signalled any more.
type toolSignals struct {
	sent, skip map[proc.ID]bool
	// killAt is when SIGKILL follows SIGTERM.
	killAt time.Time
}

// endTools ends the tools of all sessions that are over: by SIGTERM, and by SIGKILL after the grace period. It searches again
// until it finds none.
func (r *run) endTools(ctx context.Context) {
	for _, a := range r.agents {
		a.gone.Store(a.gone.Load() || !isAlive(a.process.ID)) // because it was interrupted, or in the last moment
	}
	signals := &toolSignals{sent: map[proc.ID]bool{}, skip: map[proc.ID]bool{}}
	for range maxToolScans {
		tools := r.findTools(ctx, signals.skip)
		if ctx.Err() != nil {
			last, cancel := finalContext(ctx)
			defer cancel()
			r.findTools(last, signals.skip)
			return
		}
		if len(tools) == 0 {
			return
		}
		if signals.killAt.IsZero() {
			signals.killAt = time.Now().Add(r.gracePeriod())
		}
		r.signalTools(ctx, tools, signals)
	}
	r.findTools(ctx, signals.skip)
}

// signalTools signals each tool once and waits until they are gone, or the grace period is over.
func (r *run) signalTools(ctx context.Context, tools []tool, signals *toolSignals) {
	wait := time.Until(signals.killAt)
	terminate := wait > 0
	if !terminate {
		wait = toolGracePeriod
	}
	var handles []*proc.Handle
	for _, p := range tools {
		sig := syscall.SIGKILL
		if (terminate || r.neverKill()) && !signals.sent[p.ID] {
			sig = syscall.SIGTERM
		}
		signals.sent[p.ID] = true
		h, err := proc.Open(p.ID)
		if err == nil {
			defer h.Close()
			err = sendSignal(h, p.Process, sig)
		}
		switch {
		case err == nil:
			handles = append(handles, h)
			for _, x := range p.of {
				x.signalled = append(x.signalled, SentSignal{p.ID, sig, RoleTool})
			}
		case !errors.Is(err, proc.ErrGone):
			signals.skip[p.ID] = true
		}
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, h := range handles {
		_ = h.Wait(limited) // the next search shows whether it is gone
	}
	for _, p := range tools {
		signals.skip[p.ID] = signals.skip[p.ID] || r.neverKill()
	}
}

// neverKill reports whether SIGTERM is all that is sent: nobody knows what an orphan of long ago is in the midst of.
func (r *run) neverKill() bool { return r.orphans && !r.Force }

// gracePeriod is how long tools may take to end after SIGTERM.
func (r *run) gracePeriod() time.Duration {
	if r.orphans {
		return r.Timeout
	}
	return toolGracePeriod
}

// findTools finds what is left of the sessions that are over, and returns the processes that are to be ended. Others, and
// those in skip, are only recorded as what remains of their sessions.
func (r *run) findTools(ctx context.Context, skip map[proc.ID]bool) []tool {
	// Orphans of a session that this search finds first are left for the next one.
	over := slices.DeleteFunc(slices.Clone(r.executions), func(x *execution) bool { return !x.isOver() })
	if len(over) == 0 {
		return nil
	}
	now, err := r.findRemaining(ctx)
	if err != nil {
		return nil
	}
	found := map[proc.ID]*tool{}
	for _, x := range over {
		if x.plan.action == actionNone && !r.Force && !r.orphans {
			continue
		}
		for _, p := range x.remaining {
			if skip[p.ID] {
				continue
			}
			if found[p.ID] == nil {
				found[p.ID] = &tool{Process: p}
			}
			found[p.ID].of = append(found[p.ID].of, x)
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

// findRemaining records what is left of each session that is over.
func (r *run) findRemaining(ctx context.Context) (discover.Result, error) {
	if r.orphans {
		return r.findOrphans(ctx)
	}
	now, err := r.scanner.List(ctx, discover.SessionFilter{Subagents: true, Thorough: true})
	if err != nil {
		return now, err
	}
	for _, x := range r.executions {
		if x.isOver() {
			x.remaining = x.search.tools(now)
		}
	}
	return now, nil
}
