package claudecode

import (
	"context"
	"hash/maphash"
	"iter"
	"slices"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native/fsread"
)

// sessionUsage is what a session used, and its answers.
type sessionUsage struct {
	discover.SessionUsage
	answers []transcript.Answer
}

// ReadUsage reads whole transcripts. What sub-agents used is that of their session; of one whose session is not among the
// entries, its own. A transcript that was copied to another folder counts once.
func (Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return func(yield func(*discover.SessionUsage, error) bool) {
		x := reader{discover.ReadOptions{Tokens: true}}
		calls := newCallSet()
		for u, err := range fsread.ReadParallel(ctx, withoutCounted(entries), x.readUsage) {
			if err != nil && !yield(nil, err) {
				return
			}
			if u.Usage = calls.addNew(u.Usage[:0], u.answers); len(u.Usage) > 0 && !yield(&u.SessionUsage, nil) {
				return
			}
		}
	}
}

// readUsage reads what a session used. There is nothing where its tokens are not known.
func (x reader) readUsage(ctx context.Context, e discover.Entry, u *sessionUsage) (ok bool, err error) {
	var t transcript.Totals
	if ok, err = x.readSession(ctx, e, &u.Record, &t); ok && u.Tokens != nil {
		u.answers = t.Answers()
		for i := range u.answers {
			if a := &u.answers[i]; !a.Recorded() && a.Tokens.Total > 0 {
				a.From = u.Created
			}
		}
	}
	return ok, err
}

// withoutCounted returns the entries without the sub-agents whose tokens are counted with their session's.
func withoutCounted(entries []discover.Entry) []discover.Entry {
	sessions := map[string]bool{} // by the folder of their sub-agents
	for _, e := range entries {
		if !isSubagent(e.ID) {
			sessions[subagentDir(e.Path)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e discover.Entry) bool {
		return isSubagent(e.ID) && sessions[enclosingSubagentDir(e.Path)]
	})
}

// callSet is a set of calls of the model, by their hashes: a store may have a million.
type callSet struct {
	seed  maphash.Seed
	known map[uint64]struct{}
}

func newCallSet() *callSet { return &callSet{maphash.MakeSeed(), map[uint64]struct{}{}} }

// addNew appends the answers that are new to the set. What only reports have is new if a recorded call is.
func (s *callSet) addNew(to []discover.Usage, answers []transcript.Answer) []discover.Usage {
	for _, a := range answers {
		if a.Recorded() {
			key := maphash.Comparable(s.seed, a.CallID)
			if _, again := s.known[key]; again {
				continue
			}
			s.known[key] = struct{}{}
		} else if len(to) == 0 {
			return nil
		}
		to = append(to, a.Usage)
	}
	return to
}
