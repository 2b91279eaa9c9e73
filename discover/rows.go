package discover

import (
	"cmp"
	"slices"
	"time"

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
		s.MayRunAny = s.MayRunAny || p.MayRunAny
	}
	s.dropForeignDir()
	possible := ""
	if len(accepted) == 0 {
		var inTurn bool
		if possible, inTurn = cor.possibleProcess(s); inTurn {
			hidden = cmp.Or(hidden, possible)
		}
	}
	s.setStatus(&statusInput{claims: accepted, owner: cor.turnOwner(s, accepted), hidden: hidden, possible: possible, absence: cor.absence})
}

// possibleProcess says which live process may run a stored session though nothing ties it to that; "" if none may. inTurn: it may be the one
// whose turn is stored, and has not ended. Of a session that was not written since the process started, only the process could tell.
func (cor *correlation) possibleProcess(s *Session) (why string, inTurn bool) {
	first := 0 // the lowest pid of those that are named
	for who, c := range cor.presences {
		p, _ := cor.table.Find(who.process)
		if !c.MayRunAny || who.agent != s.Agent || c.Home != s.Home || c.Dir != s.Dir || c.Dir == "" {
			continue
		}
		open := !s.Turn.Ended() && s.Turn.State != TurnNone && p.StartedBefore(s.Updated)
		if first == 0 || open && !inTurn || open == inTurn && p.ID.PID < first {
			first, inTurn = p.ID.PID, open
			why = "process " + pidText(c) + " in its directory may: nothing shows which session it runs"
		}
	}
	return why, inTurn
}

// unlinkedSession returns the row of a live agent process that no evidence ties to a session.
func (cor *correlation) unlinkedSession(who agentProcess, c Claim) Session {
	s := Session{Record: &Record{Agent: who.agent, Home: c.Home}, NameOnly: c.NameOnly, MayRunAny: c.MayRunAny}
	s.overlay(c)
	s.addProcess(cor.table, who.process)
	s.dropForeignDir()
	if c.Turn != nil {
		s.Turn = *c.Turn
	}
	s.setStatus(&statusInput{claims: []Claim{c}})
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
	for name, value := range c.Meta {
		s.SetMeta(name, value)
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

// recordID is the ID of a record, which records in several places may share.
type recordID struct {
	agent Agent
	id    string
}

// dedupe returns the records, each session once and in no order, and those that share an ID, by ID. Of a record that was read
// twice the newer one stays. Of records in several files those stay whose file exists, unless none does: a session that moves
// while it is read is found in both places.
func dedupe(lists [][]Record, exists func(*Record) bool) (rows []*Record, several map[recordID][]*Record) {
	several = map[recordID][]*Record{}
	for _, list := range lists {
		for i := range list {
			several[list[i].recordID()] = append(several[list[i].recordID()], &list[i])
		}
	}
	for key, same := range several {
		slices.SortStableFunc(same, func(a, b *Record) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), b.Updated.Compare(a.Updated))
		})
		same = slices.CompactFunc(same, func(a, b *Record) bool { return a.Path == b.Path })
		if exists != nil && len(same) > 1 && slices.ContainsFunc(same, exists) {
			same = slices.DeleteFunc(same, func(r *Record) bool { return !exists(r) })
		}
		rows = append(rows, same...)
		if several[key] = same; len(same) == 1 {
			delete(several, key)
		}
	}
	return rows, several
}

func (r *Record) recordID() recordID { return recordID{r.Agent, r.ID} }

// turnOwner is what is known of the process that the stored turn belongs to, from the live processes that run the session. A
// turn ends with its process, though no storage says so.
type turnOwner struct {
	// ownerEnded: the process of the turn has ended; those that run the session started later.
	ownerEnded bool
	// childStarted: a process of the session has a child that started after the last record, so the turn is at work and does not
	// wait for permission.
	childStarted bool
	// processTurns are the turns that processes have from their start on, before storage has them.
	processTurns []processTurn
}

