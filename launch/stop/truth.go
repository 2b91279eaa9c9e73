package stop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// lastLook is how long finding out what is true may take when we are to end ourselves.
const lastLook = 2 * time.Second

// lastly is the context to find out in what is true, though ctx has ended.
func lastly(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), lastLook)
}

// look sees how the session is now. What neither a process nor the storage knows any more is stopped. Not ok: it cannot
// be told.
func (t *target) look(ctx context.Context) (now discover.Session, ok bool) {
	var r discover.Result
	var err error
	if t.Before.ID == "" {
		r, err = t.world.List(ctx, discover.SessionFilter{Agents: []discover.Agent{t.Before.Agent}})
	} else {
		r, err = t.world.Find(ctx, t.Before.ID, []discover.Agent{t.Before.Agent}, discover.ReadOptions{})
	}
	for _, s := range r.Sessions {
		if same(s, t.Before) {
			return s, s.Status != discover.Unknown || len(s.Processes) > 0
		}
	}
	if err != nil && !errors.Is(err, discover.ErrNotFound) {
		return t.Before, false
	}
	return t.Before.Vanished(), true
}

// see finds out how the session is now.
func (t *target) see(ctx context.Context) {
	t.found, t.known = t.look(ctx)
	if t.interrupted = ctx.Err() != nil; t.interrupted {
		last, cancel := lastly(ctx)
		defer cancel()
		t.found, t.known = t.look(last)
	}
}

// endedLate reports whether an agent's process has ended that was alive when tools were last looked for: a signalled process
// may end after it was last waited for.
func (s *stopping) endedLate() bool {
	return slices.ContainsFunc(s.targets, func(t *target) bool {
		return t.Outcome == "" && slices.ContainsFunc(t.agents, func(a *agent) bool { return !a.gone && !lives(a.process.ID) })
	})
}

// conclude says what has become of the session, by what was found last.
func (t *target) conclude() {
	if t.known && (t.found.ID != "" || t.found.Status != discover.Stopped) {
		t.After = &t.found
	}
	t.account()
	if t.Outcome == "" {
		t.judge()
	}
	if t.Outcome == AlreadyStopped && len(t.below) > 0 {
		t.leftBehind()
	}
	t.sayUnclear()
}

// account gathers what was signalled, and what lives all the same.
func (t *target) account() {
	var sent []SentSignal
	for _, a := range t.agents {
		sent = append(sent, a.sent...)
		if len(a.sent) > 0 && !a.gone {
			t.Survived = append(t.Survived, a.process.ID)
		}
	}
	t.Signalled = append(sent, t.Signalled...)
	t.Survived = append(t.Survived, idsOf(t.below)...)
}

func (t *target) judge() {
	now := t.found
	// A process that has not ended yet may have let go of the session already.
	over := now.Status == discover.Stopped && len(t.Survived) == len(t.below)
	switch {
	case t.denial() != nil:
		t.fail("%v", t.denial())
	case !t.known:
		t.fail("its status is not known")
	case over && len(t.below) > 0, t.asked && now.Status == discover.Idle && len(t.below) > 0:
		t.fail("it is %s, but %s", now.Status, stillRun(t.below))
	case over:
		t.Outcome = Stopped
	case t.asked && t.session.Shared && now.Status == discover.Idle:
		t.Outcome, t.Message = Interrupted, fmt.Sprintf("it stays open in %s", now.Processes[0].ID)
	default:
		t.Outcome, t.Message = Running, t.why()
	}
}

// denial is why a process could not be signalled.
func (t *target) denial() error {
	for _, a := range t.agents {
		if a.err != nil && !a.gone {
			return a.err
		}
	}
	return nil
}

// why says why the session still runs.
func (t *target) why() string {
	pid := t.agents[0].process.ID.String()
	if len(t.found.Processes) > 0 {
		pid = t.found.Processes[0].ID.String()
	}
	switch {
	case t.interrupted && !t.asked && len(t.Signalled) == 0:
		return "nothing was done"
	case t.interrupted:
		return "not waited for"
	case t.gone():
		return fmt.Sprintf("%s runs it now", pid)
	case t.Force:
		return fmt.Sprintf("%s has not ended after SIGKILL", pid)
	case t.asked:
		return fmt.Sprintf("%s has accepted the request to end, but still runs it after %s", pid, t.Timeout)
	}
	return fmt.Sprintf("%s has not ended within %s; --force kills it", pid, t.Timeout)
}

// leftBehind says what a session that was stopped before has left running.
func (t *target) leftBehind() {
	switch {
	case t.Force:
		t.fail("%s", stillRun(t.below))
		return
	case t.orphans:
		t.fail("%s after %s; --force kills", stillRun(t.below), t.Timeout)
		return
	}
	t.Message = stillRun(t.below) + "; --force ends what it has left behind"
}

func stillRun(list []proc.Process) string {
	ids := joined(idsOf(list), ", ", proc.ID.String)
	if len(list) == 1 {
		return "its tool " + ids + " still runs"
	}
	return "its tools " + ids + " still run"
}
