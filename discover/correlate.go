package discover

import (
	"cmp"
	"slices"
	"sort"

	"agentctl/proc"
)

// Correlate decides which process runs which session. It returns one session for every record, one for every session
// that live processes name but storage does not hold (yet), and one without an ID for every live agent process that
// no evidence ties to a session. The records may come in several lists.
//
// Its laws, whatever the order of its input: a claim of a process that is not in the table with the same birth never
// links; exact claims always do, so one process may run many sessions and one session may have several processes;
// a strong claim links where nothing exact speaks of its process or its session and no other process claims the
// session as strongly; a weak claim links only where both sides are left with that one choice, and that of a process
// that may run more sessions where the session is. A claim of a client, which shows what
// another process runs, says nothing against other claims of that session. What is ambiguous is shown as such, on the session and on the process.
func Correlate(table *proc.Table, claims []Claim, records ...[]Record) []Session {
	cor := newCorrelation(table, claims)
	cor.link()
	return sorted(cor.sessions(records))
}

// correlation is the claims of one scan, by what they name, and what was decided of them.
type correlation struct {
	table             *proc.Table
	evidence          []Evidence             // claims that name a session, in canonical order
	presences         map[agentProcess]Claim // of live processes
	evidenceByTarget  map[target][]int       // indices into evidence
	targetsByID       map[recordID][]target
	evidenceByProcess map[agentProcess][]int    // of live processes only
	accepted          map[agentProcess][]target // what was decided
	acceptedClients   map[agentProcess][]target // the same for claims of clients
	// hidden says why processes that may run any session are out of sight; "" if they are not. absence is what was searched.
	hidden  string
	absence absence
	// exists reports whether a record's file still exists; nil: all do.
	exists func(*Record) bool
}

// newCorrelation sorts the claims in. Nothing is linked yet.
func newCorrelation(table *proc.Table, claims []Claim) *correlation {
	cor := &correlation{
		table: table, presences: map[agentProcess]Claim{}, evidenceByTarget: map[target][]int{},
		targetsByID: map[recordID][]target{}, evidenceByProcess: map[agentProcess][]int{}, accepted: map[agentProcess][]target{},
		acceptedClients: map[agentProcess][]target{},
	}
	for _, c := range slices.SortedFunc(slices.Values(claims), compareClaims) {
		_, live := table.Find(c.Process)
		who := agentProcess{c.Agent, c.Process}
		if c.Session == "" {
			if live {
				cor.addPresence(who, c)
			}
			continue
		}
		e := Evidence{Claim: c}
		if c.LeftBehind {
			e.Why = "left behind by a process that has ended"
		} else if !live {
			e.Why = "the process is gone, or its pid belongs to another one now"
		} else {
			cor.evidenceByProcess[who] = append(cor.evidenceByProcess[who], len(cor.evidence))
		}
		t := c.target()
		if len(cor.evidenceByTarget[t]) == 0 {
			cor.targetsByID[recordID{t.agent, t.id}] = append(cor.targetsByID[recordID{t.agent, t.id}], t)
		}
		cor.evidenceByTarget[t] = append(cor.evidenceByTarget[t], len(cor.evidence))
		cor.evidence = append(cor.evidence, e)
	}
	return cor
}

// addPresence adds a presence. If an adapter makes several of one process, the row is hidden only if all say so.
func (cor *correlation) addPresence(who agentProcess, c Claim) {
	if first, ok := cor.presences[who]; ok {
		first.Shared, first.HideIfUnlinked = first.Shared || c.Shared, first.HideIfUnlinked && c.HideIfUnlinked
		first.NameOnly = first.NameOnly && c.NameOnly
		c = first
	}
	cor.presences[who] = c
}

// compareClaims is the canonical order of claims, so that the order of the input does not matter.
func compareClaims(a, b Claim) int {
	return cmp.Or(
		cmp.Compare(a.Agent, b.Agent),
		cmp.Compare(a.Process.PID, b.Process.PID), cmp.Compare(a.Process.Birth, b.Process.Birth),
		cmp.Compare(b.Strength, a.Strength),
		cmp.Compare(a.Session, b.Session), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Home, b.Home),
		cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail),
		cmp.Compare(a.Source, b.Source), cmp.Compare(a.Title, b.Title), cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Team, b.Team),
		cmp.Compare(a.Unreadable, b.Unreadable),
		cmp.Compare(a.Alternative, b.Alternative), compareBool(a.Additional, b.Additional), compareBool(a.Client, b.Client), a.Since.Compare(b.Since),
	)
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// target is the session that a claim names.
type target struct {
	agent Agent
	id    string
	// place is the native file or, while there is none, the home and directory: an ID alone is not unique.
	place string
}

func (c Claim) target() target {
	if c.Path != "" {
		return target{c.Agent, c.Session, c.Path}
	}
	return target{c.Agent, c.Session, c.Home + "\x00" + c.Dir}
}

// agentProcess is a process as one agent sees it: a claim says nothing about another agent's view of the process.
type agentProcess struct {
	agent   Agent
	process proc.ID
}

// targetsOf returns the targets that mean this record: those with its path, and those made before it was on disk, if no other
// record with this ID fits as well. sameID are all records with this ID, if there is more than one.
func (cor *correlation) targetsOf(r *Record, sameID []*Record) []target {
	named := cor.targetsByID[r.recordID()]
	if len(named) == 0 {
		return nil
	}
	if len(sameID) == 0 {
		sameID = []*Record{r}
	}
	out := slices.DeleteFunc(slices.Clone(named), func(t target) bool {
		c := cor.evidence[cor.evidenceByTarget[t][0]].Claim
		return c.Path != r.Path && (c.Path != "" || bestRecord(c, sameID) != r.Key())
	})
	sort.Slice(out, func(i, j int) bool { return out[i].place < out[j].place })
	return out
}

// bestRecord finds the one record that a claim without a path can mean; the zero Key if there is none, or several.
func bestRecord(c Claim, sameID []*Record) Key {
	var fits, sameDir []Key
	for _, r := range sameID {
		if c.Home != "" && r.Home != c.Home {
			continue
		}
		fits = append(fits, r.Key())
		if r.Dir == c.Dir {
			sameDir = append(sameDir, r.Key())
		}
	}
	switch {
	case len(sameDir) == 1:
		return sameDir[0]
	case len(fits) == 1:
		return fits[0]
	}
	return Key{}
}

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
		Exact: "confirmed by the agent or the kernel", Strong: "strong evidence, and nothing speaks against it", Weak: "nothing else fits",
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
