package opencode

import (
	"context"
	"iter"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// chunkSize is how many sessions are read of one look at a database: few enough that a writer's checkpoint rarely
// falls into it, and that all their pages can be read ahead where one does.
const chunkSize = 600

// chunk is a piece of work for [Adapter.Read]: sessions of one database, or one session of JSON files.
type chunk struct {
	chunkPlace
	ids []string
}

type chunkPlace struct{ path, home string }

// isFile reports whether it is one of JSON files.
func (c chunk) isFile() bool { return strings.HasSuffix(c.path, ".json") }

// Read yields the records of the entries.
func (Adapter) Read(ctx context.Context, entries []discover.Entry, want discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		known := &kin{}
		for _, c := range chunks(entries) {
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

// chunks puts together the sessions of each database.
func chunks(entries []discover.Entry) (out []chunk) {
	last := map[chunkPlace]int{} // in out, the newest chunk of a database
	for _, e := range entries {
		place := chunkPlace{e.Path, e.Home}
		i, ok := last[place]
		if !ok || len(out[i].ids) == chunkSize {
			i = len(out)
			last[place] = i
			out = append(out, chunk{chunkPlace: place})
		}
		out[i].ids = append(out[i].ids, e.ID)
	}
	return out
}

// read reads the sessions of a chunk, and looks into the sub-agents that they wait for. Its errors are warnings; what has
// vanished is none.
func (c chunk) read(ctx context.Context, want discover.ReadOptions, known *kin) (records []discover.Record, err error) {
	if c.isFile() {
		s, err := loadLegacy(ctx, c.home, c.path, want)
		if s == nil {
			return nil, err
		}
		if want.Tokens || want.Full {
			known.addChildren(ctx, s)
		}
		s.TruncateTexts()
		return []discover.Record{s.Record}, err
	}
	err = readStore(ctx, c.home, c.path, func(st *store) {
		records = make([]discover.Record, 0, len(c.ids))
		for s := range st.sessions(c.ids, want) {
			s.askChild(st, maxDepth)
			s.TruncateTexts()
			records = append(records, s.Record)
		}
	})
	switch {
	case fsread.IsNotExist(err):
		return nil, nil
	case isLost(err):
		return records, warn(c.path, err)
	case err != nil:
		return nil, warn(c.path, err)
	}
	return records, nil
}

// maxDepth is how deep sub-agents of sub-agents are followed.
const maxDepth = 4

// askChild takes over that a sub-agent waits for the person: its parent waits with it.
func (s *stored) askChild(st *store, depth int) {
	for _, p := range s.running() {
		if !isSessionID(p.child) || depth == 0 {
			continue
		}
		children := st.load([]string{p.child}, discover.ReadOptions{})
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
