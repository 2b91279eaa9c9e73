package output

import (
	"slices"
	"unicode/utf8"

	"agentctl/discover"
)

// SessionID is the ID of a session and the name of its agent, as JSON has them.
type SessionID struct{ Agent, ID string }

// newSessionID converts the ID of a JSON object, which may be unknown.
func newSessionID(agent string, id *string) SessionID {
	if id == nil {
		return SessionID{agent, ""}
	}
	return SessionID{agent, *id}
}

// HostPrefix is what begins the ID of a session on another host, as agentctl takes it: "H:". It is "" for one that was read here.
func HostPrefix(host string) string {
	if host == "" {
		return ""
	}
	return host + ":"
}

// ShortIDs sanitizes IDs for a table. On a terminal it shortens each ID to its shortest prefix that is unique in
// the table and at least as long as MinShortID requires; equal IDs stay equal. Elsewhere it shortens none.
func (o TextOptions) ShortIDs(ids []SessionID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = Sanitize(id.ID)
	}
	if o.Width == 0 {
		return out
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(out)))
	prefixLen := make(map[string]int, len(sorted))
	for i, id := range sorted {
		n := 0
		if i > 0 {
			n = max(n, commonPrefixLen(id, sorted[i-1])+1)
		}
		if i+1 < len(sorted) {
			n = max(n, commonPrefixLen(id, sorted[i+1])+1)
		}
		prefixLen[id] = n
	}
	for i, id := range out {
		least := discover.MinShortID
		if o.MinShortID != nil {
			least = o.MinShortID(ids[i].Agent, ids[i].ID)
		}
		n := min(len(id), max(prefixLen[id], least))
		for n < len(id) && !utf8.RuneStart(id[n]) {
			n++
		}
		out[i] = id[:n]
	}
	return out
}

// shortIDsOf are the [TextOptions.ShortIDs] of the rows of a table.
func shortIDsOf[T any](o TextOptions, rows []T, id func(T) SessionID) []string {
	ids := make([]SessionID, len(rows))
	for i, row := range rows {
		ids[i] = id(row)
	}
	return o.ShortIDs(ids)
}

// commonPrefixLen is the length of the common prefix in bytes.
func commonPrefixLen(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