type processTurn struct {
	Turn
	// replaces: storage has only the turns of earlier processes.
	replaces bool
}

// correct returns the stored turn as the processes show it, and says why it is so: interrupted if its process has ended; open if it
// seemed to wait for permission and a child of the process has started since.
func (o *turnOwner) correct(stored Turn) (turn Turn, why string) {
	switch {
	case o.ownerEnded && (stored.State == TurnOpen || stored.State == TurnWaiting):
		return Turn{State: TurnInterrupted, Began: stored.Began},
			"the turn that its storage has is older than the process: it was cut short when an earlier process ended"
	case o.childStarted:
		return Turn{State: TurnOpen, OpenCall: stored.OpenCall, Detail: stored.Detail, Began: stored.Began, Headless: stored.Headless},
			"its storage has no result of the last tool call, and the process has started a child since: the turn is in progress"
	}
	return stored, stored.newestText()
}

// substitute returns the turn of a process where storage does not have it yet, or else the stored turn, with the reason.
func (o *turnOwner) substitute(turn Turn, why string) (Turn, string) {
	for _, own := range o.processTurns {
		if turn.State == TurnNone || own.replaces {
			turn = own.Turn
			if why = turn.newestText(); turn.State != TurnNone {
				why = "its storage does not have the turn of this process yet, which " + turn.State.phrase()
			}
		}
	}
	return turn, why
}

// turnOwner finds out which process the session's stored turn belongs to.
func (cor *correlation) turnOwner(s *Session, claims []Claim) (o turnOwner) {
	if len(claims) == 0 {
		return o
	}
	// A turn of another process is older whatever the times say.
	fromEarlier := func(t time.Time) bool {
		return !slices.ContainsFunc(claims, func(c Claim) bool {
			p, _ := cor.table.Find(c.Process)
			return p.PreciseStart().IsZero() || !cor.isForeignTurn(s.Turn, c) && (t.IsZero() || p.StartedBefore(t))
		})
	}
	// The clock may have been set since, or have stood still with the machine, which makes all processes younger than they
	// are: a process that has written since it began may well be at work.
	askedEarlier, writtenEarlier := fromEarlier(s.Turn.Began), fromEarlier(s.Updated)
	o.ownerEnded = askedEarlier && writtenEarlier
	o.childStarted = !s.Turn.SilentSince.IsZero() && cor.hasChildSince(s, s.Turn.SilentSince)
	// What was stored before a process started belongs to an earlier one.
	replaces := askedEarlier || writtenEarlier && s.Turn.Began.IsZero()
	for _, c := range claims {
		p := cor.presences[agentProcess{c.Agent, c.Process}]
		if !p.Shared && p.Turn != nil {
			// A headless run has its turn from its first moment on; its sub-agents may be at work or not.
			o.processTurns = append(o.processTurns, processTurn{*p.Turn, replaces && isHeadlessSource(p.Source) && !s.IsSubagent()})
		}
	}
	return o
}

// isForeignTurn reports whether a turn belongs to another process than the claim's: it began before this one ran the session, or, where
// that is not known, it is by its record a headless run's.
func (cor *correlation) isForeignTurn(t Turn, c Claim) bool {
	if !c.Since.IsZero() && !t.Began.IsZero() {
		const blur = 50 * time.Millisecond // records have milliseconds, and a turn can begin with its session
		return t.Began.Before(c.Since.Add(-blur))
	}
	return t.Headless && !isHeadlessSource(cor.presences[agentProcess{c.Agent, c.Process}].Source)
}

// hasChildSince reports whether a process of the session has a live child that may have started since then.
func (cor *correlation) hasChildSince(s *Session, since time.Time) bool {
	const blur = 50 * time.Millisecond // of the clocks
	for _, p := range s.Processes {
		for child := range cor.table.Children(p.ID.PID) {
			if begun := child.PreciseStart(); child.Alive() && (begun.IsZero() || !begun.Add(blur).Before(since)) {
				return true
			}
		}
	}
	return false
}
