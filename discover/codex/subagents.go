package codex

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// withSubagentTokens adds the tokens of sub-agents, and of theirs, to those of the threads. It searches for sub-agents that are not
// among the threads, unless complete: the threads are all that is stored.
func withSubagentTokens(ctx context.Context, threads iter.Seq2[*storedThread, error], complete bool) iter.Seq2[*storedThread, error] {
	return func(yield func(*storedThread, error) bool) {
		trees := map[string]*subagentTree{} // by home
		var rows []*storedThread
		for t, err := range threads {
			f := trees[t.Home]
			if f == nil {
				f = &subagentTree{home: t.Home, seen: map[string]bool{}, threadIDs: map[string]bool{}}
				trees[t.Home] = f
			}
			f.add(ctx, t, err)
			if err == nil {
				rows = append(rows, t)
			}
		}
		for _, f := range trees {
			if !complete {
				f.search(ctx)
			}
			f.link()
		}
		if ctx.Err() != nil {
			return // a part of a tree would be a wrong total
		}
		for _, t := range rows {
			row := *t
			row.Tokens = trees[t.Home].tokens(t)
			if !yield(&row, nil) {
				return
			}
		}
		for _, f := range trees {
			for _, err := range f.errs {
				if !yield(new(storedThread), err) {
					return
				}
			}
		}
	}
}

// subagentTree is threads of one home and their sub-agents.
type subagentTree struct {
	home       string
	threads    []*storedThread
	unreadable []time.Time     // when the threads began whose first record cannot be read: any thread may have started them
	seen       map[string]bool // IDs, by file name, of all whose first record was read or found unreadable
	threadIDs  map[string]bool // IDs of threads
	errs       []error
	incomplete bool // a directory could not be listed

	subagents map[string][]*storedThread // by the ID of the thread that started them
}

// add adds a thread that was read. If reading failed, its first record may still name its parent thread.
func (s *subagentTree) add(ctx context.Context, t *storedThread, err error) {
	s.seen[fileThreadID(t)] = true
	if err != nil {
		s.errs = append(s.errs, err)
		var first storedThread
		ok, _ := readOrigin(ctx, discover.Entry{ID: t.ID, Path: t.Path, Home: s.home}, &first)
		if at, dated := threadCreated(t.ID); !ok && dated {
			s.unreadable = append(s.unreadable, at)
		}
		if !ok {
			return
		}
		first.tokensUnknown = true
		t = &first
	}
	s.threads, s.threadIDs[t.ID] = append(s.threads, t), true
}

// search finds the sub-agents of the threads, and theirs, among the threads that began while one of them was active. It reads only the
// first record of a rollout until the parent thread is known.
func (s *subagentTree) search(ctx context.Context) {
	readTokens := func(ctx context.Context, e discover.Entry, t *storedThread) (bool, error) {
		return t.read(ctx, e, readOptions{ReadOptions: discover.ReadOptions{Tokens: true}})
	}
	var others []*storedThread // sub-agents of threads that are not in the tree so far
	for {
		for t, err := range storage.ReadParallel(ctx, s.candidates(ctx), readOrigin) {
			if err != nil {
				s.add(ctx, t, err)
			} else if t.startedBy != "" {
				others = append(others, t)
			}
		}
		var found []discover.Entry
		others = slices.DeleteFunc(others, func(t *storedThread) bool {
			ours := s.parentOf(t) != ""
			if ours {
				found = append(found, discover.Entry{Agent: agentName, ID: t.ID, Path: t.Path, Home: t.Home})
			}
			return ours
		})
		if len(found) == 0 {
			return
		}
		for t, err := range storage.ReadParallel(ctx, found, readTokens) {
			s.add(ctx, t, err)
			if err := errors.Join(t.warnings, t.damaged); err != nil {
				s.errs = append(s.errs, err)
			}
		}
	}
}

