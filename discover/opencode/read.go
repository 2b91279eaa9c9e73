package opencode

import (
	"context"
	"iter"

	"agentctl/discover"
)

// batchSize is how many sessions one reading of a database takes: so few that a writer's checkpoint rarely disturbs it, and that all their
// pages can be read ahead if one does.
const batchSize = 600

// batch is sessions of one database that are read together, or one session in JSON files.
type batch struct {
	batchKey
	ids []string
}

type batchKey struct{ path, home string }

// isLegacy reports whether the session is in JSON files.
func (b batch) isLegacy() bool { return isLegacyPath(b.path) }

// Read implements [discover.Adapter]. The Meta keys are those of [newSession].
func (Adapter) Read(ctx context.Context, entries []discover.Entry, options discover.ReadOptions) iter.Seq2[discover.Record, error] {
	subAgents := &legacySubAgents{}
	return readBatches(ctx, entries, func(b batch) ([]discover.Record, error) { return b.read(ctx, options, subAgents) })
}

// readBatches yields what read returns for the batches of the entries, the error of a batch first.
func readBatches[T any](ctx context.Context, entries []discover.Entry, read func(batch) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, b := range batches(entries) {
			if ctx.Err() != nil {
				return
			}
			results, err := read(b)
			if err != nil && !yield(*new(T), err) {
				return
			}
			for _, r := range results {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// batches groups the entries by database.
func batches(entries []discover.Entry) (out []batch) {
	last := map[batchKey]int{} // indexes of out, by database
	for _, e := range entries {
		key := batchKey{e.Path, e.Home}
		i, ok := last[key]
		if !ok || len(out[i].ids) == batchSize {
			i = len(out)
			last[key] = i
			out = append(out, batch{batchKey: key})
		}
		out[i].ids = append(out[i].ids, e.ID)
	}
	return out
}

// read reads the sessions of a batch. Its errors are warnings. A session that has vanished is left
// out without one.
func (b batch) read(ctx context.Context, options discover.ReadOptions, subAgents *legacySubAgents) (records []discover.Record, err error) {
	if b.isLegacy() {
		s, err := readLegacySession(ctx, b.home, b.path, options)
		if s == nil {
			return nil, err
		}
		if options.Tokens || options.Full {
			subAgents.addUsage(ctx, s)
		}
		return []discover.Record{s.record()}, err
	}
	ok, err := b.readDatabase(ctx, func(d *database) {
		records = make([]discover.Record, 0, len(b.ids))
		for s := range d.sessions(b.ids, options) {
			records = append(records, s.record())
		}
	})
	if !ok {
		records = nil
	}
	return records, err
}

// readDatabase reads the database of a batch. ok is false if there are no results. The error is a warning. A database that has vanished is
// no error.
func (b batch) readDatabase(ctx context.Context, read func(*database)) (ok bool, err error) {
	err = readDatabase(ctx, b.home, b.path, read)
	return err == nil || isDamage(err), warningUnlessGone(b.path, err)
}
