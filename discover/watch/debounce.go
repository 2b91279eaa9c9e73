package watch

import (
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// track follows one session, from the snapshot that finds it to the one that finds it stopped.
type track struct {
	now   discover.Session // as of the last snapshot, debounced
	since time.Time        // when it was found
	// stopping is the time of the first snapshot in which the session looked stopped although its process lives; zero: it does
	// not look so.
	stopping time.Time
	// replaced: no session of its process was known, and now known ones are, which have their own tracks.
	replaced bool
	// reported is the session as of its last event; nil: it had none.
	reported *discover.Session
}

// update applies the session's row of a snapshot. While a stop is not confirmed, the track stays as it is. switched are the
// processes that run another session since the last snapshot.
func (t *track) update(row discover.Session, table *proc.Table, switched map[proc.ID]bool, now time.Time) {
	lives, other := false, false
	for _, p := range t.now.Processes {
		if _, ok := table.Find(p.ID); ok {
			lives, other = true, other || switched[p.ID] && !t.now.Shared
		}
	}
	if t.stopping.IsZero() {
		t.stopping = now
	}
	before := discover.StopDebounce{
		ProcessLives: lives && (!other || row.IsSubagent()), Headless: t.now.Headless(), Expired: now.Sub(t.stopping) >= stopDebounce,
	}
	if row.Status == discover.Stopped && !row.StopConfirmed(before) {
		return
	}
	t.replaced = other && row.ID == "" && row.Status == discover.Stopped
	t.now, t.stopping = row, time.Time{}
}

// report records that the events of the session are reported. While it waits, the call that it waits on stays known, even if a snapshot
// does not have it.
func (t *track) report() {
	reported := t.now
	if was := t.reported; was != nil && reported.Status == discover.Waiting && reported.WaitingOn == nil {
		reported.WaitingOn = was.WaitingOn
	}
	t.reported = &reported
}

// hasSession reports whether the row is one of these sessions: by its ID and path or, where its process's session is not
// known, by the process.
func hasSession(row discover.Session, sessions []discover.Session) bool {
	for _, s := range sessions {
		switch {
		case s.Agent != row.Agent:
		case row.ID == "" && s.SharesProcess(row), row.ID != "" && s.ID == row.ID && (s.Path == row.Path || row.Path == ""):
			return true
		}
	}
	return false
}
