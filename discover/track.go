package discover

import (
	"slices"
	"time"

	"agentctl/proc"
)

// track is a session from the look that finds it to the one that finds it stopped.
type track struct {
	now   Session
	since time.Time // when it was found
	doubted
	// replaced: its process, of which no session was known, runs known ones now. They have tracks of their own.
	replaced bool
	// told is the session as it was last told of; nil: it was not.
	told *Session
}

// lag is how much later than what it stores an agent may show which process runs it.
const lag = 2 * time.Second

// clear ends the tracks of what has stopped.
func (s *survey) clear() {
	s.sessions = nil
	s.tracks = slices.DeleteFunc(s.tracks, func(t *track) bool {
		if t.replaced {
			return true
		}
		if t.now.Status == Stopped {
			s.end(t.now, t.told != nil)
			return true
		}
		s.sessions = append(s.sessions, t.now)
		return false
	})
}

// end keeps what a session was when it had stopped, and whether it was told of. One that never had a name is nothing any
// more.
func (s *survey) end(row Session, told bool) {
	if row.ID == "" {
		return
	}
	s.ended[row.Key()] = row
	s.told[row.Key()] = told
	if s.sel.All {
		s.stored = slices.DeleteFunc(s.stored, func(o Session) bool { return o.Key() == row.Key() })
		s.stored = append(s.stored, row)
	}
}

// settle takes what a look has found to the tracks, and begins new ones. r holds the rows of the tracks, and all of them
// afterwards; all are the rows of the whole look.
func (s *survey) settle(m moment, r *Result, all []Session) {
	rows, turned := r.Sessions, s.turned(all)
	for i, t := range s.tracks {
		t.step(rows[i], r.Table, all, turned, m.now)
		if t.doubtful() {
			s.watch.wake(t.until())
		}
	}
	held := slices.Clone(rows)
	for _, t := range s.tracks {
		if t.doubtful() {
			held = append(held, t.now)
		}
	}
	doubted := s.doubted
	if m.whole {
		s.stored, s.doubted = nil, map[Key]time.Time{}
	}
	for _, row := range all {
		switch {
		case covered(row, held):
		case row.Status.Live(), m.whole && s.unseen(row, m.since) && !s.mayLive(row, m, doubted[row.Key()]):
			t := &track{now: row, since: m.now}
			if old, ok := s.ended[row.Key()]; ok && s.told[row.Key()] { // of others the filter is asked again
				t.told = &old
			}
			s.tracks = append(s.tracks, t)
		case m.whole && s.sel.All:
			s.stored = append(s.stored, row)
		}
	}
	r.Sessions = nil
	for _, t := range s.tracks {
		if !t.replaced {
			r.Sessions = append(r.Sessions, t.now)
		}
	}
}

// turned are the processes that run a session that they did not run before.
func (s *survey) turned(all []Session) map[proc.ID]bool {
	turned := map[proc.ID]bool{}
	for _, row := range all {
		for _, p := range row.Processes {
			before := func(t *track) bool {
				return t.now.Agent == row.Agent && t.now.ID == row.ID && t.now.hasProcess(p.ID)
			}
			if row.ID != "" && !row.IsSub() && !slices.ContainsFunc(s.tracks, before) {
				turned[p.ID] = true
			}
		}
	}
	return turned
}

// step takes the track's row of a look, in which all rows are those of all sessions.
func (t *track) step(row Session, table *proc.Table, all []Session, turned map[proc.ID]bool, now time.Time) {
	lives, other := t.now.survives(table, func(p proc.ID) bool { return turned[p] })
	if row.ID == "" && !unnamed(row, all) {
		row.judge(&statusFacts{lost: true})
		t.replaced = other
	}
	t.now = t.believe(t.now, row, lives, other, now)
}

// unnamed reports whether one of these sessions is the row's, of which none is known by name.
func unnamed(row Session, sessions []Session) bool {
	return slices.ContainsFunc(sessions, func(s Session) bool { return s.ID == "" && covered(row, []Session{s}) })
}

// covered reports whether one of these sessions is the row's: by its name or, of a process whose session is not known, by
// the process.
func covered(row Session, sessions []Session) bool {
	return slices.ContainsFunc(sessions, func(s Session) bool {
		if s.Agent != row.Agent {
			return false
		}
		if row.ID != "" {
			return s.ID == row.ID && (s.Path == row.Path || row.Path == "")
		}
		return slices.ContainsFunc(row.Processes, func(p proc.Process) bool { return s.hasProcess(p.ID) })
	})
}

// unseen reports whether a stopped session was run since, though nobody has seen it, or has ended otherwise than was
// thought.
func (s *survey) unseen(row Session, since time.Time) bool {
	if row.Updated.Before(since) {
		return false
	}
	old, ok := s.ended[row.Key()]
	return !ok || row.differs(old) || row.later(old)
}

// mayLive reports whether a stopped session that nobody saw may be run by one of its agent's processes all the same: what
// ties them may come later than what is stored. It is believed to have stopped when it seems so for long; since says since
// when it did before.
func (s *survey) mayLive(row Session, m moment, since time.Time) bool {
	if !m.hosts(row) {
		return false
	}
	if since.IsZero() {
		since = m.now
	}
	enough := lag
	if row.Turn.State != TurnDone && row.Turn.State != TurnFailed {
		enough = round // somebody is to go on with it
	}
	if m.now.Sub(since) >= enough {
		return false
	}
	s.doubted[row.Key()] = since
	s.wholeBy(since.Add(enough))
	return true
}

// differs reports whether the session's state is another one than it was.
func (s Session) differs(was Session) bool {
	return s.Status != was.Status || s.Outcome != was.Outcome || s.WaitingFor != was.WaitingFor || s.Error != was.Error
}

// later reports whether the session is in a later turn than it was, as far as its storage tells. Where it did not tell when
// the one before was asked for, that was before its last record.
func (s Session) later(was Session) bool {
	known := was.Turn.Began
	if known.IsZero() {
		known = was.Updated
	}
	return !known.IsZero() && s.Turn.Began.After(known)
}
