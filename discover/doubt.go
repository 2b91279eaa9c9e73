package discover

import (
	"time"

	"agentctl/proc"
)

// doubted is a session that seems to have stopped though a process that ran it lives.
type doubted struct{ since time.Time }

func (d doubted) doubtful() bool { return !d.since.IsZero() }

// until is when it is to be looked at again.
func (d doubted) until() time.Time { return d.since.Add(stopDebouncePeriod) }

// believe returns what is believed of a session that was something, and is a row now. lives: a process that ran it lives;
// turned: one of them runs another session instead, to which it may have brought a sub-agent along.
func (d *doubted) believe(was, row Session, lives, turned bool, now time.Time) Session {
	if d.since.IsZero() {
		d.since = now
	}
	before := stopDebounce{lives: lives && (!turned || row.IsSub()), headless: was.headless(), quiet: now.Sub(d.since)}
	if row.Status != Stopped || row.stops(before) {
		*d = doubted{}
		return row
	}
	return was
}

// headless reports whether the process that runs the session ends with it.
func (s Session) headless() bool {
	switch s.Source {
	case "print", "exec", "run":
		return !s.Shared && !s.IsSub()
	}
	return false
}

// survives reports whether a process that ran the session lives, and whether one of them has turned to another session.
func (s Session) survives(table *proc.Table, turned func(proc.ID) bool) (lives, other bool) {
	for _, p := range s.Processes {
		if _, ok := table.Find(p.ID); ok {
			lives, other = true, other || turned(p.ID)
		}
	}
	return lives, other
}
