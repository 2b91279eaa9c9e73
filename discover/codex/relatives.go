package codex

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// search finds the sub-agents that work for the threads, and theirs: among what was begun while one of them was at work,
// of which no more than the beginning is read to see whose it is.
func (f *family) search(ctx context.Context) {
	var orphans []reading // whose family is not known so far
	for from := 0; from < len(f.threads); {
		alive := livesOf(f.threads[from:])
		from = len(f.threads)
		for t, err := range native.Each(ctx, f.begun(ctx, alive), origin) {
			if f.fail(err); err != nil {
				f.add(ctx, t, err)
			} else if t.starter != "" {
				orphans = append(orphans, *t)
			}
		}
		kin := map[string]bool{}
		orphans = slices.DeleteFunc(orphans, func(t reading) bool {
			own := f.boss(&t) != ""
			if own {
				kin[nameID(&t)] = true
			}
			return own
		})
		whole := func(e discover.Entry, scratch *native.Scratch, t *reading) (bool, error) {
			return t.read(nil, e, discover.Want{Tokens: true}, scratch)
		}
		for t, err := range native.Each(ctx, f.rollouts(ctx, kin), whole) {
			f.fail(err)
			f.fail(t.partial)
			own := *t
			f.add(ctx, &own, err)
		}
	}
}

func (f *family) fail(err error) {
	if err != nil {
		f.errs = append(f.errs, err)
	}
}

// begun lists what was begun in these lives and was not met yet.
func (f *family) begun(ctx context.Context, alive lives) []discover.Entry {
	if len(alive) == 0 {
		return nil
	}
	found := f.walk(ctx, alive[0].born, alive[len(alive)-1].end.AddDate(0, 0, 1), func(id string) bool {
		at, ok := born(id)
		return ok && !f.met[id] && alive.has(at)
	})
	for _, e := range found {
		f.met[e.ID] = true
	}
	return found
}

// rollouts lists the newest rollouts of these threads: another one is begun where a prompt is edited.
func (f *family) rollouts(ctx context.Context, ids map[string]bool) []discover.Entry {
	var first, last time.Time
	for id := range ids {
		at, _ := born(id)
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return f.walk(ctx, first, last.AddDate(0, 1, 0), func(id string) bool { return ids[id] })
}

// walk lists the rollouts whose id match accepts that may be in the folders of these days, or in the archive.
func (f *family) walk(ctx context.Context, first, last time.Time, match func(id string) bool) []discover.Entry {
	s := scan{ctx: ctx, home: f.home}
	s.walk(days{first.AddDate(0, 0, -1).Format(dayLayout), last.Format(dayLayout)}, match)
	for _, err := range s.errs {
		f.errs = append(f.errs, err)
		w, _ := errors.AsType[*discover.Warning](err)
		if name, ok := parseRollout(filepath.Base(w.Path)); ok {
			f.add(ctx, &reading{Record: discover.Record{ID: name.id, Path: w.Path}}, err)
		} else {
			f.lost = true
		}
	}
	return s.found
}

// firstLook is how many bytes of a rollout tell whose it is. What tells stands before the agent's long instructions.
const firstLook = 4 << 10

// origin reads whom a thread works for, and nothing else.
func origin(e discover.Entry, scratch *native.Scratch, t *reading) (ok bool, err error) {
	t.name(e)
	m, changed, err := originIn(e, firstLook, scratch)
	if errors.Is(err, errBrief) {
		m, changed, err = originIn(e, headLimit, scratch)
	}
	if native.Absent(err) {
		return false, nil
	}
	if err != nil {
		return false, warn(e.Path, err)
	}
	t.starter, t.Parent, t.changed = m.starterID(), m.parentID(), changed
	return true, nil
}

// errBrief: more of a compressed rollout has to be unpacked.
var errBrief = errors.New("the first record is longer")

// originIn reads the first record in the first n bytes of a rollout. A plain one may be read further.
func originIn(e discover.Entry, n int64, scratch *native.Scratch) (m meta, changed time.Time, err error) {
	f, err := openHead(e.Path, n, scratch)
	if err != nil {
		return m, changed, err
	}
	defer f.Close()
	m, ok := firstWords(f)
	switch {
	case ok:
	case n < headLimit && f.Size() == n:
		err = errBrief
	default:
		m, err = firstMeta(f, e.ID)
	}
	return m, f.ModTime(), err
}

// firstWords reads no more of the first record than is mostly needed to know whom the thread works for.
func firstWords(f *native.File) (m meta, ok bool) {
	begin := make([]byte, min(firstLook, f.Size()))
	n, _ := f.ReadAt(begin, 0) // what is wrong is met again by who reads on
	e, ok := peek(begin[:n])
	if !ok || string(e.kind) != "session_meta" {
		return m, false
	}
	m = parseMeta(e)
	return m, m.starterID() != "" || m.source.word != "" && m.source.sub == ""
}

// firstMeta reads the first record.
func firstMeta(f *native.File, id string) (meta, error) {
	h := head{id: id}
	_, err := f.Forward(0, headLimit, func(l native.Line) bool {
		h.line(l)
		return !h.meta.found
	})
	if err == nil && !h.meta.found && (h.lines > 0 || !begins(f)) {
		err = errNoMeta
	}
	return h.meta, err
}

// lives are the times in which threads were at work, in the order of their birth; each ends with the last of those so far.
type lives []life

type life struct{ born, end time.Time }

// delay is how much later than a thread's last word its sub-agent may begin: it is told of when it has.
const delay = 10 * time.Minute

// livesOf are the lives of those threads whose ids tell when they were begun: older versions have no sub-agents.
func livesOf(threads []*reading) lives {
	var alive lives
	for _, t := range threads {
		if at, ok := born(nameID(t)); ok {
			alive = append(alive, life{at, t.changed.Add(delay)})
		}
	}
	slices.SortFunc(alive, func(a, b life) int { return a.born.Compare(b.born) })
	for i := 1; i < len(alive); i++ {
		if alive[i].end.Before(alive[i-1].end) {
			alive[i].end = alive[i-1].end
		}
	}
	return alive
}

// has reports whether a moment lies in one of the lives.
func (l lives) has(at time.Time) bool {
	n, same := slices.BinarySearchFunc(l, at, func(a life, at time.Time) int { return a.born.Compare(at) })
	if same {
		n++
	}
	return n > 0 && !at.After(l[n-1].end)
}

// nameID is a thread's id as its file is named.
func nameID(t *reading) string {
	if name, ok := parseRollout(filepath.Base(t.Path)); ok {
		return name.id
	}
	return t.ID
}
