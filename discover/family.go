package discover

import (
	"context"
	"slices"
)

// Family is a session with the sub-agents that work for it, and for these, as they are found one after the other.
type Family struct {
	world   *World
	members []Session
	met     map[Key]bool
	orphans []Record // sub-agents that were met, but not whom they work for
}

// Family is that of a session, alone so far.
func (w *World) Family(s Session) *Family {
	return &Family{world: w, members: []Session{s}, met: map[Key]bool{s.Key(): true}}
}

// Sessions are those found so far, the eldest first. Sub-agents are not judged: [World.Follow] does that.
func (f *Family) Sessions() []Session { return slices.Clone(f.members) }

// Grow adds the sub-agents that are stored and were not before. The cost depends on what was begun while the family was
// at work, not on what is stored. The error is ctx's.
func (f *Family) Grow(ctx context.Context) (grown bool, warnings []*Warning, err error) {
	before := len(f.members)
	l := f.world.look([]Agent{f.members[0].Agent})
	for from := 0; from < len(f.members); {
		parents := f.members[from:]
		from = len(f.members)
		f.meet(ctx, l, parents)
		f.orphans = slices.DeleteFunc(f.orphans, func(r Record) bool {
			own := slices.ContainsFunc(f.members, func(s Session) bool { return s.ID == r.Parent })
			if own {
				f.members = append(f.members, Session{Record: r})
			}
			return own
		})
	}
	return len(f.members) > before, l.warnings, ctx.Err()
}

// meet reads the sub-agents that may work for these sessions. What is not stored has none.
func (f *Family) meet(ctx context.Context, l *look, parents []Session) {
	var refs []Ref
	var homes []Home
	for _, s := range parents {
		if s.Path != "" {
			refs, homes = append(refs, Ref{s.ID, s.Path}), withHome(homes, s)
		}
	}
	if len(refs) == 0 {
		return
	}
	agent := f.members[0].Agent
	entries := l.entries(ctx, map[Agent][]Home{agent: homes}, func(Agent) Query { return Query{Parents: refs, Children: true} })
	for i := range entries {
		entries[i] = slices.DeleteFunc(entries[i], func(e Entry) bool { return f.met[Key{e.Agent, e.ID, e.Path}] })
	}
	from := len(l.records)
	l.read(ctx, entries, Want{})
	for _, r := range slices.Concat(l.records[from:]...) {
		if r.IsSub() && !f.met[r.Key()] {
			f.orphans = append(f.orphans, r)
		}
		f.met[r.Key()] = true
	}
}
