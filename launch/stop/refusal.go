package stop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// reason is why a session is refused. The plan decides all reasons, except [requestFailed] and the [sharedProcess] of an agent that
// found no way to end one session: the execution finds these.
type reason string

const (
	// unknownProcess: it is not known which process runs the session. Force does not change that.
	unknownProcess reason = "unknown process"
	// nameOnly: nothing but its name says that the process is the agent. Force does not change that.
	nameOnly reason = "name only"
	// untrustedHome: the agent must be asked to end the session, and its home is not ours.
	untrustedHome reason = "untrusted home"
	// unreachableProcess: the agent must be asked, and its process is another user's or in another namespace.
	unreachableProcess reason = "unreachable process"
	// sharedProcess: the process serves other sessions, and the agent cannot end one of them.
	sharedProcess reason = "shared process"
	// unknownClients: it is not known which terminals show the session, and they would have to be ended.
	unknownClients reason = "unknown clients"
	// requestFailed: the process serves other sessions, and the request to end this one could not be made or was not accepted.
	requestFailed reason = "request failed"
)

// refusal is the decision not to end a session.
type refusal struct {
	reason reason
	// detail is the message for the user.
	detail string
}

func (r *refusal) Error() string { return r.detail }

// refuseUnknownProcess names the live processes that may run the session.
func refuseUnknownProcess(s discover.Session, table *proc.Table) *refusal {
	var ids []proc.ID
	for _, e := range s.Evidence {
		p, ok := table.Find(e.Process)
		if ok && p.Alive() && !slices.Contains(ids, e.Process) {
			ids = append(ids, e.Process)
		}
	}
	detail := "which process runs it is not known"
	if len(ids) > 0 {
		detail += ": it may be " + joinFunc(ids, ", or ", proc.ID.String)
	}
	return &refusal{unknownProcess, detail}
}

// refuseNameOnly refuses to signal a process that may be any program.
func refuseNameOnly(s discover.Session) *refusal {
	return &refusal{nameOnly, fmt.Sprintf("nothing but its name says that %s is %s: if it is, end it with kill(1)", s.Processes[0].ID, s.Agent)}
}

// refuseUnknownClients names the clients that show either the session or another one.
func refuseUnknownClients(possible []proc.Process) *refusal {
	return &refusal{unknownClients, fmt.Sprintf("it may be shown in %s, which may show another session: quit it there, or --force ends %s",
		joinFunc(possible, ", or ", describeTerminal), map[bool]string{true: "that process", false: "all of them"}[len(possible) == 1])}
}

// refuseRequest refuses a session whose agent must be asked and may not be. err is that of [launch.Reachable].
func refuseRequest(err error) *refusal {
	untrusted, ok := errors.AsType[*discover.UntrustedError](err)
	switch {
	case !ok:
		return &refusal{unreachableProcess, fmt.Sprintf("%v; --force ends its processes", err)}
	case untrusted.Session.Trust == discover.TrustSeen:
		return &refusal{untrustedHome, fmt.Sprintf("%v (--home %s); --force ends its processes", err, untrusted.Home())}
	}
	return &refusal{untrustedHome, fmt.Sprintf("%v; --force ends its processes", err)}
}

// refuseShared refuses to signal processes that serve other sessions. To choose those sessions too helps only if all of them
// are known.
func (p *plan) refuseShared() *refusal {
	advice := "stop them together, or --force ends the process"
	if p.session.Shared {
		advice = "--force ends the process"
	}
	return &refusal{sharedProcess, p.describeShared() + "; " + advice}
}

// refuseAfterRequest refuses to signal processes that serve other sessions after the agent has not accepted a request.
func (p *plan) refuseAfterRequest(err error) *refusal {
	return &refusal{requestFailed, fmt.Sprintf("%s, and %v; --force ends the process", p.describeShared(), err)}
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
