package opencode

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"agentctl/discover"
)

// FilterContent implements [discover.Adapter]. It reads all parts of the sessions of a database, on all processors. The sessions of
// the older JSON files are returned unread.
func (Adapter) FilterContent(ctx context.Context, entries []discover.Entry, match func([]byte) bool) []discover.Entry {
	kept := make([][]discover.Entry, runtime.GOMAXPROCS(0))
	each := (len(entries) + len(kept) - 1) / len(kept)
	var readers sync.WaitGroup
	for i := range kept {
		readers.Go(func() {
			part := entries[min(i*each, len(entries)):min((i+1)*each, len(entries))]
			for _, b := range batches(part) {
				kept[i] = append(kept[i], b.filter(ctx, match)...)
			}
		})
	}
	readers.Wait()
	return slices.Concat(kept...)
}

// filter returns the sessions of which a part may match or cannot be read.
func (b batch) filter(ctx context.Context, match func([]byte) bool) []discover.Entry {
	if isLegacyPath(b[0].Path) {
		return b
	}
	found, err := readDatabase(ctx, b[0].Home, b[0].Path, func(d *database) []discover.Entry {
		return slices.DeleteFunc(slices.Clone(b), func(e discover.Entry) bool { return !d.mayMatch(e.ID, match) })
	})
	if err != nil {
		return b
	}
	return found
}

func (d *database) mayMatch(session string, match func([]byte) bool) bool {
	before := d.Failures()
	table := "part"
	if d.isV2(session) {
		table = v2MessageTable
	}
	// A longer value cannot be read by a statement.
	for r := range d.db.Query(`SELECT CASE WHEN octet_length(data) < 1000000 THEN data END AS data FROM `+table+` WHERE session_id = ?`, session) {
		if data := r.Bytes("data", maxRow); data == nil || match(data) {
			return true
		}
	}
	return d.Failures() > before
}
