package discover

import (
	"context"
	"fmt"
	"slices"

	"agentctl/proc"
)

// follower finds the followed sessions in a scan. sessions are these, with the paths that their agents use now.
type follower struct {
	SnapshotRequest
	sessions []Session
}

func (f *follower) snapshot(ctx context.Context, scan *Scan) (Snapshot, error) {
	if f.Stored != nil {
		f.readStored(ctx, scan)
	}
	if err := f.readSessions(ctx, scan); err != nil {
		return Snapshot{}, err
	}
	s := Snapshot{Result: scan.Result(), claims: scan.claims, Homes: f.knownHomes(scan)}
	s.Followed = f.rowsOf(s.Result, scan.tableUnreadable)
	return s, nil
}

// readStored reads the requested stored sessions. It must run before the process table is read.
func (f *follower) readStored(ctx context.Context, scan *Scan) {
	entries := scan.listEntries(ctx, f.knownHomes(scan), *f.Stored)
	scan.readRecords(ctx, entries, f.Options)
}

// knownHomes returns the homes of the request and those that are known now.
func (f *follower) knownHomes(scan *Scan) map[Agent][]Home {
	homes := map[Agent][]Home{}
	for _, a := range scan.adapters {
		homes[a.Name()] = slices.Clone(scan.homes[a.Name()])
		for _, h := range f.ExtraHomes[a.Name()] {
			if !slices.ContainsFunc(homes[a.Name()], h.same) {
				homes[a.Name()] = append(homes[a.Name()], h)
			}
		}
	}
	return homes
}

// readSessions reads the records of the sessions, moved files included, then all claims of their agents, and the records that
// the claims name.
func (f *follower) readSessions(ctx context.Context, scan *Scan) error {
	homes := map[Agent][]Home{}
	for _, s := range f.sessions {
		homes[s.Agent] = withHome(homes[s.Agent], s)
	}
	scan.extraHomes = homes
	scan.readRefs(ctx, homes, refsOf(f.sessions), f.Options)
	moved := slices.DeleteFunc(slices.Clone(f.sessions), func(s Session) bool { return s.Path == "" || scan.readKeys[s.Key()] })
	for i := range moved {
		moved[i] = moved[i].withPath("")
	}
	if len(moved) > 0 {
		scan.readRefs(ctx, homes, refsOf(moved), f.Options)
	}
	if _, err := scan.readProcesses(ctx); err != nil {
		return err
	}
	scan.readClaims(ctx)
	f.adoptMovedFiles(ctx, scan)
	wanted := func(c Claim) bool { return f.AllLive || f.isAbout(c) }
	scan.readClaimedRecords(ctx, f.Options, wanted)
	scan.readClaimsOfStopped(ctx, f.Options, wanted)
	return nil
}

// adoptMovedFiles sets the path that a process claims for a session, if the agent no longer uses the known one, though that
// file still exists. An ID in two places is two sessions only if the agent says so.
func (f *follower) adoptMovedFiles(ctx context.Context, scan *Scan) {
	for i := range f.sessions {
		s := &f.sessions[i]
		for _, c := range scan.claims {
			if c.Agent == s.Agent && c.Session == s.ID && c.Path != s.Path && c.Path != "" && s.Path != "" && !scan.isStoredAt(ctx, *s) {
				*s = s.withPath(c.Path)
			}
		}
	}
}

// isAbout reports whether a claim may be about one of the sessions: by its ID or, while that is not known, by its process.
func (f *follower) isAbout(c Claim) bool {
	return slices.ContainsFunc(f.sessions, func(s Session) bool {
		return s.Agent == c.Agent && (s.ID == c.Session || s.ID == "" && s.HasProcess(c.Process))
	})
}

func (s Session) withPath(path string) Session {
	moved := *s.Record
	moved.Path = path
	s.Record = &moved
	return s
}

// isStoredAt reports whether the session's file is among those that its agent finds by the ID.
func (scan *Scan) isStoredAt(ctx context.Context, s Session) bool {
	homes := map[Agent][]Home{s.Agent: withHome(nil, s)}
	entries := scan.listEntries(ctx, homes, EntryFilter{Refs: []Ref{{ID: s.ID}}, Subagents: true})
	return slices.ContainsFunc(slices.Concat(entries...), func(e Entry) bool { return e.ID == s.ID && e.Path == s.Path })
}

