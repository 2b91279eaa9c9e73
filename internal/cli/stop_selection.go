package cli

import (
	"time"

	"agentctl/discover"
)

// stopSelection has the flags that select sessions instead of IDs; a session must match all of them.
type stopSelection struct {
	all                bool
	scope              Scope
	idleFor, olderThan time.Duration
}

// matches checks the conditions on time. The idle time counts from the last activity, the age from the start of the
// process: the session may have been resumed.
func (o *stopSelection) matches(s discover.Session, now time.Time) bool {
	if o.idleFor > 0 && (s.Status != discover.Idle || (s.LastActivity().IsZero() || now.Sub(s.LastActivity()) < o.idleFor)) {
		return false
	}
	if o.olderThan == 0 {
		return true
	}
	began := s.Created
	if at := s.ProcessStarted(); !at.IsZero() {
		began = at
	}
	return !began.IsZero() && now.Sub(began) >= o.olderThan
}
