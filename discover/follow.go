package discover

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"agentctl/proc"
)

// Follow tells what is true of the sessions now, in their order, and again whenever it may have changed: of a process's
// end at once, of changes in the storage within a second, unless looking would take more of a processor than thrift
// allows. It ends when tell wants no more or fails, or with ctx. A session that lives on in another process, whose
// file is moved, or that gets its name while it is followed, keeps its place; one that is gone from the storage is
// stopped once none of its processes lives.
func (w *World) Follow(ctx context.Context, sessions []Session, tell func(Result) (more bool, err error)) error {
	return w.follow(ctx, sessions, 0, tell)
}

// FollowClosely is [World.Follow] for somebody who reads along: a change waits for its look no longer than a moment,
// whatever looking takes. It takes that only while something changes.
func (w *World) FollowClosely(ctx context.Context, sessions []Session, tell func(Result) (more bool, err error)) error {
	return w.follow(ctx, sessions, patience, tell)
}

// follow looks no later than most after what it is due for; 0: thrift alone counts.
func (w *World) follow(ctx context.Context, sessions []Session, most time.Duration, tell func(Result) (more bool, err error)) error {
	f := &following{world: w, sessions: slices.Clone(sessions), want: Want{Began: true}}
	look := func(ctx context.Context) (Result, []Session, error) {
		r, err := f.look(ctx)
		return r, r.Sessions, err
	}
	watch := newWatch(w.Adapters, systemSenses())
	watch.most = most
	f.wake, f.now = watch.wake, watch.now
	return watch.run(ctx, sessions, look, tell)
}

// following is a set of sessions, as they were last seen.
type following struct {
	world    *World
	sessions []Session
	doubts   map[Key]doubted // of those that are in doubt
	want     Want
	// wake asks for another look, which is not the first one any more; now is the time of day.
	wake func(time.Time)
	now  func() time.Time
}

// look judges the sessions anew, reading nothing of others. What has stopped is judged by what it left: the storage is
// read again after the table in which its process was missing, and if that is not the same, all of it.
func (f *following) look(ctx context.Context) (Result, error) {
	const tries = 5 // nobody writes what has stopped; should somebody do all the same, there will be another look
	for n := 1; ; n++ {
		var agents []Agent
		for _, s := range f.sessions {
			agents = append(agents, s.Agent)
		}
		l := f.world.look(agents)
		if err := f.gather(ctx, l, f.concerns); err != nil {
			return Result{}, err
		}
		r := l.result()
		all := r.Sessions
		f.place(&r, l)
		steady := l.steady(ctx, r.Sessions)
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if steady || n == tries {
			f.doubt(&r, all)
			f.sessions = slices.Clone(r.Sessions)
			return r, nil
		}
	}
}

// gather reads the records of the sessions, wherever they are by now, then all claims of their agents, and the records of
// what the wanted ones name.
func (f *following) gather(ctx context.Context, l *look, wanted func(Claim) bool) error {
	homes := map[Agent][]Home{}
	for _, s := range f.sessions {
		homes[s.Agent] = withHome(homes[s.Agent], s)
	}
	l.past = homes
	l.readRefs(ctx, homes, refsOf(f.sessions), f.want)
	moved := slices.DeleteFunc(slices.Clone(f.sessions), func(s Session) bool { return s.Path == "" || l.had(s.Key()) })
	for i := range moved {
		moved[i] = moved[i].at("")
	}
	if len(moved) > 0 {
		l.readRefs(ctx, homes, refsOf(moved), f.want)
	}
	if _, err := l.take(ctx); err != nil {
		return err
	}
	l.claim(ctx)
	f.rename(ctx, l)
	l.readClaimed(ctx, f.want, wanted)
	return nil
}

// rename takes the file that a process claims for a session where its agent does not go by the one known any more,
// though it is still there. An ID in two places is two sessions only if the agent says so.
func (f *following) rename(ctx context.Context, l *look) {
	for i := range f.sessions {
		s := &f.sessions[i]
		for _, c := range l.claims {
			if c.Agent == s.Agent && c.Session == s.ID && c.Path != s.Path && c.Path != "" && s.Path != "" && !l.valid(ctx, *s) {
				*s = s.at(c.Path)
			}
		}
	}
}

// at is the session as if it were stored there.
func (s Session) at(path string) Session {
	moved := *s.Record
	moved.Path = path
	s.Record = &moved
	return s
}

// valid reports whether the session's file is among those that its agent knows by the ID.
func (l *look) valid(ctx context.Context, s Session) bool {
	homes := map[Agent][]Home{s.Agent: withHome(nil, s)}
	entries := l.entries(ctx, homes, func(Agent) Query { return Query{Refs: []Ref{{ID: s.ID}}, Children: true} })
	return slices.ContainsFunc(slices.Concat(entries...), func(e Entry) bool { return e.ID == s.ID && e.Path == s.Path })
}

// withHome adds the home of a session. A file that lies elsewhere belongs to it all the same.
func withHome(homes []Home, s Session) []Home {
	i := slices.IndexFunc(homes, func(h Home) bool { return h.Dir == s.Home && h.Trust == s.Trust })
	if i < 0 {
		i = len(homes)
		seenIn, _ := s.Meta.Get(SeenInKey).(int)
		homes = append(homes, Home{Dir: s.Home, Trust: s.Trust, SeenIn: seenIn})
	}
	if rel, err := filepath.Rel(s.Home, s.Path); s.Path != "" && (err != nil || !filepath.IsLocal(rel)) &&
		!slices.Contains(homes[i].Files, s.Path) {
		homes[i].Files = append(homes[i].Files, s.Path)
	}
	return homes
}

