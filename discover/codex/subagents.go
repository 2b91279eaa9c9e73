package codex

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// withSubAgents adds to the tokens of threads those of their sub-agents, and theirs. Sub-agents that are not among the
// threads are searched for, unless the threads are complete: all that is stored.
func withSubAgents(ctx context.Context, threads iter.Seq2[*reading, error], complete bool) iter.Seq2[*reading, error] {
	return func(yield func(*reading, error) bool) {
		families := map[string]*family{} // by home
		var rows []*reading
		for next, err := range threads {
			t := *next
			f := families[t.Home]
			if f == nil {
				f = &family{home: t.Home, met: map[string]bool{}, known: map[string]bool{}}
				families[t.Home] = f
			}
			f.add(ctx, &t, err)
			if err == nil {
				rows = append(rows, &t)
			}
		}
		for _, f := range families {
			if !complete {
				f.search(ctx)
			}
			f.link()
		}
		if ctx.Err() != nil {
			return // half a family says nothing
		}
		for _, t := range rows {
			row := *t
			row.Tokens = families[t.Home].tokens(t)
			if !yield(&row, nil) {
				return
			}
		}
		for _, f := range families {
			for _, err := range f.errs {
				if !yield(new(reading), err) {
					return
				}
			}
		}
	}
}

// family are threads of one home, and which works for which.
type family struct {
	home    string
	threads []*reading
	strays  []time.Time     // when threads were begun whose beginning cannot be read: they may be anybody's sub-agents
	met     map[string]bool // the ids of both, and of all others whose beginning was read, as their files are named
	known   map[string]bool // the ids of threads
	errs    []error
	lost    bool // a folder could not be listed

	workers map[string][]*reading // by the id of the thread that they work for
}

// add takes a thread that was read. Where that has failed, its beginning may tell all the same whose it is.
func (f *family) add(ctx context.Context, t *reading, err error) {
	f.met[nameID(t)] = true
	if err != nil {
		f.errs = append(f.errs, err)
		var first reading
		ok, _ := origin(discover.Entry{ID: t.ID, Path: t.Path, Home: f.home}, native.NewBuffers(ctx), &first)
		if at, dated := born(t.ID); !ok && dated {
			f.strays = append(f.strays, at)
		}
		if !ok {
			return
		}
		first.vague = true
		t = &first
	}
	f.threads, f.known[t.ID] = append(f.threads, t), true
}

// search finds the sub-agents that work for the threads, and theirs, among the threads that were begun while one was at
// work. Only the beginning of a rollout is read before it is known whose it is.
func (f *family) search(ctx context.Context) {
	whole := func(e discover.Entry, scratch *native.Buffers, t *reading) (bool, error) {
		return t.read(e, discover.ReadOptions{Tokens: true}, scratch)
	}
	var others []*reading // that work for a thread which is not known so far
	for {
		for t, err := range native.Each(ctx, f.begun(ctx), origin) {
			other := *t
			if err != nil {
				f.add(ctx, &other, err)
			} else if other.starter != "" {
				others = append(others, &other)
			}
		}
		var found []discover.Entry
		others = slices.DeleteFunc(others, func(t *reading) bool {
			ours := f.boss(t) != ""
			if ours {
				found = append(found, discover.Entry{Agent: agentName, ID: t.ID, Path: t.Path, Home: t.Home})
			}
			return ours
		})
		if len(found) == 0 {
			return
		}
		for t, err := range native.Each(ctx, found, whole) {
			worker := *t
			f.add(ctx, &worker, err)
			if t.partial != nil {
				f.errs = append(f.errs, t.partial)
			}
		}
	}
}

