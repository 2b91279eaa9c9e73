package discover

import (
	"context"
	"maps"
	"slices"
	"time"

	"agentctl/proc"
)

// Watch tells what is true of all sessions of the selection, and again whenever it may have changed: of a process's end
// at once, of one that has begun and of changes in the storage within a second. Told are the live sessions, with sel.All
// the stopped ones that [World.List] shows too, and each time those that have stopped since the last telling, though
// nobody saw them live: what the storage holds of them is enough. It ends when tell wants no more or fails, or with ctx.
// While tell takes its time nothing is looked at, and nothing is lost.
func (w *World) Watch(ctx context.Context, sel Select, tell func(Result) (more bool, err error)) error {
	s := newSurvey(w, sel, systemSenses())
	return s.watch.run(ctx, nil, s.look, func(r Result) (bool, error) { return tell(s.shown(r)) })
}

const (
	// patience is the most that a change waits for the look it is worth.
	patience = 500 * time.Millisecond
	// horizon is for how long what nobody saw is looked for: a store may be away for a while, or written late.
	horizon = 10 * time.Minute
)

// survey is what is known of all sessions between two looks.
type survey struct {
	following // those of the tracks
	sel       Select
	watch     *watch
	tracks    []*track
	begun     time.Time         // when the first look began
	whole     time.Time         // when the storage was last read for what no process runs
	due       time.Time         // when it is to be read for it again
	agents    map[proc.ID]bool  // that ran at the last look
	homes     map[Agent][]Home  // all that were seen so far
	ended     map[Key]Session   // those that have stopped of late, as they were left
	told      map[Key]bool      // which of those were told of
	doubted   map[Key]time.Time // when those that nobody saw live were first seen, but may live all the same
	stored    []Session         // with sel.All: those that had stopped when all of them were last read
}

func newSurvey(w *World, sel Select, senses senses) *survey {
	s := &survey{
		following: following{world: w, want: Want{Tokens: sel.Tokens}}, sel: sel, watch: newWatch(w.Adapters, senses),
		homes: map[Agent][]Home{}, ended: map[Key]Session{}, told: map[Key]bool{}, doubted: map[Key]time.Time{},
	}
	s.watch.most, s.watch.comers = patience, true
	return s
}

// moment is what one look of a survey goes by.
type moment struct {
	now time.Time
	// whole: the storage is read for what has begun and ended unseen. Nothing that was written before since is such.
	whole bool
	since time.Time
	// hosts reports whether a process lives that may run the session, by its agent and home.
	hosts func(Session) bool
}

func (s *survey) moment() moment {
	m := moment{now: s.watch.now()}
	if s.begun.IsZero() {
		s.begun, s.whole, s.due = m.now, m.now, m.now
		if !s.sel.All {
			s.due = m.now.Add(round)
		}
	}
	m.whole = !m.now.Before(s.due)
	if m.since = s.whole.Add(-horizon); m.since.Before(s.begun) {
		m.since = s.begun
	}
	return m
}

// look judges all sessions anew. Now and then, and when an agent has ended, it reads the storage for what nobody saw,
// too: before the process table, as all that is judged by it.
func (s *survey) look(ctx context.Context) (Result, []Session, error) {
	const tries = 5 // as in following.look
	s.clear()
	m := s.moment()
	for n := 1; ; n++ {
		l := s.world.look(s.sel.Agents)
		if m.whole {
			s.readStored(ctx, l, m.since)
		}
		if err := s.gather(ctx, l, anyClaim); err != nil {
			return Result{}, nil, err
		}
		r := l.result()
		all := r.Sessions
		s.place(&r, l)
		steady := l.steady(ctx, r.Sessions)
		if err := ctx.Err(); err != nil {
			return Result{}, nil, err
		}
		if steady || n == tries {
			m.hosts = l.hosts
			if m.whole {
				s.whole, s.due = m.now, m.now.Add(round)
			}
			s.settle(m, &r, all)
			s.remember(m, l, r)
			return r, append(slices.Clone(r.Sessions), unclaimed(l, r)...), nil
		}
	}
}

