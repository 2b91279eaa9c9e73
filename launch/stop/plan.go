package stop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/launch"
	"agentctl/proc"
)

// plan says what will be done about one session, and why. It is made from a snapshot and never changes. It refuses whatever is
// known to be in the way before anything is sent; the execution refuses only what the agent's answer shows.
type plan struct {
	// session is the session as the snapshot has it.
	session discover.Session
	adapter launch.Adapter
	clients []proc.Process
	// stopped: no process runs it; with [Options.Force] its tools are ended. refusal is why nothing is done; nil if nothing is in the way.
	stopped bool
	refusal error
	// others are the sessions that run in the same processes and were not chosen. shared: there are such sessions, or the
	// agent says so.
	others []discover.Session
	shared bool
	// asks: the agent is asked to end the session. maySignal: the session's processes may be signalled. After a request that was
	// accepted or not answered, that needs force.
	asks, maySignal bool
	// signals ask the session's processes to end, the gentlest first.
	signals []syscall.Signal
	// leftBehind are processes that an earlier process of the session has left behind, with their descendants.
	leftBehind []proc.ID
	// older is leftBehind without descendants.
	older proc.Descendants
}

// planAll makes the plans for the chosen sessions, each as the snapshot has it: a session may have been chosen a while ago, and
// its process may be another session's by now.
func (r *run) planAll(ctx context.Context, chosen []discover.Session) {
	chosen = slices.Clone(chosen)
	for i, session := range chosen {
		chosen[i] = r.refresh(session)
	}
	// Afterwards nothing shows that a process was older than the session's processes.
	trees := ancestry.NewTrees(r.scanner, r.snapshot, chosen)
	for _, session := range chosen {
		p := r.newPlan(ctx, session, chosen, r.adapterOf(session.Agent))
		x := r.newExecution(p)
		if p.ends() {
			left := trees.LeftBehind(session)
			p.older = processSet(left)
			p.leftBehind = idsOf(x.toolsAmong(r.snapshot, processSet(left)))
		}
	}
}

// newPlan decides what is done about a session of the snapshot. chosen are all that are to be stopped.
func (r *run) newPlan(ctx context.Context, session discover.Session, chosen []discover.Session, adapter launch.Adapter) *plan {
	p := &plan{session: session, adapter: adapter, signals: adapter.StopSignals()}
	p.others = slices.DeleteFunc(slices.Clone(r.snapshot.Sessions), func(o discover.Session) bool {
		// A sub-agent's session belongs to the process that runs it; it has no process of its own.
		return o.IsSubagent() || launch.IsSameRow(o, session) || !o.SharesProcess(session) ||
			slices.ContainsFunc(chosen, func(c discover.Session) bool { return launch.IsSameRow(o, c) })
	})
	p.shared = session.Shared || len(p.others) > 0
	if p.stopped = session.Status == discover.Stopped; !p.stopped {
		p.refusal = r.decide(ctx, p)
	}
	return p
}

// ends reports whether the session and its tools are to be ended.
func (p *plan) ends() bool { return !p.stopped && p.refusal == nil }

// decide decides how a live session is ended, or why not.
func (r *run) decide(ctx context.Context, p *plan) error {
	if n := len(p.session.Processes); n == 0 || p.session.Status == discover.Unknown && n > 1 {
		return refusal("which process runs it is not known" + launch.DescribeCandidates(p.session))
	}
	if p.session.NameOnly { // the process may be any program
		return refusal(fmt.Sprintf("nothing but its name says that %s is %s: if it is, end it with kill(1)", p.session.Processes[0].ID, p.session.Agent))
	}
	p.maySignal = r.Force || !p.shared
	// No request can name a session without an ID.
	if p.session.ID != "" && p.adapter.NeedsInterrupt(p.request()) {
		_, err := launch.Reachable(r.scanner, p.request(), "stop")
		p.asks = err == nil
		if err != nil && !r.Force {
			hint := ""
			if untrusted, ok := errors.AsType[*discover.UntrustedError](err); ok && untrusted.Session.Trust == discover.TrustSeen {
				hint = fmt.Sprintf(" (--home %s)", untrusted.Home())
			}
			return refusal(fmt.Sprintf("%v%s; --force ends its processes", err, hint))
		}
	}
	if !p.asks && !p.maySignal {
		return p.refuseShared()
	}
	if p.asks && p.shared {
		return r.decideClients(ctx, p)
	}
	return nil
}

