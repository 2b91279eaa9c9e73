package output

import (
	"slices"
	"unicode/utf8"

	"agentctl/discover"
)

// SessionID is a session's SessionID and the agent that it belongs to, as JSON has them.
type SessionID struct{ Agent, ID string }

// newSessionID is an ID that may be unknown.
func newSessionID(agent string, id *string) SessionID {
	if id == nil {
		return SessionID{agent, ""}
	}
	return SessionID{agent, *id}
}

// ShortIDs cleans IDs for people. On a terminal each is shortened to its shortest prefix that has as many characters as tell it from
// its agent's others, and that no other of them begins with; IDs that are equal stay equal. Elsewhere none is shortened.
func (l TextOptions) ShortIDs(ids []SessionID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = Sanitize(id.ID)
	}
	if l.Width == 0 {
		return out
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(out)))
	need := make(map[string]int, len(sorted))
	for i, id := range sorted {
		n := 0
		if i > 0 {
			n = max(n, commonPrefixLen(id, sorted[i-1])+1)
		}
		if i+1 < len(sorted) {
			n = max(n, commonPrefixLen(id, sorted[i+1])+1)
		}
		need[id] = n
	}
	for i, id := range out {
		n := min(len(id), max(need[id], l.minIDLength(ids[i])))
		for n < len(id) && !utf8.RuneStart(id[n]) {
			n++
		}
		out[i] = id[:n]
	}
	return out
}

// minIDLength is how many characters of an ID are shown at least.
func (l TextOptions) minIDLength(id SessionID) int {
	if l.MinShortID == nil {
		return discover.MinShortID
	}
	return l.MinShortID(id.Agent, id.ID)
}

// commonPrefixLen is how many bytes two strings begin with alike.
func commonPrefixLen(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
