package stop

import (
	"errors"
	"slices"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// refresh returns a chosen session as the snapshot has it. A session that the snapshot does not have has ended, unless a
// process of it lives and runs no other session: what an agent shows may be unreadable for a moment.
func (r *run) refresh(chosen discover.Session) discover.Session {
	if now, ok := launch.FindAgain(r.snapshot.Sessions, chosen); ok {
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
