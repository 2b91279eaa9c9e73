package stop

import (
	"errors"
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// isSameRow reports whether two rows of one snapshot are the same: they have one key, and one process if they have no ID.
func isSameRow(a, b discover.Session) bool {
	return a.Key() == b.Key() && (a.ID != "" || a.SharesProcess(b))
}

// findSession finds a session of an earlier snapshot by its identity: its key, or else its ID and a process in common. The
// latter finds a session whose path was not known, or has changed: agents move a session to another directory while they run
// it. A session without an ID is its process. It may have got an ID meanwhile.
func findSession(list []discover.Session, s discover.Session) (discover.Session, bool) {
	if i := slices.IndexFunc(list, func(o discover.Session) bool { return isSameRow(o, s) }); i >= 0 {
		return list[i], true
	}
	found := slices.DeleteFunc(slices.Clone(list), func(o discover.Session) bool {
		return o.Agent != s.Agent || s.ID != "" && o.ID != s.ID || !o.SharesProcess(s)
	})
	if len(found) != 1 {
		return discover.Session{}, false
	}
	return found[0], true
}

// refresh returns a chosen session as the snapshot has it. A session that the snapshot does not have has ended, unless a
// process of it lives and runs no other session: what an agent shows may be unreadable for a moment.
func (r *run) refresh(chosen discover.Session) discover.Session {
	if now, ok := findSession(r.snapshot.Sessions, chosen); ok {
		return now
	}
	before := len(chosen.Processes)
	chosen.Processes = slices.DeleteFunc(slices.Clone(chosen.Processes), func(p proc.Process) bool {
		now, ok := r.snapshot.Table.Find(p.ID)
		return !ok || !now.Alive() || slices.ContainsFunc(r.snapshot.Sessions, func(o discover.Session) bool {
			return o.ID != "" && o.HasProcess(p.ID)
		})
	})
	if before > 0 && len(chosen.Processes) == 0 {
		return chosen.Vanished()
	}
	return chosen
}

// isAlive reports whether a process has not ended. A process that cannot be read counts as alive.
func isAlive(id proc.ID) bool {
	now, err := proc.Inspect(id.PID)
	return err == nil && now.ID == id && now.Alive() || err != nil && !errors.Is(err, proc.ErrGone)
}