// decideClients decides which clients of a session in a shared process are ended: those that show it. Others are ended only by force.
func (r *run) decideClients(ctx context.Context, p *plan) error {
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	sure, possible, err := p.adapter.FindClients(limited, p.request(), r.Host)
	p.clients = sure
	switch {
	case r.Force:
		p.clients = slices.Concat(sure, possible)
	case err != nil:
		return refusal(fmt.Sprintf("which terminals show it cannot be found: %v; --force asks the agent all the same", err))
	case len(possible) > 0:
		return refusal(fmt.Sprintf("it may be shown in %s, which may show another session: quit it there, or --force ends %s",
			joinFunc(possible, ", or ", describeTerminal), map[bool]string{true: "that process", false: "all of them"}[len(possible) == 1]))
	}
	return nil
}

// request is the session as the agent's adapter is to see it.
func (p *plan) request() discover.Session {
	s := p.session
	s.Shared = p.shared
	return s
}

// preview fills in the result of a plan that is not carried out.
func (x *execution) preview(result *Result) {
	switch p := x.plan; {
	case x.orphans:
		result.Outcome, result.Message = Planned, describeSIGTERM(idsOf(x.remaining))
	case p.stopped:
		result.Outcome = AlreadyStopped
	case p.refusal != nil:
		result.Outcome, result.Message = Refused, p.refusal.Error()
	default:
		after := p.request()
		result.Outcome, result.Message, result.After = Planned, p.describe(x.Force), &after
	}
}

// describe says what would be tried.
func (p *plan) describe(force bool) string {
	text := joinFunc(p.session.Processes, ", ", func(process proc.Process) string {
		return fmt.Sprintf("%s to %s", unix.SignalName(p.signals[0]), process.ID)
	})
	switch {
	case p.asks && !p.maySignal:
		text = fmt.Sprintf("will ask the agent to end the turn%s; %s goes on for its other sessions", p.describeClients(), p.session.Processes[0].ID)
	case p.asks && force:
		text = "will ask the agent to end it" + p.describeClients() + "; if it does not, " + text
	case p.asks:
		text = "will ask the agent to end it"
	}
	if p.shared && p.maySignal {
		text += "; " + p.describeShared() + ", which ends too"
	}
	if len(p.leftBehind) > 0 {
		text += fmt.Sprintf("; then %s, left behind before the session was resumed", describeSIGTERM(p.leftBehind))
	}
	return text
}

// describeClients says which clients would be ended.
func (p *plan) describeClients() string {
	if len(p.clients) == 0 {
		return ""
	}
	return ", and send " + joinFunc(p.clients, ", ", func(client proc.Process) string {
		return fmt.Sprintf("%s to %s, which shows it", unix.SignalName(p.signals[0]), describeTerminal(client))
	})
}

// describeTerminal names a process and its terminal.
func describeTerminal(p proc.Process) string {
	if tty, err := p.TTY(); err == nil && tty != "" {
		return fmt.Sprintf("%s (%s)", p.ID, tty)
	}
	return p.ID.String()
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

// refresh returns a chosen session as the snapshot has it. A session that the snapshot does not have has ended, unless a
// process of it lives and runs no other session: what an agent shows may be unreadable for a moment.
func (r *run) refresh(chosen discover.Session) discover.Session {
	if now, ok := launch.FindAgain(r.snapshot.Sessions, chosen); ok {
		return now
	}
	before := len(chosen.Processes)
	chosen.Processes = slices.DeleteFunc(slices.Clone(chosen.Processes), func(p proc.Process) bool {
		now, ok := r.snapshot.Table.Find(p.ID)
		return !ok || !now.Alive() || slices.ContainsFunc(r.snapshot.Sessions, func(o discover.Session) bool {
			return o.ID != "" && o.HasProcess(p.ID)
		})
	})
	if before > 0 && len(chosen.Processes) == 0 {
		return chosen.Vanished()
	}
	return chosen
}

// isAlive reports whether a process has not ended. A process that cannot be read counts as alive.
func isAlive(id proc.ID) bool {
	now, err := proc.Inspect(id.PID)
	return err == nil && now.ID == id && now.Alive() || err != nil && !errors.Is(err, proc.ErrGone)
}

// refusal is the decision not to end a session: the reason, for the user. The plan decides all reasons, except that a request to end one
// of several sessions was not accepted, and that the agent found no way to end one: the execution finds these. Force does not override
// that it is not known which process runs the session, or that only its name says that it is the agent.
type refusal string

func (r refusal) Error() string { return string(r) }

// refuseShared refuses to signal processes that serve other sessions. To choose those sessions too helps only if all of them
// are known.
func (p *plan) refuseShared() refusal {
	advice := "stop them together, or --force ends the process"
	if p.session.Shared {
		advice = "--force ends the process"
	}
	return refusal(p.describeShared() + "; " + advice)
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
