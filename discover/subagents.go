package discover

import (
	"context"
	"slices"
)

// SubagentTracker finds the sub-agents of a session, and theirs, as they come.
type SubagentTracker struct {
	scanner *Scanner
	seen    map[Key]bool
	orphans []Record // sub-agents that were met, but not whom they work for
}

// TrackSubagents has met nobody yet.
func (scanner *Scanner) TrackSubagents() *SubagentTracker {
	return &SubagentTracker{scanner: scanner, seen: map[Key]bool{}}
}

// Update returns the sessions of one agent, as they are by now, with those behind them that are stored, work for one of
// them and have not been met. They are not judged: a snapshot does that. The cost depends on what was begun while the
// sessions were at work, not on what is stored. The error is ctx's.
func (f *SubagentTracker) Update(ctx context.Context, sessions []Session) (all []Session, warnings []*Warning, err error) {
	all = slices.Clone(sessions)
	scan := f.scanner.newScan([]Agent{sessions[0].Agent})
	for from := 0; from < len(all); {
		parents := all[from:]
		from = len(all)
		f.readSubagents(ctx, scan, parents)
		f.orphans = slices.DeleteFunc(f.orphans, func(r Record) bool {
			i := slices.IndexFunc(all, func(s Session) bool { return s.ID == r.Parent })
			if i >= 0 {
				all = append(all, Session{Record: &r, Trust: all[i].Trust})
			}
			return i >= 0
		})
	}
	return all, scan.warnings, ctx.Err()
}

// readSubagents reads the sub-agents that may work for these sessions. What is not stored has none.
func (f *SubagentTracker) readSubagents(ctx context.Context, scan *Scan, parents []Session) {
	var refs []Ref
	var homes []Home
	for _, s := range parents {
		f.seen[s.Key()] = true
		if s.Path != "" {
			refs, homes = append(refs, Ref{s.ID, s.Path}), withHome(homes, s)
		}
	}
	if len(refs) == 0 {
		return
	}
	agent := parents[0].Agent
	entries := scan.listEntries(ctx, map[Agent][]Home{agent: homes}, func(Agent) EntryFilter { return EntryFilter{Parents: refs, Subagents: true} })
	for i := range entries {
		entries[i] = slices.DeleteFunc(entries[i], func(e Entry) bool { return f.seen[Key{e.Agent, e.ID, e.Path}] })
	}
	from := len(scan.records)
	scan.readRecords(ctx, entries, ReadOptions{})
	for _, r := range slices.Concat(scan.records[from:]...) {
		if r.IsSubagent() && !f.seen[r.Key()] {
			f.orphans = append(f.orphans, r)
		}
		f.seen[r.Key()] = true
	}
}
