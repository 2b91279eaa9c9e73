package discover

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"agentctl/proc"
)

// Snapshot is the result of one scan for a watcher, with the sessions that it follows.
type Snapshot struct {
	Result
	// Followed has one row for each session of [SnapshotRequest.Follow], in that order.
	Followed []Session
	// Homes are those of the request and those that are known now.
	Homes  map[Agent][]Home
	claims []Claim
}

// SnapshotRequest is what a snapshot reads beside the process table and the claims.
type SnapshotRequest struct {
	// Agents are the agents to scan; empty: all.
	Agents  []Agent
	Options ReadOptions
	// Follow are followed: one that lives on in another process, whose file is moved, or that gets its name between two
	// snapshots, keeps its place. One that is gone from the storage is stopped once none of its processes lives.
	Follow []Session
	// AllLive asks for the records of other sessions that live, too.
	AllLive bool
	// Stored asks for stored sessions; nil: no store is searched.
	Stored *StoredRequest
	// ExtraHomes are searched for stored sessions, too, though nothing may name them any more.
	ExtraHomes map[Agent][]Home
}

// StoredRequest selects stored sessions.
type StoredRequest struct {
	// Since leaves out what has not changed since then.
	Since time.Time
	// Subagents asks for sub-agents' sessions too.
	Subagents bool
	// NeedsTurnStart reports whether it must be known of a session when its newest turn was asked for, even where that stands far
	// back; nil: of none.
	NeedsTurnStart func(Entry) bool
}

// Snapshot takes a snapshot. The outcome of a stopped session must rest on its last record: Snapshot reads the storage again
// after the process table without its process, and if the storage has changed, it repeats the whole scan.
func (scanner *Scanner) Snapshot(ctx context.Context, req SnapshotRequest) (Snapshot, error) {
	const tries = 5 // a stopped session should not change; if one does, the next snapshot has it
	f := follower{req, slices.Clone(req.Follow)}
	for n := 1; ; n++ {
		scan := scanner.newScan(req.Agents)
		snap, err := f.snapshot(ctx, scan)
		if err != nil {
			return Snapshot{}, err
		}
		unchanged := scan.unchangedSinceStop(ctx, snap.Followed)
		if err := ctx.Err(); err != nil {
			return Snapshot{}, err
		}
		if unchanged || n == tries {
			return snap, nil
		}
	}
}

// HasAgentInHome reports whether a live process of the session's agent uses the session's home.
func (s *Snapshot) HasAgentInHome(row Session) bool {
	return slices.ContainsFunc(s.claims, func(c Claim) bool {
		_, live := s.Table.Find(c.Process)
		return live && c.Agent == row.Agent && (c.Home == "" || c.Home == row.Home)
	})
}

// UnlinkedProcesses returns the agents' processes that run none of these sessions, each as a session: they may start one.
func (s *Snapshot) UnlinkedProcesses(sessions []Session) (out []Session) {
	for _, c := range s.claims {
		p, live := s.Table.Find(c.Process)
		if live && !slices.ContainsFunc(sessions, func(o Session) bool { return o.Agent == c.Agent && o.HasProcess(p.ID) }) {
			out = append(out, Session{Record: &Record{Agent: c.Agent, Home: c.Home}, Processes: []proc.Process{p}})
		}
	}
	return out
}

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
	query := func(Agent) EntryFilter { return EntryFilter{Since: f.Stored.Since, Subagents: f.Stored.Subagents} }
	entries := scan.listEntries(ctx, f.knownHomes(scan), query)
	if f.Stored.NeedsTurnStart != nil {
		again := make([][]Entry, len(entries))
		for i := range entries {
			again[i] = slices.DeleteFunc(slices.Clone(entries[i]), func(e Entry) bool { return !f.Stored.NeedsTurnStart(e) })
		}
		want := f.Options
		want.TurnStart = true
		scan.readRecords(ctx, again, want)
	}
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
	moved := slices.DeleteFunc(slices.Clone(f.sessions), func(s Session) bool { return s.Path == "" || scan.hasRecord(s.Key()) })
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
	scan.readClaimedRecords(ctx, f.Options, func(c Claim) bool { return f.AllLive || f.isAbout(c) })
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

