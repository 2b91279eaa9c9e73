package discover

import (
	"cmp"
	"slices"

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
		if !live {
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
