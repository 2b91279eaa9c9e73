package stop

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
		r, err = t.world.List(ctx, discover.Select{Agents: []discover.Agent{t.Before.Agent}})
	} else {
		r, err = t.world.Find(ctx, t.Before.ID, []discover.Agent{t.Before.Agent}, discover.Want{})
	}
	for _, s := range r.Sessions {
		if same(s, t.Before) {
			return s, s.Status != discover.Unknown || len(s.Processes) > 0
		}
	}
	if err != nil && !errors.Is(err, discover.ErrNotFound) {
		return t.Before, false
	}
	now = t.Before
	now.Status, now.Outcome, now.WaitingFor, now.Error = discover.Stopped, discover.OutcomeUnknown, "", ""
	now.Processes, now.Evidence, now.Shared = nil, nil, false
	return now, true
}

// conclude says what has become of the session, by what is true now.
func (t *target) conclude(ctx context.Context) {
	now, ok := t.look(ctx)
	interrupted := ctx.Err() != nil
	if interrupted {
		last, cancel := lastly(ctx)
		defer cancel()
		now, ok = t.look(last)
	}
	if ok && (now.ID != "" || now.Status != discover.Stopped) {
		t.After = &now
	}
	t.account()
	if t.Outcome == "" {
		t.judge(now, ok, interrupted)
	}
	if t.Outcome == AlreadyStopped && len(t.below) > 0 {
		t.leftBehind()
	}
	t.sayUnclear()
}

// account gathers what was signalled, and what lives all the same.
func (t *target) account() {
	var sent []Sent
	for _, a := range t.agents {
		sent = append(sent, a.sent...)
		if len(a.sent) > 0 && !a.gone {
			t.Survived = append(t.Survived, a.process.ID)
		}
	}
	t.Signalled = append(sent, t.Signalled...)
	for _, p := range t.below {
		t.Survived = append(t.Survived, p.ID)
	}
}

func (t *target) judge(now discover.Session, ok, interrupted bool) {
	// A process that has not ended yet may have let go of the session already.
	over := now.Status == discover.Stopped && len(t.Survived) == len(t.below)
	switch {
	case t.denial() != nil:
		t.fail("%v", t.denial())
	case !ok:
		t.fail("what has become of it cannot be told")
	case over && len(t.below) > 0, t.asked && now.Status == discover.Idle && len(t.below) > 0:
		t.fail("it is %s, but %s", now.Status, stillRun(t.below))
	case over:
		t.Outcome = Stopped
	case t.asked && t.session.Shared && now.Status == discover.Idle:
		t.Outcome, t.Message = Interrupted, fmt.Sprintf("it stays open in %s", now.Processes[0].ID)
	default:
		t.Outcome, t.Message = Running, t.why(now, interrupted)
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
func (t *target) why(now discover.Session, interrupted bool) string {
	pid := t.agents[0].process.ID.String()
	if len(now.Processes) > 0 {
		pid = now.Processes[0].ID.String()
	}
	switch {
	case interrupted && !t.asked && len(t.Signalled) == 0:
		return "nothing was done"
	case interrupted:
		return "not waited for"
	case t.gone():
		return fmt.Sprintf("%s runs it now", pid)
	case t.Force:
		return fmt.Sprintf("%s does not die", pid)
	case t.asked:
		return fmt.Sprintf("%s has taken the order, but goes on after %s", pid, t.Timeout)
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
	var pids []string
	for _, p := range list {
		pids = append(pids, p.ID.String())
	}
	if len(pids) == 1 {
		return "its tool " + pids[0] + " still runs"
	}
	return "its tools " + strings.Join(pids, ", ") + " still run"
}
