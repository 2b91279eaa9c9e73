package discover

import (
	"context"
	"slices"
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
	filterFor := func(Agent) EntryFilter { return EntryFilter{Since: f.Stored.Since, Subagents: f.Stored.Subagents} }
	entries := scan.listEntries(ctx, f.knownHomes(scan), filterFor)
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

// readRefs adds the records of these sessions.
func (scan *Scan) readRefs(ctx context.Context, homes map[Agent][]Home, refs map[Agent][]Ref, options ReadOptions) {
	asked := map[Agent][]Home{}
	for agent := range refs {
		asked[agent] = homes[agent]
	}
	query := func(a Agent) EntryFilter { return EntryFilter{Refs: refs[a], Subagents: true} }
	scan.readRecords(ctx, scan.listEntries(ctx, asked, query), options)
}
