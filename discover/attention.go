package discover

import (
	"slices"
	"time"
)

// recentPeriod is how long a turn that has ended counts as recent.
const recentPeriod = 10 * time.Minute

// SortByAttention sorts sessions by how much they need the user now, in place:
//   - sessions that wait for an answer, the longest wait first,
//   - sessions whose turn failed or was interrupted in the last ten minutes,
//   - other sessions whose turn ended in the last ten minutes,
//   - sessions at work, the newest first,
//   - sessions of unknown status,
//   - idle sessions,
//   - stopped sessions.
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

// attentionRank returns the session's rank, 0 for the most urgent.
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
