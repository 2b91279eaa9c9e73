package stop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// target is a session to be stopped.
type target struct {
	Result
	*stopping
	stopper launch.Stopper
	session discover.Session
	// others run in the session's processes as well, and were not chosen.
	others []discover.Session
	agents []*agent
	// asked: the agent was asked in its own way, and took the order. over: what it was asked for has come about.
	asked, over bool
	// below are the tools still there at the last look.
	below []proc.Process
	// older are the processes that an earlier process of the session has left behind, those included that may be a rival's.
	older proc.Descendants
	// found is the session after all that was done, if it is known; interrupted: ctx had ended by then.
	found              discover.Session
	known, interrupted bool
	// rivals are the other sessions with this ID, once compared; unclear are processes that may be theirs.
	rivals   []discover.Session
	compared bool
	unclear  []proc.ID
}

// target decides what is to be done about a session. A result with an outcome is final.
func (s *stopping) target(session discover.Session) *target {
	t := &target{stopping: s, stopper: s.stopperOf(session.Agent), session: session}
	t.Before = session
	for _, p := range session.Processes {
		t.agents = append(t.agents, s.agent(p, t.stopper))
	}
	t.others = s.others(session)
	t.session.Shared = session.Shared || len(t.others) > 0
	switch {
	case session.Status == discover.Stopped:
		t.Outcome = AlreadyStopped
	case len(t.agents) == 0, session.Status == discover.Unknown && len(t.agents) > 1:
		t.refuse("which process runs it is not known%s", candidates(session))
	case s.DryRun:
		t.Outcome, t.Message, t.After = Planned, t.plan(), &t.session
	}
	return t
}

func (t *target) refuse(format string, args ...any) {
	t.Outcome, t.Message = Refused, fmt.Sprintf(format, args...)
}

func (t *target) fail(format string, args ...any) {
	t.Outcome, t.Message = Failed, fmt.Sprintf(format, args...)
}

// candidates names the processes that may run a session.
func candidates(s discover.Session) string {
	var ids []proc.ID
	for _, e := range s.Evidence {
		if !slices.Contains(ids, e.Process) {
			ids = append(ids, e.Process)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return ": it may be " + joined(ids, ", or ", proc.ID.String)
}

// others are the sessions that run in the same processes and were not chosen. A sub-agent's session belongs to the
// process that runs it; but it has no process of its own.
func (s *stopping) others(session discover.Session) []discover.Session {
	return slices.DeleteFunc(slices.Clone(s.now.Sessions), func(o discover.Session) bool {
		return o.IsSubagent() || same(o, session) || !o.SharesProcess(session) ||
			slices.ContainsFunc(s.chosen, func(c discover.Session) bool { return same(o, c) })
	})
}

// same reports whether two looks saw the same session. Where it is stored may have been unknown to one of them.
func same(a, b discover.Session) bool {
	if a.Agent != b.Agent || a.ID != b.ID {
		return false
	}
	if a.ID == "" {
		return a.SharesProcess(b)
	}
	return a.Path == b.Path || a.Path == "" || b.Path == ""
}

// plan says what would be tried.
func (t *target) plan() string {
	if t.session.Shared && !t.Force {
		return fmt.Sprintf("will interrupt the turn; the shared process %s is not signalled", t.agents[0].process.ID)
	}
	return joined(t.agents, ", ", func(a *agent) string {
		return fmt.Sprintf("%s to %s", signalName(a.gentle[0]), a.process.ID)
	})
}

// joined are the texts of a list.
func joined[T any](list []T, between string, text func(T) string) string {
	var texts []string
	for _, v := range list {
		texts = append(texts, text(v))
	}
	return strings.Join(texts, between)
}

// terminated says which processes would get a SIGTERM.
func terminated(ids []proc.ID) string {
	return joined(ids, ", ", func(id proc.ID) string { return "SIGTERM to " + id.String() })
}

// idsOf are the identities of processes.
func idsOf(list []proc.Process) (ids []proc.ID) {
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids
}

// served says whom else the processes of the session serve.
func (t *target) served() string {
	pid := t.agents[0].process.ID
	if len(t.others) == 0 {
		return fmt.Sprintf("%s serves other sessions too", pid)
	}
	names := joined(t.others, ", ", func(o discover.Session) string { return cmp.Or(o.ID, "an unidentified session") })
	return fmt.Sprintf("%s also runs %s", pid, names)
}

// end ends the session, or finds out why not.
func (t *target) end(ctx context.Context) {
	if t.Outcome != "" {
		return
	}
	for _, a := range t.agents {
		switch err := a.note(ctx); {
		case ctx.Err() != nil:
			return
		case err != nil:
			t.fail("%v", err)
			return
		}
	}
	err := t.ask(ctx)
	var untrusted *discover.UntrustedError
	switch {
	case ctx.Err() != nil:
	case t.over && !t.session.Shared:
		t.seeOff(ctx)
	case t.over:
	case t.Force, err == nil && !t.asked && !t.session.Shared:
		t.signal(ctx)
	case errors.As(err, &untrusted) && untrusted.Session.Trust == discover.TrustSeen:
		t.refuse("%v (--home %s); --force ends its processes", err, untrusted.Home())
	case errors.As(err, &untrusted), errors.Is(err, errOutOfReach):
		t.refuse("%v; --force ends its processes", err)
	case err != nil && !t.session.Shared:
		t.fail("%v", err)
	case err != nil:
		t.refuse("%s, and %v; --force ends all of it", t.served(), err)
	case t.asked: // what came of it is looked up at the end
	default:
		t.refuse("%s; stop them together, or --force ends all of it", t.served())
	}
}

// seeOff waits for the end of processes that were told to end in their agent's own way: one that is about to shows no
// session any more, but only once it is gone are its tools nobody's.
func (t *target) seeOff(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for _, a := range t.agents {
		h, err := proc.Open(a.process.ID)
		if err != nil {
			a.gone = errors.Is(err, proc.ErrGone)
			continue
		}
		a.attend(limited, h)
		_ = h.Close() // nothing is lost
	}
}

// signal ends the session's processes, all at the same time.
func (t *target) signal(ctx context.Context) {
	var wg sync.WaitGroup
	for _, a := range t.agents {
		wg.Go(func() { a.end(ctx) })
	}
	wg.Wait()
	if t.gone() {
		t.fade(ctx)
	}
}

// fade waits until nothing looks like the session any more: what its process was just about to start is, for a moment, a
// copy of itself, with the same files open.
func (t *target) fade(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	t.poll(limited, func(now discover.Session, known bool) bool { return !known || now.Status == discover.Stopped })
}