// withHome returns the homes with that of a session. A file outside the home is one of its Files.
func withHome(homes []Home, s Session) []Home {
	i := slices.IndexFunc(homes, func(h Home) bool { return h.Dir == s.Home && h.Trust == s.Trust })
	if i < 0 {
		i = len(homes)
		seenIn, _ := s.Meta[seenInKey].(int)
		homes = append(homes, Home{Dir: s.Home, Trust: s.Trust, SeenInPID: seenIn})
	}
	if s.isOutsideHome() && !slices.Contains(homes[i].Files, s.Path) {
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

func (f *follower) rowsOf(r Result, blind bool) []Session {
	rows := make([]Session, len(f.sessions))
	for i, s := range f.sessions {
		var ok bool
		if rows[i], ok = f.findRow(s, r.Sessions); !ok {
			rows[i] = s.asMissing(r, blind)
		}
	}
	return rows
}

// findRow finds a session's row: by its key; by its ID with another path, if there is only one and it is not another followed
// session; or by the process, if its ID was not known.
func (f *follower) findRow(s Session, rows []Session) (Session, bool) {
	if i := slices.IndexFunc(rows, func(r Session) bool { return s.ID != "" && r.Key() == s.Key() }); i >= 0 {
		return rows[i], true
	}
	var found []Session
	for _, r := range rows {
		same := r.ID == s.ID
		if s.ID == "" {
			same = !r.IsSubagent() && slices.ContainsFunc(s.Processes, func(p proc.Process) bool { return r.RunByOrShownIn(p.ID.PID) })
		}
		other := slices.ContainsFunc(f.sessions, func(o Session) bool { return o.ID != "" && o.Key() == r.Key() })
		if r.Agent == s.Agent && same && !other {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return Session{}, false
	}
	if found[0].Path == "" { // its record is missing for now
		return found[0].withPath(s.Path), true
	}
	return found[0], true
}

// asMissing returns a session that neither storage nor processes name any more. Its status is unknown while a process that ran
// it lives and is not known to run another session. A session whose ID was never known ends when its process runs known
// sessions only, and keeps its processes, since nothing else identifies it.
func (s Session) asMissing(r Result, blind bool) Session {
	unsure := slices.IndexFunc(s.Processes, func(p proc.Process) bool {
		_, lives := r.Table.Find(p.ID)
		return lives && !slices.ContainsFunc(r.Sessions, func(o Session) bool { return o.ID != "" && o.HasProcess(p.ID) })
	})
	facts := statusInput{vanished: true}
	switch {
	case blind:
		facts.hidden = tableUnreadable
	case s.ID != "" && unsure >= 0:
		facts.hidden = fmt.Sprintf("process %d, which ran it, lives, and shows no other session", s.Processes[unsure].ID.PID)
	}
	s.Evidence = nil
	s.setStatus(&facts)
	if facts.hidden == "" && s.ID != "" {
		s.Processes, s.Clients = nil, nil
	}
	return s
}

// unchangedSinceStop reports whether the records of the stopped sessions are still the same as before the process table was
// read.
func (scan *Scan) unchangedSinceStop(ctx context.Context, sessions []Session) bool {
	var stopped []Session
	homes := map[Agent][]Home{}
	for _, s := range sessions {
		if s.Status == Stopped && s.ID != "" {
			if !scan.readKeys[s.Key()] {
				s = s.withPath("") // the record may have been written just before the stop
			}
			stopped, homes[s.Agent] = append(stopped, s), withHome(homes[s.Agent], s)
		}
	}
	again := scan.emptyCopy()
	again.readRefs(ctx, homes, refsOf(stopped), ReadOptions{})
	return !slices.ContainsFunc(slices.Concat(again.records...), func(r Record) bool {
		return !scan.readKeys[r.Key()] || slices.ContainsFunc(stopped, func(s Session) bool {
			return s.Key() == r.Key() && (!s.Turn.endsLike(r.Turn) || !s.Updated.Equal(r.Updated))
		})
	})
}

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
	entries := scan.listEntries(ctx, map[Agent][]Home{parents[0].Agent: homes}, EntryFilter{Parents: refs, Subagents: true})
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
