package discover

import (
	"cmp"
	"slices"

	"agentctl/proc"
)

// sessions makes the rows, in no order: for the records, for sessions that storage does not hold, and for agent processes without
// a session.
func (cor *correlation) sessions(records [][]Record) []Session {
	stored, sameID := dedupe(records, cor.exists)
	rows := make([]Session, 0, len(stored)+len(cor.evidenceByTarget)+len(cor.presences))
	claimed := map[target]bool{}
	for _, r := range stored {
		rows = append(rows, cor.storedSession(r, cor.targetsOf(r, sameID[r.recordID()]), claimed))
	}
	for t := range cor.evidenceByTarget {
		if !claimed[t] {
			rows = cor.appendUnstored(rows, t)
		}
	}
	for who, c := range cor.presences {
		if len(cor.accepted[who])+len(cor.acceptedClients[who]) == 0 && !c.HideIfUnlinked {
			rows = append(rows, cor.unlinkedSession(who, c))
		}
	}
	return rows
}

// storedSession returns the row of a record. The targets mean the record; they are added to claimed.
func (cor *correlation) storedSession(r *Record, targets []target, claimed map[target]bool) Session {
	s := Session{Record: r}
	if len(targets) > 0 {
		own := *r // overlay changes it
		s.Record = &own
	}
	for _, t := range targets {
		claimed[t] = true
		s.Evidence = append(s.Evidence, cor.evidenceOf(t)...)
	}
	cor.completeSession(&s)
	return s
}

// appendUnstored appends the row of a session without a record, if a live process runs it.
func (cor *correlation) appendUnstored(rows []Session, t target) []Session {
	evidence := cor.evidenceOf(t)
	if !slices.ContainsFunc(evidence, func(e Evidence) bool { return e.Accepted }) {
		return rows
	}
	c := evidence[0]
	s := Session{Record: &Record{Agent: t.agent, ID: t.id, Path: c.Path, Home: c.Home}, Evidence: evidence}
	if slices.ContainsFunc(evidence, func(e Evidence) bool { return e.Accepted && e.Claim.Turn != nil && e.Claim.Turn.State == TurnNone }) {
		s.Turn.State = TurnNone // nothing is stored because nothing was asked for
	}
	cor.completeSession(&s)
	return append(rows, s)
}

func (cor *correlation) evidenceOf(t target) (evidence []Evidence) {
	for _, i := range cor.evidenceByTarget[t] {
		evidence = append(evidence, cor.evidence[i])
	}
	return evidence
}

// completeSession makes a session of its record and the evidence about it.
func (cor *correlation) completeSession(s *Session) {
	slices.SortStableFunc(s.Evidence, func(a, b Evidence) int {
		return cmp.Or(compareBool(!a.Accepted, !b.Accepted), compareBool(a.Client, b.Client), compareClaims(a.Claim, b.Claim))
	})
	var accepted []Claim
	hidden := cor.hidden
	for _, e := range s.Evidence {
		if e.Client {
			if e.Accepted {
				s.addClient(cor, e.Claim)
			}
		} else if e.Accepted {
			accepted = append(accepted, e.Claim)
			s.addProcess(cor.table, e.Process)
		} else if _, alive := cor.table.Find(e.Process); alive && (e.Additional || len(cor.accepted[agentProcess{e.Agent, e.Process}]) == 0) {
			hidden = cmp.Or(hidden, "process "+pidText(e.Claim)+" may ("+e.Why+")")
		}
	}
	for _, c := range slices.Backward(accepted) { // the strongest last, so that it prevails
		s.overlay(c)
	}
	for _, c := range accepted {
		p := cor.presences[agentProcess{c.Agent, c.Process}]
		if !p.Shared {
			s.Dir = cmp.Or(s.Dir, p.Dir)
		}
		s.NameOnly = s.NameOnly || p.NameOnly && c.Strength != Exact
	}
	s.dropForeignDir()
	s.setStatus(&statusInput{stored: s.Turn, claims: accepted, owner: cor.turnOwner(s, accepted), hidden: hidden, absence: cor.absence})
}

// unlinkedSession returns the row of a live agent process that no evidence ties to a session.
func (cor *correlation) unlinkedSession(who agentProcess, c Claim) Session {
	s := Session{Record: &Record{Agent: who.agent, Home: c.Home}, NameOnly: c.NameOnly}
	s.overlay(c)
	s.addProcess(cor.table, who.process)
	s.dropForeignDir()
	if c.Turn != nil {
		s.Turn = *c.Turn
	}
	s.setStatus(&statusInput{stored: s.Turn, claims: []Claim{c}})
	s.Evidence = []Evidence{{Claim: c, Accepted: true, Why: "a live process of the agent that no evidence ties to a session"}}
	for _, i := range cor.evidenceByProcess[who] {
		s.Evidence = append(s.Evidence, cor.evidence[i])
	}
	return s
}

// overlay replaces what was stored by what the live process shows.
func (s *Session) overlay(c Claim) {
	s.Source, s.Dir, s.Title = cmp.Or(c.Source, s.Source), cmp.Or(c.Dir, s.Dir), cmp.Or(c.Title, s.Title)
	// The home of the record stays: the process may see the same file through another one.
	s.Version, s.Home = cmp.Or(c.Version, s.Version), cmp.Or(s.Home, c.Home)
	s.Parent, s.Team = cmp.Or(c.Parent, s.Parent), cmp.Or(c.Team, s.Team)
	s.Shared = s.Shared || c.Shared
	if c.Turn != nil && c.Turn.State == TurnOpen {
		s.Turn.Detail = cmp.Or(c.Turn.Detail, s.Turn.Detail)
	}
	for _, fact := range c.Meta {
		s.SetMeta(fact.Name, fact.Value)
	}
}

func (s *Session) addProcess(table *proc.Table, id proc.ID) {
	s.Processes, s.table = withProcess(s.Processes, table, id), table
}

// addClient adds a client, and what it shows of the session, unless storage or the process that runs the session says it.
func (s *Session) addClient(cor *correlation, c Claim) {
	s.Clients, s.table = withProcess(s.Clients, cor.table, c.Process), cor.table
	s.Dir, s.Source = cmp.Or(s.Dir, cor.presences[agentProcess{c.Agent, c.Process}].Dir), cmp.Or(s.Source, c.Source)
}

// withProcess returns the list with a process, if it is new, and the oldest first.
func withProcess(list []proc.Process, table *proc.Table, id proc.ID) []proc.Process {
	p, ok := table.Find(id)
	if !ok || slices.ContainsFunc(list, func(q proc.Process) bool { return q.ID == id }) {
		return list
	}
	list = append(list, p)
	slices.SortFunc(list, func(a, b proc.Process) int {
		return cmp.Or(cmp.Compare(a.Ticks, b.Ticks), a.Started.Compare(b.Started), cmp.Compare(a.ID.PID, b.ID.PID))
	})
	return list
}
