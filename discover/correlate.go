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
// that may run more sessions where the session is. What is ambiguous is shown as such, on the session and on the process.
func Correlate(table *proc.Table, claims []Claim, records ...[]Record) []Session {
	j := newCorrelation(table, claims)
	j.link()
	return sorted(j.sessions(records))
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

type correlation struct {
	table             *proc.Table
	evidence          []Evidence             // claims that name a session, in canonical order
	presences         map[agentProcess]Claim // of live processes
	evidenceByTarget  map[target][]int       // indices into evidence
	targetsByID       map[recordID][]target
	evidenceByProcess map[agentProcess][]int    // of live processes only
	accepted          map[agentProcess][]target // what was decided
	// processesHidden: processes are out of sight that may run any session.
	processesHidden bool
	// exists reports whether a record's file still exists; nil: all do.
	exists func(*Record) bool
}

func newCorrelation(table *proc.Table, claims []Claim) *correlation {
	j := &correlation{
		table: table, presences: map[agentProcess]Claim{}, evidenceByTarget: map[target][]int{},
		targetsByID: map[recordID][]target{}, evidenceByProcess: map[agentProcess][]int{}, accepted: map[agentProcess][]target{},
	}
	for _, c := range slices.SortedFunc(slices.Values(claims), compareClaims) {
		_, live := table.Find(c.Process)
		who := agentProcess{c.Agent, c.Process}
		if c.Session == "" {
			if live {
				j.addPresence(who, c)
			}
			continue
		}
		e := Evidence{Claim: c}
		if !live {
			e.Why = "the process is gone, or its pid belongs to another one now"
		} else {
			j.evidenceByProcess[who] = append(j.evidenceByProcess[who], len(j.evidence))
		}
		t := c.target()
		if len(j.evidenceByTarget[t]) == 0 {
			j.targetsByID[recordID{t.agent, t.id}] = append(j.targetsByID[recordID{t.agent, t.id}], t)
		}
		j.evidenceByTarget[t] = append(j.evidenceByTarget[t], len(j.evidence))
		j.evidence = append(j.evidence, e)
	}
	return j
}

// addPresence adds a presence. If an adapter makes several of one process, the row is hidden only if all say so.
func (j *correlation) addPresence(who agentProcess, c Claim) {
	if first, ok := j.presences[who]; ok {
		first.Shared, first.HideIfUnlinked = first.Shared || c.Shared, first.HideIfUnlinked && c.HideIfUnlinked
		c = first
	}
	j.presences[who] = c
}

func compareClaims(a, b Claim) int {
	return cmp.Or(
		cmp.Compare(a.Agent, b.Agent),
		cmp.Compare(a.Process.PID, b.Process.PID), cmp.Compare(a.Process.Birth, b.Process.Birth),
		cmp.Compare(b.Strength, a.Strength),
		cmp.Compare(a.Session, b.Session), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Home, b.Home),
		cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail),
		cmp.Compare(a.Source, b.Source), cmp.Compare(a.Title, b.Title), cmp.Compare(a.Unreadable, b.Unreadable),
		cmp.Compare(a.Alternative, b.Alternative), compareBool(a.Additional, b.Additional),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// link accepts claims from the strongest to the weakest. Weaker evidence never undoes what stronger evidence decided.
func (j *correlation) link() {
	for who, list := range j.evidenceByProcess {
		for _, i := range list {
			if j.evidence[i].Strength == Exact {
				j.accept(who, i, "the agent or the kernel says so")
			}
		}
	}
	for _, strength := range []Strength{Strong, Weak} {
		j.linkByStrength(strength)
	}
}

// linkByStrength decides all claims of one strength at once, so that their order does not matter.
func (j *correlation) linkByStrength(strength Strength) {
	type link struct {
		who agentProcess
		i   int
	}
	var links []link
	for who, list := range j.evidenceByProcess {
		for _, i := range list {
			e := &j.evidence[i]
			if e.Strength != strength || e.Accepted {
				continue
			}
			if e.Why = j.objection(who, e.Claim); e.Why == "" {
				links = append(links, link{who, i})
			}
		}
	}
	for _, l := range links {
		reason := "nothing else fits"
		if strength == Strong {
			reason = "strong evidence, and nothing speaks against it"
		}
		j.accept(l.who, l.i, reason)
	}
}

// objection returns why a claim that is not exact does not link; "" if it does.
func (j *correlation) objection(who agentProcess, c Claim) string {
	own, t, strength := j.accepted[who], c.target(), c.Strength
	switch {
	case slices.Contains(own, t):
		return "" // it confirms what stronger evidence said
	case len(own) > 0 && !c.Additional && !(strength == Strong && j.shared(who)):
		return "stronger evidence ties the process to another session"
	case j.claimedAbove(t, strength):
		return "stronger evidence ties the session to another process"
	case c.Alternative != "":
		return "ambiguous: " + c.Alternative
	case len(j.competingProcesses(t, strength)) > 1:
		return "ambiguous: several processes fit the session"
	case strength == Weak && !c.Additional && len(j.candidateSessions(who)) > 1:
		return "ambiguous: several sessions fit the process"
	}
	return ""
}

func (j *correlation) accept(who agentProcess, i int, why string) {
	e := &j.evidence[i]
	e.Accepted, e.Why = true, why
	if !slices.Contains(j.accepted[who], e.target()) {
		j.accepted[who] = append(j.accepted[who], e.target())
	}
}

// shared reports whether the process serves many sessions, so that evidence for one says nothing against another.
func (j *correlation) shared(who agentProcess) bool { return j.presences[who].Shared }

// claimedAbove reports whether an accepted claim of more than this strength names the session.
func (j *correlation) claimedAbove(t target, strength Strength) bool {
	return slices.ContainsFunc(j.evidenceByTarget[t], func(i int) bool {
		return j.evidence[i].Accepted && j.evidence[i].Strength > strength
	})
}

// competingProcesses returns the live processes that claim the session with this strength and have no session yet, or can run
// more than one.
func (j *correlation) competingProcesses(t target, strength Strength) map[agentProcess]bool {
	out := map[agentProcess]bool{}
	for _, i := range j.evidenceByTarget[t] {
		e := j.evidence[i]
		who := agentProcess{e.Agent, e.Process}
		if _, live := j.table.Find(e.Process); live && e.Strength == strength &&
			(len(j.accepted[who]) == 0 || j.shared(who) || e.Additional) {
			out[who] = true
		}
	}
	return out
}

// candidateSessions returns the sessions that a process claims weakly and that no stronger claim has linked.
func (j *correlation) candidateSessions(who agentProcess) map[target]bool {
	out := map[target]bool{}
	for _, i := range j.evidenceByProcess[who] {
		e := &j.evidence[i]
		if t := e.target(); e.Strength == Weak && !e.Additional && !j.claimedAbove(t, Weak) {
			out[t] = true
		}
	}
	return out
}

// sessions makes the rows, in no order.
func (j *correlation) sessions(records [][]Record) []Session {
	stored, several := dedupe(records, j.exists)
	out := make([]Session, 0, len(stored)+len(j.evidenceByTarget)+len(j.presences))
	claimed := map[target]bool{}
	for _, r := range stored {
		s := Session{Record: r}
		if targets := j.targetsOf(r, several[r.recordID()]); len(targets) > 0 {
			own := *r // overlay changes it
			s.Record = &own
			for _, t := range targets {
				claimed[t] = true
				for _, i := range j.evidenceByTarget[t] {
					s.Evidence = append(s.Evidence, j.evidence[i])
				}
			}
		}
		j.completeSession(&s)
		out = append(out, s)
	}
	for t, list := range j.evidenceByTarget {
		if claimed[t] {
			continue
		}
		var evidence []Evidence
		for _, i := range list {
			evidence = append(evidence, j.evidence[i])
		}
		// Without a record, only a live process makes it a session.
		if slices.ContainsFunc(evidence, func(e Evidence) bool { return e.Accepted }) {
			c := evidence[0]
			s := Session{Record: &Record{Agent: t.agent, ID: t.id, Path: c.Path, Home: c.Home}, Evidence: evidence}
			j.completeSession(&s)
			out = append(out, s)
		}
	}
	for who, c := range j.presences {
		if len(j.accepted[who]) == 0 && !c.HideIfUnlinked {
			out = append(out, j.unlinkedSession(who, c))
		}
	}
	return out
}

// targetsOf returns the targets that mean this record: those with its path, and those made before it was on disk, if no other
// record with this ID fits as well. several are all records with this ID, if there is more than one.
func (j *correlation) targetsOf(r *Record, several []*Record) []target {
	named := j.targetsByID[r.recordID()]
	if len(named) == 0 {
		return nil
	}
	if len(several) == 0 {
		several = []*Record{r}
	}
	out := slices.DeleteFunc(slices.Clone(named), func(t target) bool {
		c := j.evidence[j.evidenceByTarget[t][0]].Claim
		return c.Path != r.Path && (c.Path != "" || bestRecord(c, several) != r.Key())
	})
	slices.SortFunc(out, func(a, b target) int { return cmp.Compare(a.place, b.place) })
	return out
}

// bestRecord finds the one record that a claim without a path can mean; the zero Key if there is none, or several.
func bestRecord(c Claim, same []*Record) Key {
	var fits, sameDir []Key
	for _, r := range same {
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

// completeSession makes a session of its record and the evidence about it.
func (j *correlation) completeSession(s *Session) {
	slices.SortStableFunc(s.Evidence, func(a, b Evidence) int {
		if a.Accepted != b.Accepted {
			return map[bool]int{true: -1, false: 1}[a.Accepted]
		}
		return compareClaims(a.Claim, b.Claim)
	})
	var accepted []Claim
	ambiguous := false
	for _, e := range s.Evidence {
		if e.Accepted {
			accepted = append(accepted, e.Claim)
			s.addProcess(j.table, e.Process)
		} else if _, alive := j.table.Find(e.Process); alive && (e.Additional || len(j.accepted[agentProcess{e.Agent, e.Process}]) == 0) {
			ambiguous = true
		}
	}
	for _, c := range slices.Backward(accepted) { // the strongest last, so that it prevails
		s.overlay(c)
	}
	for _, c := range accepted {
		if p := j.presences[agentProcess{c.Agent, c.Process}]; !p.Shared {
			s.Dir = cmp.Or(s.Dir, p.Dir)
		}
	}
	s.dropForeignDir()
	s.setStatus(&statusInput{stored: s.Turn, claims: accepted, owner: j.turnOwner(s, accepted), mayBeHidden: j.processesHidden || ambiguous})
}

// unlinkedSession returns the row of a live agent process that no evidence ties to a session.
func (j *correlation) unlinkedSession(who agentProcess, c Claim) Session {
	s := Session{Record: &Record{Agent: who.agent, Home: c.Home}}
	s.overlay(c)
	s.addProcess(j.table, who.process)
	s.dropForeignDir()
	if c.Turn != nil {
		s.Turn = *c.Turn
	}
	s.setStatus(&statusInput{stored: s.Turn, claims: []Claim{c}})
	s.Evidence = []Evidence{{Claim: c, Accepted: true, Why: "a live process of the agent that no evidence ties to a session"}}
	for _, i := range j.evidenceByProcess[who] {
		s.Evidence = append(s.Evidence, j.evidence[i])
	}
	return s
}

// overlay replaces what was stored by what the live process shows.
func (s *Session) overlay(c Claim) {
	s.Source, s.Dir, s.Title = cmp.Or(c.Source, s.Source), cmp.Or(c.Dir, s.Dir), cmp.Or(c.Title, s.Title)
	s.Version, s.Home = cmp.Or(c.Version, s.Version), cmp.Or(c.Home, s.Home)
	s.Shared = s.Shared || c.Shared
	if c.Turn != nil && c.Turn.State == TurnOpen {
		s.Turn.Detail = cmp.Or(c.Turn.Detail, s.Turn.Detail)
	}
	for _, fact := range c.Meta {
		s.SetMeta(fact.Name, fact.Value)
	}
}

// addProcess adds a process, if it is new, and keeps the oldest first.
func (s *Session) addProcess(table *proc.Table, id proc.ID) {
	p, ok := table.Find(id)
	if !ok || slices.ContainsFunc(s.Processes, func(q proc.Process) bool { return q.ID == id }) {
		return
	}
	s.Processes = append(s.Processes, p)
	slices.SortFunc(s.Processes, func(a, b proc.Process) int {
		return cmp.Or(cmp.Compare(a.Ticks, b.Ticks), a.Started.Compare(b.Started), cmp.Compare(a.ID.PID, b.ID.PID))
	})
}
