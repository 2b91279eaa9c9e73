package watch

import (
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// track is a session from the snapshot that finds it to the one that finds it stopped.
type track struct {
	now   discover.Session
	since time.Time // when it was found
	// stopping is since when the session has seemed to have stopped though its process lives; zero: it does not.
	stopping time.Time
	// replaced: its process, of which no session was known, runs known ones now. They have tracks of their own.
	replaced bool
	// reported is the session as it was when its last event was; nil: it had none.
	reported *discover.Session
}

// step applies the track's row of a snapshot. Where the row seems to have stopped and that is not believed yet, the track
// stays as it is.
func (t *track) step(row discover.Session, table *proc.Table, turned map[proc.ID]bool, now time.Time) {
	lives, other := false, false
	for _, p := range t.now.Processes {
		if _, ok := table.Find(p.ID); ok {
			lives, other = true, other || turned[p.ID] && !t.now.Shared
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

// covered reports whether one of these sessions is the row's: by its name or, of a process whose session is not known, by
// the process.
func covered(row discover.Session, sessions []discover.Session) bool {
	for _, s := range sessions {
		switch {
		case s.Agent != row.Agent:
		case row.ID == "" && s.SharesProcess(row), row.ID != "" && s.ID == row.ID && (s.Path == row.Path || row.Path == ""):
			return true
		}
	}
	return false
}

// differs reports whether the session's state is another one than it was.
func differs(s, was discover.Session) bool {
	return s.Status != was.Status || s.Outcome != was.Outcome || s.WaitingFor != was.WaitingFor || s.Error != was.Error
}

// Changed reports whether the session's state is another one than it was, or it is in a later turn.
func Changed(s, was discover.Session) bool { return differs(s, was) || later(s, was) }

// later reports whether the session is in a later turn than it was, as far as its storage tells. Where it did not tell when
// the one before was asked for, that was before its last record.
func later(s, was discover.Session) bool {
	known := was.Turn.Began
	if known.IsZero() {
		known = was.Updated
	}
	return !known.IsZero() && s.Turn.Began.After(known)
}
