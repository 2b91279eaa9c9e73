package output

import (
	"slices"
	"unicode/utf8"

	"agentctl/discover"
)

// ID is a session's ID and the agent that it belongs to, as JSON has them.
type ID struct{ Agent, Text string }

// idOf is an ID that may be unknown.
func idOf(agent string, id *string) ID {
	if id == nil {
		return ID{agent, ""}
	}
	return ID{agent, *id}
}

// ShortIDs cleans IDs for people. On a terminal each is shortened to its shortest prefix that has as many characters as tell it from
// its agent's others, and that no other of them begins with; IDs that are equal stay equal. Elsewhere none is shortened.
func (l Look) ShortIDs(ids []ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = Clean(id.Text)
	}
	if l.Width == 0 {
		return out
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(out)))
	need := make(map[string]int, len(sorted))
	for i, id := range sorted {
		n := 0
		if i > 0 {
			n = max(n, common(id, sorted[i-1])+1)
		}
		if i+1 < len(sorted) {
			n = max(n, common(id, sorted[i+1])+1)
		}
		need[id] = n
	}
	for i, id := range out {
		n := min(len(id), max(need[id], l.least(ids[i])))
		for n < len(id) && !utf8.RuneStart(id[n]) {
			n++
		}
		out[i] = id[:n]
	}
	return out
}

// least is how many characters of an ID are shown at least.
func (l Look) least(id ID) int {
	if l.ShortID == nil {
		return discover.MinShortID
	}
	return l.ShortID(id.Agent, id.Text)
}

// common is how many bytes two strings begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
