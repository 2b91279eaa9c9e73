package stop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/launch"
	"agentctl/proc"
)

// action is what a plan does about a session.
type action uint8

const (
	actionEnd    action = iota // end the session and its tools
	actionNone                 // no process runs it; with [Options.Force] its tools are ended
	actionRefuse               // nothing, for the plan's reason
)

// plan says what will be done about one session, and why. It is made from a snapshot and never changes. It refuses only if it is
// not known which process runs the session; the execution refuses what the agent does not accept.
type plan struct {
	// session is the session as the snapshot has it.
	session discover.Session
	stopper launch.Stopper
	action  action
	reason  string
	// others are the sessions that run in the same processes and were not chosen. shared: there are such sessions, or the
	// agent says so.
	others []discover.Session
	shared bool
	// signals ask the session's processes to end, the gentlest first.
	signals []syscall.Signal
	// leftBehind are processes that an earlier process of the session has left behind, with their descendants.
	leftBehind []proc.ID
	// older are all processes that may be left behind: leftBehind without descendants, and those that may belong to another
	// session with this ID.
	older proc.Descendants
}

// plan makes the plans for the chosen sessions, each as the snapshot has it: a session may have been chosen a while ago, and
// its process may be another session's by now.
func (r *run) plan(ctx context.Context, chosen []discover.Session) []*plan {
	chosen = slices.Clone(chosen)
	for i, session := range chosen {
		if now, ok := findSession(r.snapshot.Sessions, session); ok {
			chosen[i] = now
		}
	}
	// Afterwards nothing shows that a process was older than the session's processes.
	trees := ancestry.NewTrees(r.scanner, r.snapshot, chosen)
	var plans []*plan
	for _, session := range chosen {
		p := newPlan(session, chosen, r.snapshot.Sessions, r.stopperOf(session.Agent))
		if p.action == actionEnd {
			left, unclear := trees.LeftBehind(ctx, session)
			p.older = processSet(slices.Concat(left, unclear))
			p.leftBehind = idsOf(r.newToolSearch(p).remaining(r.snapshot, processSet(left)))
		}
		plans = append(plans, p)
	}
	return plans
}

// newPlan decides what is done about a session. all are the snapshot's sessions, chosen those that are to be stopped.
func newPlan(session discover.Session, chosen, all []discover.Session, stopper launch.Stopper) *plan {
	p := &plan{session: session, stopper: stopper, signals: stopper.StopSignals()}
	if len(p.signals) == 0 {
		p.signals = defaultStopper{}.StopSignals()
	}
	p.others = slices.DeleteFunc(slices.Clone(all), func(o discover.Session) bool {
		// A sub-agent's session belongs to the process that runs it; it has no process of its own.
		return o.IsSubagent() || sameSession(o, session) || !o.SharesProcess(session) ||
			slices.ContainsFunc(chosen, func(c discover.Session) bool { return sameSession(o, c) })
	})
	p.shared = session.Shared || len(p.others) > 0
	switch n := len(session.Processes); {
	case session.Status == discover.Stopped:
		p.action = actionNone
	case n == 0, session.Status == discover.Unknown && n > 1:
		p.action, p.reason = actionRefuse, "which process runs it is not known"+candidates(session)
	}
	return p
}

// request is the session as the agent's stopper is to see it.
func (p *plan) request() discover.Session {
	s := p.session
	s.Shared = p.shared
	return s
}

// preview is the result of a plan that is not carried out.
func (p *plan) preview(force bool) Result {
	result := Result{Before: p.session, LeftBehind: p.leftBehind}
	switch p.action {
	case actionNone:
		result.Outcome = AlreadyStopped
	case actionRefuse:
		result.Outcome, result.Message = Refused, p.reason
	case actionEnd:
		after := p.request()
		result.Outcome, result.Message, result.After = Planned, p.describe(force), &after
	}
	return result
}

// describe says what would be tried.
func (p *plan) describe(force bool) string {
	if p.shared && !force {
		return p.describeLeftBehind(fmt.Sprintf("will interrupt the turn; the shared process %s is not signalled", p.session.Processes[0].ID))
	}
	return p.describeLeftBehind(joinFunc(p.session.Processes, ", ", func(process proc.Process) string {
		return fmt.Sprintf("%s to %s", signalName(p.signals[0]), process.ID)
	}))
}

func (p *plan) describeLeftBehind(text string) string {
	if len(p.leftBehind) > 0 {
		text += fmt.Sprintf("; then %s, left behind before the session was resumed", describeSIGTERM(p.leftBehind))
	}
	return text
}

// describeShared says which other sessions the processes of the session serve.
func (p *plan) describeShared() string {
	pid := p.session.Processes[0].ID
	if len(p.others) == 0 {
		return fmt.Sprintf("%s serves other sessions too", pid)
	}
	names := joinFunc(p.others, ", ", func(o discover.Session) string { return cmp.Or(o.ID, "an unidentified session") })
	return fmt.Sprintf("%s also runs %s", pid, names)
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
	return ": it may be " + joinFunc(ids, ", or ", proc.ID.String)
}

// describeSIGTERM says which processes would get a SIGTERM.
func describeSIGTERM(ids []proc.ID) string {
	return joinFunc(ids, ", ", func(id proc.ID) string { return "SIGTERM to " + id.String() })
}

// joinFunc joins the texts of a list's elements.
func joinFunc[T any](list []T, separator string, text func(T) string) string {
	var texts []string
	for _, v := range list {
		texts = append(texts, text(v))
	}
	return strings.Join(texts, separator)
}

// idsOf returns the identities of processes.
func idsOf(list []proc.Process) (ids []proc.ID) {
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids
}

// processSet makes a set of processes.
func processSet(list []proc.Process) proc.Descendants {
	set := proc.Descendants{}
	for _, p := range list {
		set[p.ID] = p
	}
	return set
}
