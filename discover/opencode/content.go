package opencode

import (
	"context"
	"iter"
	"slices"

	"agentctl/discover"
)

// FilterContent implements [discover.ContentFilter]. It reads all parts of the sessions of a database. The sessions of the older
// JSON files are yielded unread.
func (Adapter) FilterContent(ctx context.Context, entries []discover.Entry, match func([]byte) bool) iter.Seq[discover.Entry] {
	return func(yield func(discover.Entry) bool) {
		for _, b := range batches(entries) {
			var found []string
			if b.isLegacy() || readDatabase(ctx, b.home, b.path, func(d *database) { found = d.mayMatch(b.ids, match) }) != nil {
				found = b.ids
			}
			for _, e := range entries {
				if e.Path == b.path && e.Home == b.home && slices.Contains(found, e.ID) && !yield(e) {
					return
				}
			}
		}
	}
}

// mayMatch returns the sessions of which a part may match or cannot be read.
func (d *database) mayMatch(sessions []string, match func([]byte) bool) (found []string) {
	for _, id := range sessions {
		if d.partMayMatch(id, match) {
			found = append(found, id)
		}
	}
	return found
}

func (d *database) partMayMatch(session string, match func([]byte) bool) bool {
	before := d.Failures()
	// A longer value cannot be read by a statement.
	for r := range d.db.Query(`SELECT CASE WHEN octet_length(data) < 1000000 THEN data END AS data FROM part WHERE session_id = ?`, session) {
		if data := r.Bytes("data", maxRow); data == nil || match(data) {
			return true
		}
	}
	return d.Failures() > before
}
