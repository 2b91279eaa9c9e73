package opencode

import (
	"context"
	"iter"
	"strings"

	"agentctl/discover"
)

// Messages implements [discover.MessageReader]. It reads from the end: some messages of a database at a time, or file by file.
func (Adapter) Messages(ctx context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	if isLegacyPath(r.Path) {
		return inTimeOrder(func(yield func(transcriptItem) bool) {
			var reader messageReader
			reader.Read(newLegacyMessages(ctx, r.Path, r.ID), yield)
		})
	}
	return inTimeOrder(databaseItems(ctx, r))
}

// isLegacyPath reports whether a session's path is that of a JSON file (before 1.2), not of a database.
func isLegacyPath(path string) bool { return strings.HasSuffix(path, ".json") }

// One reading of a database takes some messages: the first as many as most callers ask for, later ones more. The limit of bytes bounds
// memory.
const (
	firstBatch    = 24
	maxBatch      = 400
	maxBatchBytes = 4 << 20
)

// messageBatch is what one reading of a database takes of a session's messages.
type messageBatch struct {
	reader messageReader // continues where the batch ends
	items  []transcriptItem
	done   bool // there are no older messages
}

// next reads the messages before those that an earlier batch has read.
func (b *messageBatch) next(rows rowReader, limit int) (next messageBatch) {
	next.reader = b.reader
	next.done = next.reader.Read(rows, func(m transcriptItem) bool {
		next.items = append(next.items, m)
		return len(next.items) < limit && next.reader.Bytes-b.reader.Bytes < maxBatchBytes
	})
	return next
}

// databaseItems yields the messages of a session of a database, newest first. Each batch is complete before any of it is yielded: a
// writer may disturb the reading, which then begins again, and the caller may take its time.
func databaseItems(ctx context.Context, r discover.Record) iter.Seq[transcriptItem] {
	return func(yield func(transcriptItem) bool) {
		var last messageBatch
		for limit := firstBatch; !last.done; limit = min(2*limit, maxBatch) {
			b := messageBatch{done: true} // if there are no tables any more
			err := readDatabase(ctx, r.Home, r.Path, func(d *database) { b = last.next(d.messages(r.ID), limit) })
			if err != nil && !isDamage(err) {
				if err = warningUnlessGone(r.Path, err); err != nil {
					yield(transcriptItem{Err: err})
				}
				return
			}
			if err != nil {
				b.items = append(b.items, transcriptItem{Err: newWarning(r.Path, err)})
			}
			for _, m := range b.items {
				if !yield(m) {
					return
				}
			}
			last = messageBatch{reader: b.reader, done: b.done}
		}
	}
}
