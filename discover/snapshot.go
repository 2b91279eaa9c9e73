package discover

import (
	"context"
	"slices"

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
	Stored *EntryFilter
	// ExtraHomes are searched for stored sessions, too, though nothing may name them any more.
	ExtraHomes map[Agent][]Home
}

// Snapshot takes a snapshot. The outcome of a stopped session must rest on its last record: Snapshot reads the storage again
// after the process table without its process, and if the storage has changed, it repeats the whole scan. It repeats the scan
// thoroughly, too, before it says that a session is stopped, or that nobody shows a session that a server keeps open.
func (scanner *Scanner) Snapshot(ctx context.Context, req SnapshotRequest) (Snapshot, error) {
	const tries = 5 // a stopped session should not change; if one does, the next snapshot has it
	f := follower{req, slices.Clone(req.Follow)}
	isStopped := func(s Session) bool { return s.Status == Stopped }
	thorough := req.Stored != nil || slices.ContainsFunc(req.Follow, isStopped)
	for n := 1; ; n++ {
		scan := scanner.newScan(req.Agents)
		scan.thorough = thorough
		snap, err := f.snapshot(ctx, scan)
		if err != nil {
			return Snapshot{}, err
		}
		if !thorough && slices.ContainsFunc(snap.Followed, func(s Session) bool { return isStopped(s) || !req.AllLive && s.Released() }) {
			n, thorough = 0, true
			continue
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
