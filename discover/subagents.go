package discover

import (
	"context"
	"slices"
)

// SubagentTracker finds the sub-agents of a session, and their sub-agents, as they start.
type SubagentTracker struct {
	scanner *Scanner
	seen    map[Key]bool
	orphans []Record // sub-agents whose parents were not found yet
}

// TrackSubagents returns a tracker that has found no sub-agents yet.
func (scanner *Scanner) TrackSubagents() *SubagentTracker {
	return &SubagentTracker{scanner: scanner, seen: map[Key]bool{}}
}

// Update returns these sessions of one agent, followed by the stored sub-agents of theirs that it has not returned before.
// Those have no status: a snapshot sets it. The cost depends on the sessions that were started since, not on the size of the
// store. The error is ctx's.
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

// readSubagents reads the sub-agents that may work for these sessions. A session that is not stored has none.
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
	filter := func(Agent) EntryFilter { return EntryFilter{Parents: refs, Subagents: true} }
	entries := scan.listEntries(ctx, map[Agent][]Home{agent: homes}, filter)
	for i := range entries {
		entries[i] = slices.DeleteFunc(entries[i], func(e Entry) bool { return f.seen[e.key()] })
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
