package discover

import (
	"slices"
)

// link accepts claims from the strongest to the weakest. Weaker evidence never undoes what stronger evidence decided.
func (cor *correlation) link() {
	for who, list := range cor.evidenceByProcess {
		for _, i := range list {
			if cor.evidence[i].Strength == Exact {
				cor.accept(who, i, "the agent or the kernel says so")
			}
		}
	}
	for _, strength := range []Strength{Strong, Weak} {
		cor.linkByStrength(strength)
	}
}

// linkByStrength decides all claims of one strength at once, so that their order does not matter.
func (cor *correlation) linkByStrength(strength Strength) {
	type link struct {
		who   agentProcess
		index int // into evidence
	}
	var links []link
	for who, list := range cor.evidenceByProcess {
		for _, i := range list {
			e := &cor.evidence[i]
			if e.Strength != strength || e.Accepted {
				continue
			}
			if e.Why = cor.objection(who, e.Claim); e.Why == "" {
				links = append(links, link{who, i})
			}
		}
	}
	for _, l := range links {
		reason := "nothing else fits"
		if strength == Strong {
			reason = "strong evidence, and nothing speaks against it"
		}
		cor.accept(l.who, l.index, reason)
	}
}

// accept links the process to the session of its claim.
func (cor *correlation) accept(who agentProcess, index int, why string) {
	e := &cor.evidence[index]
	e.Accepted, e.Why = true, why
	if !slices.Contains(cor.accepted[who], e.target()) {
		cor.accepted[who] = append(cor.accepted[who], e.target())
	}
}

// objection returns why a claim that is not exact does not link; "" if it does.
func (cor *correlation) objection(who agentProcess, c Claim) string {
	accepted, t, strength := cor.accepted[who], c.target(), c.Strength
	switch {
	case slices.Contains(accepted, t):
		return "" // it confirms what stronger evidence said
	case len(accepted) > 0 && !c.Additional && !(strength == Strong && cor.shared(who)):
		return "stronger evidence ties the process to another session"
	case cor.claimedAbove(t, strength):
		return "stronger evidence ties the session to another process"
	case c.Alternative != "":
		return "ambiguous: " + c.Alternative
	case len(cor.competingProcesses(t, strength)) > 1:
		return "ambiguous: several processes fit the session"
	case strength == Weak && !c.Additional && len(cor.candidateSessions(who)) > 1:
		return "ambiguous: several sessions fit the process"
	}
	return ""
}

// shared reports whether the process serves many sessions, so that evidence for one says nothing against another.
func (cor *correlation) shared(who agentProcess) bool { return cor.presences[who].Shared }

// claimedAbove reports whether an accepted claim of more than this strength names the session.
func (cor *correlation) claimedAbove(t target, strength Strength) bool {
	return slices.ContainsFunc(cor.evidenceByTarget[t], func(i int) bool {
		return cor.evidence[i].Accepted && cor.evidence[i].Strength > strength
	})
}

// competingProcesses returns the live processes that claim the session with this strength and have no session yet, or can run
// more than one.
func (cor *correlation) competingProcesses(t target, strength Strength) map[agentProcess]bool {
	out := map[agentProcess]bool{}
	for _, i := range cor.evidenceByTarget[t] {
		e := cor.evidence[i]
		who := agentProcess{e.Agent, e.Process}
		if _, live := cor.table.Find(e.Process); live && e.Strength == strength &&
			(len(cor.accepted[who]) == 0 || cor.shared(who) || e.Additional) {
			out[who] = true
		}
	}
	return out
}

// candidateSessions returns the sessions that a process claims weakly and that no stronger claim has linked.
func (cor *correlation) candidateSessions(who agentProcess) map[target]bool {
	out := map[target]bool{}
	for _, i := range cor.evidenceByProcess[who] {
		e := &cor.evidence[i]
		if t := e.target(); e.Strength == Weak && !e.Additional && !cor.claimedAbove(t, Weak) {
			out[t] = true
		}
	}
	return out
}
