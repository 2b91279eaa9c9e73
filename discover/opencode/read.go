package opencode

import (
	"context"
	"iter"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// batchSize is how many sessions are read of one look at a database: few enough that a writer's checkpoint rarely
// falls into it, and that all their pages can be read ahead where one does.
const batchSize = 600

// batch is a piece of work for [Adapter.Read]: sessions of one database, or one session of JSON files.
type batch struct {
	batchKey
	ids []string
}

type batchKey struct{ path, home string }

// isFile reports whether it is one of JSON files.
func (c batch) isFile() bool { return isLegacyPath(c.path) }

// Read yields the records of the entries.
func (Adapter) Read(ctx context.Context, entries []discover.Entry, want discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		known := &legacySubAgents{}
		for _, c := range batches(entries) {
			if ctx.Err() != nil {
				return
			}
			records, err := c.read(ctx, want, known)
			if err != nil && !yield(discover.Record{}, err) {
				return
			}
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// batches puts together the sessions of each database.
func batches(entries []discover.Entry) (out []batch) {
	last := map[batchKey]int{} // in out, the newest chunk of a database
	for _, e := range entries {
		place := batchKey{e.Path, e.Home}
		i, ok := last[place]
		if !ok || len(out[i].ids) == batchSize {
			i = len(out)
			last[place] = i
			out = append(out, batch{batchKey: place})
		}
		out[i].ids = append(out[i].ids, e.ID)
	}
	return out
}

// read reads the sessions of a chunk, and looks into the sub-agents that they wait for. Its errors are warnings; what has
// vanished is none.
func (c batch) read(ctx context.Context, want discover.ReadOptions, known *legacySubAgents) (records []discover.Record, err error) {
	if c.isFile() {
		s, err := readLegacySession(ctx, c.home, c.path, want)
		if s == nil {
			return nil, err
		}
		if want.Tokens || want.Full {
			known.addChildren(ctx, s)
		}
		s.TruncateTexts()
		return []discover.Record{s.Record}, err
	}
	err = readDatabase(ctx, c.home, c.path, func(st *database) {
		records = make([]discover.Record, 0, len(c.ids))
		for s := range st.sessions(c.ids, want) {
			s.inheritWaiting(st, maxDepth)
			s.TruncateTexts()
			records = append(records, s.Record)
		}
	})
	switch {
	case fsread.IsNotExist(err):
		return nil, nil
	case isDamage(err):
		return records, newWarning(c.path, err)
	case err != nil:
		return nil, newWarning(c.path, err)
	}
	return records, nil
}
