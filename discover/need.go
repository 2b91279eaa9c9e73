package discover

import (
	"slices"
	"time"
)

// recentPeriod is how long a turn that has ended is news.
const recentPeriod = 10 * time.Minute

// SortByAttention orders sessions by how much they need the person now, in place: first those that wait for an answer, the one that
// waits longest before the others; then those whose turn has ended within the last ten minutes, the failed and the cut ones
// before the others; then those at work, the one begun last first; those of which it cannot be told; those that are idle for
// longer; and those that have stopped before.
func SortByAttention(sessions []Session, now time.Time) {
	slices.SortStableFunc(sessions, func(a, b Session) int {
		need := a.attentionRank(now)
		if other := b.attentionRank(now); need != other {
			return need - other
		}
		switch a.Status {
		case Waiting:
			if c := a.LastActivity().Compare(b.LastActivity()); c != 0 {
				return c
			}
		case Running: // what it does last changes all the time
			if c := b.Created.Compare(a.Created); c != 0 {
				return c
			}
		}
		return Compare(a, b)
	})
}

// attentionRank is the session's place among the others, from 0.
func (s Session) attentionRank(now time.Time) int {
	news := now.Sub(s.LastActivity()) < recentPeriod
	failed := s.Error != "" || s.Outcome == Failed || s.Outcome == Interrupted
	switch {
	case s.Status == Waiting:
		return 0
	case news && failed && s.Status != Running:
		return 1
	case news && (s.Status == Idle || s.Status == Stopped):
		return 2
	case s.Status == Running:
		return 3
	case s.Status == Unknown:
		return 4
	case s.Status == Idle:
		return 5
	}
	return 6
}

// StoppedRecently reports whether the session has stopped so lately that whoever watches wants to see it still.
func (s Session) StoppedRecently(now time.Time) bool {
	return s.Status == Stopped && now.Sub(s.LastActivity()) < recentPeriod
}