// withPath returns the session with another path.
func (s Session) withPath(path string) Session {
	moved := *s.Record
	moved.Path = path
	s.Record = &moved
	return s
}

// isStoredAt reports whether the session's file is among those that its agent finds by the ID.
func (scan *Scan) isStoredAt(ctx context.Context, s Session) bool {
	homes := map[Agent][]Home{s.Agent: withHome(nil, s)}
	entries := scan.listEntries(ctx, homes, func(Agent) EntryFilter { return EntryFilter{Refs: []Ref{{ID: s.ID}}, Subagents: true} })
	return slices.ContainsFunc(slices.Concat(entries...), func(e Entry) bool { return e.ID == s.ID && e.Path == s.Path })
}

// withHome returns the homes with that of a session. A file outside the home is one of its Files.
func withHome(homes []Home, s Session) []Home {
	i := slices.IndexFunc(homes, func(h Home) bool { return h.Dir == s.Home && h.Trust == s.Trust })
	if i < 0 {
		i = len(homes)
		seenIn, _ := s.Meta.Get(seenInKey).(int)
		homes = append(homes, Home{Dir: s.Home, Trust: s.Trust, SeenInPID: seenIn})
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
func (scan *Scan) readRefs(ctx context.Context, homes map[Agent][]Home, refs map[Agent][]Ref, want ReadOptions) {
	asked := map[Agent][]Home{}
	for agent := range refs {
		asked[agent] = homes[agent]
	}
	query := func(a Agent) EntryFilter { return EntryFilter{Refs: refs[a], Subagents: true} }
	scan.readRecords(ctx, scan.listEntries(ctx, asked, query), want)
}

// isAbout reports whether a claim may be about one of the sessions: by its ID or, while that is not known, by its process.
func (f *follower) isAbout(c Claim) bool {
	return slices.ContainsFunc(f.sessions, func(s Session) bool {
		return s.Agent == c.Agent && (s.ID == c.Session || s.ID == "" && s.HasProcess(c.Process))
	})
}

// rowsOf returns one row for each session.
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
			same = !r.IsSubagent() && slices.ContainsFunc(s.Processes, func(p proc.Process) bool { return r.HasProcess(p.ID) })
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
	unsure := func(p proc.Process) bool {
		_, lives := r.Table.Find(p.ID)
		return lives && !slices.ContainsFunc(r.Sessions, func(o Session) bool { return o.ID != "" && o.HasProcess(p.ID) })
	}
	facts := statusInput{stored: s.Turn, vanished: true, mayBeHidden: blind || s.ID != "" && slices.ContainsFunc(s.Processes, unsure)}
	s.Evidence = nil
	s.setStatus(&facts)
	if !facts.mayBeHidden && s.ID != "" {
		s.Processes = nil
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
			if !scan.hasRecord(s.Key()) {
				s = s.withPath("") // the record may have been written just before the stop
			}
			stopped, homes[s.Agent] = append(stopped, s), withHome(homes[s.Agent], s)
		}
	}
	again := &Scan{scanner: scan.scanner, adapters: scan.adapters, warningTexts: map[string]bool{}}
	again.readRefs(ctx, homes, refsOf(stopped), ReadOptions{})
	return !slices.ContainsFunc(slices.Concat(again.records...), func(r Record) bool {
		return !scan.hasRecord(r.Key()) || slices.ContainsFunc(stopped, func(s Session) bool {
			return s.Key() == r.Key() && (!s.Turn.equal(r.Turn) || !s.Updated.Equal(r.Updated))
		})
	})
}