func refsOf(sessions []Session) map[Agent][]Ref {
	refs := map[Agent][]Ref{}
	for _, s := range sessions {
		if s.ID != "" {
			refs[s.Agent] = append(refs[s.Agent], Ref{s.ID, s.Path})
		}
	}
	return refs
}

// readRefs adds the records of these sessions.
func (l *look) readRefs(ctx context.Context, homes map[Agent][]Home, refs map[Agent][]Ref, want Want) {
	asked := map[Agent][]Home{}
	for agent := range refs {
		asked[agent] = homes[agent]
	}
	query := func(a Agent) Query { return Query{Refs: refs[a], Children: true} }
	l.read(ctx, l.entries(ctx, asked, query), want)
}

// concerns reports whether a claim may be about one of the sessions: by its name, or where it has none yet by its process.
func (f *following) concerns(c Claim) bool {
	return slices.ContainsFunc(f.sessions, func(s Session) bool {
		return s.Agent == c.Agent && (s.ID == c.Session || s.ID == "" && s.hasProcess(c.Process))
	})
}

func (s Session) hasProcess(id proc.ID) bool {
	return slices.ContainsFunc(s.Processes, func(p proc.Process) bool { return p.ID == id })
}

// place puts the rows in the order of the sessions.
func (f *following) place(r *Result, l *look) {
	rows := make([]Session, len(f.sessions))
	for i, s := range f.sessions {
		var ok bool
		if rows[i], ok = f.find(s, r.Sessions); !ok {
			rows[i] = f.missing(s, r, l.blind)
		}
	}
	r.Sessions = rows
}

// find finds a session's row: of its very name; under the same ID elsewhere, if there is but one and it is not another
// one that is followed; or by the process, of one that had no name.
func (f *following) find(s Session, rows []Session) (Session, bool) {
	if i := slices.IndexFunc(rows, func(r Session) bool { return s.ID != "" && r.Key() == s.Key() }); i >= 0 {
		return rows[i], true
	}
	var found []Session
	for _, r := range rows {
		same := r.ID == s.ID
		if s.ID == "" {
			same = !r.IsSub() && slices.ContainsFunc(s.Processes, func(p proc.Process) bool { return r.hasProcess(p.ID) })
		}
		other := slices.ContainsFunc(f.sessions, func(o Session) bool { return o.ID != "" && o.Key() == r.Key() })
		if r.Agent == s.Agent && same && !other {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return Session{}, false
	}
	if found[0].Path == "" { // it is away, and may come back
		return found[0].at(s.Path), true
	}
	return found[0], true
}

// doubt leaves those as they were that seem to have stopped though a process that ran them lives. all are the rows of the
// whole look.
func (f *following) doubt(r *Result, all []Session) {
	doubts := map[Key]doubted{}
	for i, was := range f.sessions {
		lives, other := was.survives(r.Table, func(p proc.ID) bool {
			return !was.Shared && slices.ContainsFunc(all, func(o Session) bool {
				return o.ID != "" && o.ID != was.ID && !o.IsSub() && o.hasProcess(p)
			})
		})
		d := f.doubts[was.Key()]
		if r.Sessions[i] = d.believe(was, r.Sessions[i], lives, other, f.now()); d.doubtful() {
			doubts[was.Key()] = d
			f.wake(d.until())
		}
	}
	f.doubts = doubts
}

// missing is what is true of a session that neither storage nor processes name any more. While a process that ran it
// lives and is not known to run something else, nobody knows. One that never had a name keeps its processes: nothing else
// says which one it was.
func (f *following) missing(s Session, r *Result, blind bool) Session {
	unsure := func(p proc.Process) bool {
		_, lives := r.Table.Find(p.ID)
		return lives && !slices.ContainsFunc(r.Sessions, func(o Session) bool { return o.ID != "" && o.hasProcess(p.ID) })
	}
	s.Evidence = nil
	facts := statusFacts{stored: s.Turn, lost: true, unseen: blind || slices.ContainsFunc(s.Processes, unsure)}
	s.judge(&facts)
	if !facts.unseen && s.ID != "" {
		s.Processes = nil
	}
	return s
}

// steady reports whether the storage still says of the stopped sessions what it said before it was seen that they had.
func (l *look) steady(ctx context.Context, sessions []Session) bool {
	var stopped []Session
	homes := map[Agent][]Home{}
	for _, s := range sessions {
		if s.Status == Stopped && s.ID != "" {
			if !l.had(s.Key()) {
				s = s.at("") // it may have come just before the end
			}
			stopped, homes[s.Agent] = append(stopped, s), withHome(homes[s.Agent], s)
		}
	}
	again := &look{world: l.world, agents: l.agents, warned: map[string]bool{}}
	again.readRefs(ctx, homes, refsOf(stopped), Want{})
	return !slices.ContainsFunc(slices.Concat(again.records...), func(r Record) bool {
		return !l.had(r.Key()) || slices.ContainsFunc(stopped, func(s Session) bool {
			return s.Key() == r.Key() && (!s.Turn.equal(r.Turn) || !s.Updated.Equal(r.Updated))
		})
	})
}