// candidates lists the threads that are not seen yet and began between the first thread's beginning and the last one's end.
func (s *subagentTree) candidates(ctx context.Context) []discover.Entry {
	var first, last time.Time
	for _, t := range s.threads {
		from, to, ok := t.subagentWindow()
		if ok && (first.IsZero() || from.Before(first)) {
			first = from
		}
		if ok && to.After(last) {
			last = to
		}
	}
	if first.IsZero() {
		return nil
	}
	scan := newHomeScan(ctx, s.home)
	scan.listCreated(first, last, func(id string) bool { return !s.seen[id] })
	for _, err := range scan.Warnings {
		w, _ := errors.AsType[*discover.Warning](err)
		if name, ok := parseRolloutName(filepath.Base(w.Path)); ok {
			s.add(ctx, &storedThread{Record: discover.Record{ID: name.id, Path: w.Path}}, err)
		} else {
			s.errs, s.incomplete = append(s.errs, err), true
		}
	}
	found := scan.preferred()
	for _, e := range found {
		s.seen[e.ID] = true
	}
	return found
}

// readOrigin reads which thread started a thread, and nothing else.
func readOrigin(ctx context.Context, e discover.Entry, t *storedThread) (ok bool, err error) {
	t.reset(e)
	for limit := int64(1 << 20); ; limit = headLimit { // the first record has up to 70 KB: of most compressed rollouts, little is decompressed
		f, err := openHead(ctx, e.Path, limit)
		if err != nil {
			return false, warn(e.Path, err)
		}
		t.fileTime = f.ModTime()
		h, err := readHead(f, e.ID, func(h *rolloutHead) bool { return h.SessionMeta.Found })
		_ = f.Close()
		if h.SessionMeta.Found || limit == headLimit {
			t.startedBy, t.Parent = h.SessionMeta.StarterID(), h.SessionMeta.ParentID()
			return err == nil, warn(e.Path, err)
		}
	}
}

// subagentDelay is how much later than a thread's last record its sub-agent may begin: the record of it is written after that.
const subagentDelay = 10 * time.Minute

// subagentWindow is when a sub-agent of the thread may have begun. It is not ok if the thread's ID has no time: the versions with such
// IDs have no sub-agents.
func (s *storedThread) subagentWindow() (first, last time.Time, ok bool) {
	first, ok = threadCreated(fileThreadID(s))
	return first, s.fileTime.Add(subagentDelay), ok
}

// fileThreadID is a thread's ID by its file name.
func fileThreadID(t *storedThread) string {
	if name, ok := parseRolloutName(filepath.Base(t.Path)); ok {
		return name.id
	}
	return t.ID
}

func (s *subagentTree) link() {
	s.subagents = map[string][]*storedThread{}
	for _, t := range s.threads {
		if parent := s.parentOf(t); parent != "" {
			s.subagents[parent] = append(s.subagents[parent], t)
		}
	}
}

// parentOf is the thread that started a thread as its sub-agent or, if that is not stored any more, the root of the tree. It is "" if
// neither is known.
func (s *subagentTree) parentOf(t *storedThread) string {
	for _, id := range [...]string{t.startedBy, t.Parent} {
		if s.threadIDs[id] {
			return id
		}
	}
	return ""
}

// tokens is the total of a thread with its sub-agents; the context is the thread's own. It is nil if nothing was used, and if a part of
// it is unknown: a part must not pass for the total.
func (s *subagentTree) tokens(t *storedThread) *discover.Tokens {
	if len(s.subagents[t.ID])+len(s.unreadable) == 0 && !s.incomplete {
		return t.Tokens
	}
	var sum discover.Tokens
	used, counted := false, map[string]bool{} // counted also ends a loop, which damaged records can form
	for rest := []*storedThread{t}; len(rest) > 0; rest = rest[1:] {
		member := rest[0]
		if counted[member.ID] {
			continue
		}
		counted[member.ID] = true
		if member.tokensUnknown && member != t {
			s.errs = append(s.errs, warn(member.Path, errors.New("the tokens of this sub-agent are unknown, and so are those of the session that started it")))
		}
		if member.tokensUnknown || s.incomplete || s.mayOwnUnreadable(member) {
			return nil
		}
		if member.Tokens != nil {
			used, sum = true, sum.Plus(*member.Tokens)
		}
		rest = append(rest, s.subagents[member.ID]...)
	}
	if !used {
		return nil
	}
	if own := t.Tokens; own != nil {
		sum.Context, sum.Window = own.Context, own.Window
	}
	return &sum
}

// mayOwnUnreadable reports whether the thread may have started one that cannot be read.
func (s *subagentTree) mayOwnUnreadable(t *storedThread) bool {
	first, last, ok := t.subagentWindow()
	return slices.ContainsFunc(s.unreadable, func(at time.Time) bool { return ok && !at.Before(first) && !at.After(last) })
}
