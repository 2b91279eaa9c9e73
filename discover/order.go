package discover

import (
	"cmp"
	"slices"
)

// Compare orders sessions for people: live ones first, then by newest activity; what is left is ordered by name so
// that two scans of the same state give the same list.
func Compare(a, b Session) int {
	return cmp.Or(
		compareBool(!a.Status.Live(), !b.Status.Live()),
		b.LastActivity().Compare(a.LastActivity()),
		cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Path, b.Path), cmp.Compare(a.pid(), b.pid()),
	)
}

// sorted sorts sessions in the order of [Compare], in place.
func sorted(list []Session) []Session {
	slices.SortFunc(list, Compare)
	return list
}

// sortSessions sorts sessions in the order of [Compare], in place. Where processes are hidden, sessions with processes come
// before those of unknown status.
func (scan *Scan) sortSessions(list []Session) []Session {
	if !scan.ProcessesHidden() {
		return sorted(list)
	}
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(compareBool(len(a.Processes) == 0, len(b.Processes) == 0), Compare(a, b))
	})
	return list
}
