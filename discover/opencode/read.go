package opencode

import (
	"context"
	"iter"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// chunkSize is how many sessions are read of one look at a database: few enough that a writer's checkpoint rarely
// falls into it, and that all their pages can be read ahead where one does.
const chunkSize = 600

// chunk is a piece of work for [Adapter.Read]: sessions of one database, or one session of JSON files.
type chunk struct {
	path, home string
	ids        []string
}

// isFile reports whether it is one of JSON files.
func (c chunk) isFile() bool { return strings.HasSuffix(c.path, ".json") }

// Read yields the records of the entries.
func (Adapter) Read(ctx context.Context, entries []discover.Entry, want discover.Want) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		known := &kin{}
		read := func(c chunk, _ *native.Scratch, records *[]discover.Record) (ok bool, err error) {
			*records, ok, err = c.read(ctx, want, known)
			return ok, err
		}
		give := func(all iter.Seq2[*[]discover.Record, error]) bool {
			for records, err := range all {
				if err != nil && !yield(discover.Record{}, err) {
					return false
				}
				for _, r := range *records {
					if !yield(r, nil) {
						return false
					}
				}
			}
			return true
		}
		databases, files := chunks(entries)
		_ = give(native.EachLarge(ctx, databases, read)) && give(native.Each(ctx, files, read))
	}
}

// chunks puts together the sessions of each database.
func chunks(entries []discover.Entry) (databases, files []chunk) {
	var all []*chunk
	known := map[[2]string]*chunk{}
	var at *chunk
	for _, e := range entries {
		if at == nil || e.Path != at.path || e.Home != at.home { // mostly they stand together
			key := [2]string{e.Path, e.Home}
			if known[key] == nil {
				known[key] = &chunk{path: e.Path, home: e.Home}
				all = append(all, known[key])
			}
			at = known[key]
		}
		at.ids = append(at.ids, e.ID)
	}
	for _, c := range all {
		for ids := range slices.Chunk(c.ids, chunkSize) {
			if part := (chunk{c.path, c.home, ids}); part.isFile() {
				files = append(files, part)
			} else {
				databases = append(databases, part)
			}
		}
	}
	return databases, files
}

// read reads the sessions of a chunk, and looks into the sub-agents that they wait for. Its errors are warnings; what has
// vanished is none.
func (c chunk) read(ctx context.Context, want discover.Want, known *kin) (records []discover.Record, ok bool, err error) {
	if c.isFile() {
		s, err := loadLegacy(ctx, c.home, c.path, want)
		if s == nil {
			return nil, false, err
		}
		if want.Tokens || want.Whole {
			known.addChildren(ctx, s)
		}
		s.Bound()
		return []discover.Record{s.Record}, true, err
	}
	err = readStore(ctx, c.home, c.path, func(st *store) {
		records = make([]discover.Record, 0, len(c.ids))
		for s := range st.sessions(c.ids, want) {
			s.askChild(st, maxDepth)
			s.Bound()
			records = append(records, s.Record)
		}
	})
	switch {
	case native.Absent(err):
		return nil, false, nil
	case isLost(err):
		return records, len(records) > 0, warn(c.path, err)
	case err != nil:
		return nil, false, warn(c.path, err)
	}
	return records, len(records) > 0, nil
}

// maxDepth is how deep sub-agents of sub-agents are followed.
const maxDepth = 4

// askChild takes over that a sub-agent waits for the person: its parent waits with it.
func (s *stored) askChild(st *store, depth int) {
	for _, p := range s.running() {
		if !isSessionID(p.child) || depth == 0 {
			continue
		}
		children := st.load([]string{p.child}, discover.Want{})
		if len(children) == 0 {
			return
		}
		children[0].askChild(st, depth-1)
		if began := s.Turn.Began; children[0].Turn.State == discover.TurnWaiting {
			s.Turn = children[0].Turn
			s.Turn.Began = began
		}
	}
}
