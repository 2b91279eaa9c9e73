package opencode

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"agentctl/discover"
)

// FilterContent implements [discover.ContentFilter]. It reads all parts of the sessions of a database, on all processors. The sessions of
// the older JSON files are returned unread.
func (Adapter) FilterContent(ctx context.Context, entries []discover.Entry, match func([]byte) bool) []discover.Entry {
	kept := make([][]discover.Entry, runtime.GOMAXPROCS(0))
	each := (len(entries) + len(kept) - 1) / len(kept)
	var readers sync.WaitGroup
	for i := range kept {
		readers.Go(func() {
			part := entries[min(i*each, len(entries)):min((i+1)*each, len(entries))]
			for _, b := range batches(part) {
				ids := b.mayMatch(ctx, match)
				for _, e := range part {
					if e.Path == b.path && e.Home == b.home && slices.Contains(ids, e.ID) {
						kept[i] = append(kept[i], e)
					}
				}
			}
		})
	}
	readers.Wait()
	return slices.Concat(kept...)
}

// mayMatch returns the sessions of which a part may match or cannot be read.
func (b batch) mayMatch(ctx context.Context, match func([]byte) bool) (found []string) {
	if b.isLegacy() {
		return b.ids
	}
	err := readDatabase(ctx, b.home, b.path, func(d *database) {
		found = slices.DeleteFunc(slices.Clone(b.ids), func(id string) bool { return !d.mayMatch(id, match) })
	})
	if err != nil {
		return b.ids
	}
	return found
}

func (d *database) mayMatch(session string, match func([]byte) bool) bool {
	before := d.Failures()
	// A longer value cannot be read by a statement.
	for r := range d.db.Query(`SELECT CASE WHEN octet_length(data) < 1000000 THEN data END AS data FROM part WHERE session_id = ?`, session) {
		if data := r.Bytes("data", maxRow); data == nil || match(data) {
			return true
		}
	}
	return d.Failures() > before
}
