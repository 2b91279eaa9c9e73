package discover

import (
	"slices"
)

// link accepts claims from the strongest to the weakest: first those of processes that run sessions, then those of clients that show
// them. Weaker evidence never undoes what stronger evidence decided.
func (cor *correlation) link() {
	for _, client := range []bool{false, true} {
		for _, strength := range []Strength{Exact, Strong, Weak} {
			cor.linkAlike(client, strength)
		}
	}
}

// linkAlike decides all claims of clients, or all others, of one strength at once, so that their order does not matter.
func (cor *correlation) linkAlike(client bool, strength Strength) {
	type link struct {
		who   agentProcess
		index int // into evidence
	}
	var links []link
	for who, list := range cor.evidenceByProcess {
		for _, i := range list {
			e := &cor.evidence[i]
			if e.Client != client || e.Strength != strength || e.Accepted {
				continue
			}
			if e.Why = cor.objection(who, e.Claim); e.Why == "" {
				links = append(links, link{who, i})
			}
		}
	}
	reason := map[Strength]string{
		Exact: "the agent or the kernel says so", Strong: "strong evidence, and nothing speaks against it", Weak: "nothing else fits",
	}[strength]
	for _, l := range links {
		cor.accept(l.who, l.index, reason)
	}
}

// acceptedOf are the targets of the accepted claims of clients, or of all others, by process.
func (cor *correlation) acceptedOf(client bool) map[agentProcess][]target {
	if client {
		return cor.acceptedClients
	}
	return cor.accepted
}

// accept links the process to the session of its claim.
func (cor *correlation) accept(who agentProcess, index int, why string) {
	e := &cor.evidence[index]
	e.Accepted, e.Why = true, why
	accepted := cor.acceptedOf(e.Client)
	if !slices.Contains(accepted[who], e.target()) {
		accepted[who] = append(accepted[who], e.target())
	}
}

// objection returns why a claim does not link; "" if it does.
func (cor *correlation) objection(who agentProcess, c Claim) string {
	accepted, t, strength := cor.acceptedOf(c.Client)[who], c.target(), c.Strength
	switch {
	case c.Client && !cor.claimedAbove(t, 0):
		return "no process is known to run the session"
	case strength == Exact:
		return ""
	case slices.Contains(accepted, t):
		return "" // it confirms what stronger evidence said
	case len(accepted) > 0 && !c.Additional && !(strength == Strong && cor.shared(who)):
		return "stronger evidence ties the process to another session"
	case !c.Client && cor.claimedAbove(t, strength):
		return "stronger evidence ties the session to another process"
	case c.Alternative != "":
		return "ambiguous: " + c.Alternative
	case !c.Client && len(cor.competingProcesses(t, strength)) > 1:
		return "ambiguous: several processes fit the session"
	case strength == Weak && !c.Additional && len(cor.candidateSessions(who, c.Client)) > 1:
		return "ambiguous: several sessions fit the process"
	}
	return ""
}

// shared reports whether the process serves many sessions, so that evidence for one says nothing against another.
func (cor *correlation) shared(who agentProcess) bool { return cor.presences[who].Shared }

// claimedAbove reports whether an accepted claim of more than this strength says that a process runs the session.
func (cor *correlation) claimedAbove(t target, strength Strength) bool {
	return slices.ContainsFunc(cor.evidenceByTarget[t], func(i int) bool {
		return cor.evidence[i].Accepted && !cor.evidence[i].Client && cor.evidence[i].Strength > strength
	})
}

// competingProcesses returns the live processes that claim with this strength to run the session and have no session yet, or can
// run more than one.
func (cor *correlation) competingProcesses(t target, strength Strength) map[agentProcess]bool {
	out := map[agentProcess]bool{}
	for _, i := range cor.evidenceByTarget[t] {
		e := cor.evidence[i]
		who := agentProcess{e.Agent, e.Process}
		if _, live := cor.table.Find(e.Process); live && e.Strength == strength && !e.Client &&
			(len(cor.accepted[who]) == 0 || cor.shared(who) || e.Additional) {
			out[who] = true
		}
	}
	return out
}

// candidateSessions returns the sessions that a process claims weakly to run, and that no stronger claim has linked; or those that it
// claims weakly to show as a client.
func (cor *correlation) candidateSessions(who agentProcess, client bool) map[target]bool {
	out := map[target]bool{}
	for _, i := range cor.evidenceByProcess[who] {
		e := &cor.evidence[i]
		if t := e.target(); e.Strength == Weak && e.Client == client && !e.Additional && (client || !cor.claimedAbove(t, Weak)) {
			out[t] = true
		}
	}
	return out
}