// begun lists the threads that are not met yet and were begun from the first thread's beginning to the last one's end.
func (f *family) begun(ctx context.Context) []discover.Entry {
	var first, last time.Time
	for _, t := range f.threads {
		from, to, ok := t.life()
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
	s := scan{ctx: ctx, home: f.home}
	s.begun(first, last, func(id string) bool { return !f.met[id] })
	for _, err := range s.errs {
		w, _ := errors.AsType[*discover.Warning](err)
		if name, ok := parseRollout(filepath.Base(w.Path)); ok {
			f.add(ctx, &reading{Record: discover.Record{ID: name.id, Path: w.Path}}, err)
		} else {
			f.errs, f.lost = append(f.errs, err), true
		}
	}
	for _, e := range s.found {
		f.met[e.ID] = true
	}
	return s.found
}

// origin reads which thread a thread works for, and nothing else.
func origin(e discover.Entry, scratch *native.Buffers, t *reading) (ok bool, err error) {
	t.name(e)
	m, changed, err := firstRecord(e, scratch)
	if native.Absent(err) {
		return false, nil
	}
	if err != nil {
		return false, warn(e.Path, err)
	}
	t.starter, t.Parent, t.changed = m.starterID(), m.parentID(), changed
	return true, nil
}

// firstPage is how many bytes of most rollouts tell which thread they work for. That stands before the agent's long
// instructions.
const firstPage = 4 << 10

// firstRecord reads as much of a rollout's first record as tells which thread it works for, and when the file was last written.
func firstRecord(e discover.Entry, scratch *native.Buffers) (m meta, changed time.Time, err error) {
	f, err := openHead(e.Path, firstPage, scratch)
	if err != nil {
		return m, changed, err
	}
	m, ok := onFirstPage(f)
	changed = f.ModTime()
	if err := f.Close(); ok || err != nil {
		return m, changed, err
	}
	if f, err = openHead(e.Path, headLimit, scratch); err != nil {
		return m, changed, err
	}
	defer f.Close()
	h, err := readHead(f, e.ID, func(h *head) bool { return h.meta.found })
	return h.meta, f.ModTime(), err
}

// onFirstPage reads the first record as far as it is on the first page. It is not ok if that does not tell which thread the
// rollout works for; errors come again when more is read.
func onFirstPage(f *native.File) (m meta, ok bool) {
	page := make([]byte, min(firstPage, f.Size()))
	n, _ := f.ReadAt(page, 0)
	r, ok := decode(page[:n], "")
	if !ok || r.is != sessionMeta {
		return m, false
	}
	m = parseMeta(&r)
	return m, m.starterID() != "" || m.source.word != "" && m.source.sub == ""
}

// delay is how much later than a thread's last record its sub-agent may begin: the record comes after it.
const delay = 10 * time.Minute

// life is when a sub-agent of the thread may have begun. It is not ok where the thread's id does not tell: the versions
// that made such ids have no sub-agents.
func (t *reading) life() (first, last time.Time, ok bool) {
	first, ok = born(nameID(t))
	return first, t.changed.Add(delay), ok
}

// nameID is a thread's id as its file is named.
func nameID(t *reading) string {
	if name, ok := parseRollout(filepath.Base(t.Path)); ok {
		return name.id
	}
	return t.ID
}

// link finds out which thread works for which.
func (f *family) link() {
	f.workers = map[string][]*reading{}
	for _, t := range f.threads {
		if boss := f.boss(t); boss != "" {
			f.workers[boss] = append(f.workers[boss], t)
		}
	}
}

// boss is the thread that a thread works for: the one that started it or, where that is not stored any more, the root of
// the tree; "" if neither is known.
func (f *family) boss(t *reading) string {
	for _, id := range [...]string{t.starter, t.Parent} {
		if f.known[id] {
			return id
		}
	}
	return ""
}

// errVague: the tokens of the thread that a sub-agent works for are left out then: a part would pass for the sum.
var errVague = errors.New("what this sub-agent has used cannot be told, nor what the session has that it works for")

// tokens is what a thread has used together with its sub-agents; the context is its own. It is nil where nothing was used,
// and where a part of it cannot be told.
func (f *family) tokens(t *reading) *discover.Tokens {
	if len(f.workers[t.ID])+len(f.strays) == 0 && !f.lost {
		return t.Tokens
	}
	var sum discover.Tokens
	used, counted := false, map[string]bool{} // damaged records might lead round in a circle
	for rest := []*reading{t}; len(rest) > 0; rest = rest[1:] {
		member := rest[0]
		if counted[member.ID] {
			continue
		}
		counted[member.ID] = true
		if member.vague && member != t {
			f.errs = append(f.errs, warn(member.Path, errVague))
		}
		if member.vague || f.lost || f.strayIn(member) {
			return nil
		}
		if member.Tokens != nil {
			used, sum = true, plus(sum, *member.Tokens)
		}
		rest = append(rest, f.workers[member.ID]...)
	}
	if !used {
		return nil
	}
	if own := t.Tokens; own != nil {
		sum.Context, sum.Window = own.Context, own.Window
	}
	return &sum
}

// strayIn reports whether a thread that cannot be read may work for this one.
func (f *family) strayIn(t *reading) bool {
	first, last, ok := t.life()
	return slices.ContainsFunc(f.strays, func(at time.Time) bool { return ok && !at.Before(first) && !at.After(last) })
}
