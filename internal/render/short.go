package render

import (
	"slices"
	"unicode/utf8"
)

// minID is the fewest characters a shortened ID has.
const minID = 8

// ShortIDs shortens each ID to its shortest prefix of at least eight characters that no other of them begins with.
// IDs that are equal stay equal.
func ShortIDs(ids []string) []string {
	sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
	need := make(map[string]int, len(sorted))
	for i, id := range sorted {
		n := minID
		if i > 0 {
			n = max(n, common(id, sorted[i-1])+1)
		}
		if i+1 < len(sorted) {
			n = max(n, common(id, sorted[i+1])+1)
		}
		need[id] = min(n, len(id))
	}
	out := make([]string, len(ids))
	for i, id := range ids {
		n := need[id]
		for n < len(id) && !utf8.RuneStart(id[n]) {
			n++
		}
		out[i] = id[:n]
	}
	return out
}

// common is how many bytes two strings begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