// readStored reads what has changed in the storage since, or all that is asked for.
func (s *survey) readStored(ctx context.Context, l *look, since time.Time) {
	if s.sel.All {
		since = s.sel.Since
	}
	homes := map[Agent][]Home{}
	for _, a := range l.agents {
		homes[a.Name()] = slices.Clone(l.homes[a.Name()])
		for _, h := range s.homes[a.Name()] {
			if !slices.ContainsFunc(homes[a.Name()], h.same) {
				homes[a.Name()] = append(homes[a.Name()], h)
			}
		}
	}
	query := func(Agent) Query { return Query{Since: since, Children: s.sel.Children} }
	entries := l.entries(ctx, homes, query)
	if len(s.ended) > 0 {
		again := make([][]Entry, len(entries))
		for i := range entries {
			again[i] = slices.DeleteFunc(slices.Clone(entries[i]), func(e Entry) bool { return !s.mayRunAgain(e) })
		}
		want := s.want
		want.Began = true
		l.read(ctx, again, want)
	}
	l.read(ctx, entries, s.want)
}

// mayRunAgain reports whether what was stored of a session that has stopped of late may be another turn. A file is mostly a
// little younger than its last record: those few sessions are asked again and again.
func (s *survey) mayRunAgain(e Entry) bool {
	old, ok := s.ended[Key{e.Agent, e.ID, e.Path}]
	tracked := func(o Session) bool { return o.Key() == old.Key() }
	return ok && e.Updated.After(old.Updated) && !slices.ContainsFunc(s.sessions, tracked)
}

// wholeBy asks for a look at all of the storage at this time, if none is due before.
func (s *survey) wholeBy(at time.Time) {
	if at.Before(s.due) {
		s.due = at
	}
	s.watch.wake(at)
}

// remember keeps what the next look needs to know of this one.
func (s *survey) remember(m moment, l *look, r Result) {
	if m.whole {
		maps.DeleteFunc(s.ended, func(_ Key, e Session) bool { return e.Updated.Before(m.since) })
		maps.DeleteFunc(s.told, func(k Key, _ bool) bool { _, kept := s.ended[k]; return !kept })
	}
	if !r.Blind {
		for p := range s.agents {
			if !r.Agents[p] { // what it has left behind may be news
				s.wholeBy(m.now)
			}
		}
		s.agents = r.Agents
	}
	for agent, homes := range l.homes {
		for _, h := range homes {
			if !slices.ContainsFunc(s.homes[agent], h.same) {
				s.homes[agent] = append(s.homes[agent], h)
			}
		}
	}
}

// unclaimed are the agents' processes that run no session so far, as if they did: they may begin one.
func unclaimed(l *look, r Result) (out []Session) {
	for _, c := range l.claims {
		p, live := l.table.Find(c.Process)
		if live && !slices.ContainsFunc(r.Sessions, func(s Session) bool { return s.Agent == c.Agent && s.hasProcess(p.ID) }) {
			out = append(out, Session{Record: &Record{Agent: c.Agent, Home: c.Home}, Processes: []proc.Process{p}})
		}
	}
	return out
}

// hosts reports whether a process of the session's agent lives that goes by the session's home.
func (l *look) hosts(s Session) bool {
	return slices.ContainsFunc(l.claims, func(c Claim) bool {
		_, live := l.table.Find(c.Process)
		return live && c.Agent == s.Agent && (c.Home == "" || c.Home == s.Home)
	})
}

// shown is what is told of the tracks' rows.
func (s *survey) shown(r Result) Result {
	rows := slices.Clone(r.Sessions)
	for _, row := range s.stored {
		if !slices.ContainsFunc(rows, func(o Session) bool { return o.Key() == row.Key() }) {
			rows = append(rows, row)
		}
	}
	r.Sessions = sorted(rows)
	sel := s.sel
	sel.All = true
	return sel.cut(r)
}
