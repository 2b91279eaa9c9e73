package discover

import (
	"context"
	"fmt"
	"slices"

	"agentctl/proc"
)

func (f *follower) rowsOf(r Result, blind bool) []Session {
	rows := make([]Session, len(f.sessions))
	for i, s := range f.sessions {
		var ok bool
		if rows[i], ok = f.findRow(s, r.Sessions); !ok {
			rows[i] = s.asMissing(r, blind)
		}
	}
	return rows
}

// findRow finds a session's row: by its key; by its ID with another path, if there is only one and it is not another followed
// session; or by the process, if its ID was not known.
func (f *follower) findRow(s Session, rows []Session) (Session, bool) {
	if i := slices.IndexFunc(rows, func(r Session) bool { return s.ID != "" && r.Key() == s.Key() }); i >= 0 {
		return rows[i], true
	}
	var found []Session
	for _, r := range rows {
		same := r.ID == s.ID
		if s.ID == "" {
			same = !r.IsSubagent() && slices.ContainsFunc(s.Processes, func(p proc.Process) bool { return r.RunByOrShownIn(p.ID.PID) })
		}
		other := slices.ContainsFunc(f.sessions, func(o Session) bool { return o.ID != "" && o.Key() == r.Key() })
		if r.Agent == s.Agent && same && !other {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return Session{}, false
	}
	if found[0].Path == "" { // its record is missing for now
		return found[0].withPath(s.Path), true
	}
	return found[0], true
}

// asMissing returns a session that neither storage nor processes name any more. Its status is unknown while a process that ran
// it lives and is not known to run another session. A session whose ID was never known ends when its process runs known
// sessions only, and keeps its processes, since nothing else identifies it.
func (s Session) asMissing(r Result, blind bool) Session {
	unsure := slices.IndexFunc(s.Processes, func(p proc.Process) bool {
		_, lives := r.Table.Find(p.ID)
		return lives && !slices.ContainsFunc(r.Sessions, func(o Session) bool { return o.ID != "" && o.HasProcess(p.ID) })
	})
	facts := statusInput{stored: s.Turn, vanished: true}
	switch {
	case blind:
		facts.hidden = tableUnreadable
	case s.ID != "" && unsure >= 0:
		facts.hidden = fmt.Sprintf("process %d, which ran it, lives, and shows no other session", s.Processes[unsure].ID.PID)
	}
	s.Evidence = nil
	s.setStatus(&facts)
	if facts.hidden == "" && s.ID != "" {
		s.Processes, s.Clients = nil, nil
	}
	return s
}

// unchangedSinceStop reports whether the records of the stopped sessions are still the same as before the process table was
// read.
func (scan *Scan) unchangedSinceStop(ctx context.Context, sessions []Session) bool {
	var stopped []Session
	homes := map[Agent][]Home{}
	for _, s := range sessions {
		if s.Status == Stopped && s.ID != "" {
			if !scan.readKeys[s.Key()] {
				s = s.withPath("") // the record may have been written just before the stop
			}
			stopped, homes[s.Agent] = append(stopped, s), withHome(homes[s.Agent], s)
		}
	}
	again := scan.emptyCopy()
	again.readRefs(ctx, homes, refsOf(stopped), ReadOptions{})
	return !slices.ContainsFunc(slices.Concat(again.records...), func(r Record) bool {
		return !scan.readKeys[r.Key()] || slices.ContainsFunc(stopped, func(s Session) bool {
			return s.Key() == r.Key() && (!s.Turn.endsLike(r.Turn) || !s.Updated.Equal(r.Updated))
		})
	})
}
