package discover

import (
	"context"
	"iter"
	"slices"
	"time"

	"agentctl/discover/storage"
)

// DiskUse is what something of an agent takes on disk.
type DiskUse struct {
	// Owner is the index of the record that it belongs to; below 0: no session alone.
	Owner int
	// Agent is set by [Scanner.ReadDisk].
	Agent Agent
	// Path is what it is.
	Path string
	// Kind says what it is: transcript, sub-agents, database, or the name of a folder of the agent.
	Kind string
	// Bytes are allocated. Estimated: they are the bytes of a session's rows in a database that others share.
	Bytes     int64
	Estimated bool
	// Files is how many files these are.
	Files int
}

// DiskCounter counts what the homes of an agent have on disk.
type DiskCounter struct {
	*storage.DiskTree
	// Home is the home that is counted, and Stopped is set once no more is wanted.
	Home    Home
	Stopped bool
	emit    func(DiskUse, error)
}

// CountDisk returns the sequence of [Adapter.ReadDisk]. It calls count for each home, which adds what is there.
func CountDisk(ctx context.Context, agent Agent, homes []Home, count func(*DiskCounter)) iter.Seq2[DiskUse, error] {
	return func(yield func(DiskUse, error) bool) {
		c := &DiskCounter{}
		c.emit = func(u DiskUse, err error) { c.Stopped = c.Stopped || !yield(u, err) }
		c.DiskTree = storage.NewDiskTree(ctx, func(path string, err error) {
			c.emit(DiskUse{}, &Warning{Agent: agent, Path: path, Err: storage.WithoutPath(path, err)})
		})
		for _, c.Home = range homes {
			if count(c); c.Stopped {
				return
			}
		}
	}
}

// Add adds what a path takes, if it takes anything.
func (c *DiskCounter) Add(owner int, kind, path string, u storage.DiskUse) {
	if u != (storage.DiskUse{}) {
		c.emit(DiskUse{Owner: owner, Path: path, Kind: kind, Bytes: u.Bytes, Files: u.Files}, nil)
	}
}

// AddEstimate adds the bytes that rows of a session take in a database.
func (c *DiskCounter) AddEstimate(owner int, path string, bytes int64) {
	c.emit(DiskUse{Owner: owner, Path: path, Kind: "database rows", Bytes: bytes, Estimated: true}, nil)
}

// Warn adds a warning.
func (c *DiskCounter) Warn(warning error) { c.emit(DiskUse{}, warning) }

// DiskFilter selects what [Scanner.ReadDisk] reads.
type DiskFilter struct {
	// Agents: any of these; empty: all.
	Agents []Agent
	// Since and Before select sessions by their last activity; zero: any. With either, what belongs to no session is left out.
	Since, Before time.Time
}

// matches reports whether a session passes the filter. What belongs to no session is nil.
func (filter *DiskFilter) matches(r *Record) bool {
	if r == nil {
		return filter.Since.IsZero() && filter.Before.IsZero()
	}
	last := r.lastActivity()
	return !last.Before(filter.Since) && (filter.Before.IsZero() || last.Before(filter.Before))
}

// DiskLeftOut is what a [DiskFilter] leaves out.
type DiskLeftOut struct {
	// Sessions do not pass the filter. Sub-agents are not counted.
	Sessions int
	// Bytes are what these take on disk, with what belongs to no session. Estimated: rows in a database are among them.
	Bytes     int64
	Estimated bool
}

// ReadDisk calls add for everything that the agents' homes have on disk and that passes the filter, with the session that it belongs
// to in the end, nil if that is none. sub: it belongs to a sub-agent of that session. The error is that of the context; what could not
// be read is in the warnings.
func (scanner *Scanner) ReadDisk(ctx context.Context, filter DiskFilter, add func(owner *Record, sub bool, u DiskUse)) (left DiskLeftOut, warnings []*Warning, err error) {
	scan := scanner.newScan(filter.Agents)
	if _, err := scan.readProcesses(ctx); err != nil { // processes name homes
		return left, scan.warnings, err
	}
	scan.readRecords(ctx, scan.listEntries(ctx, scan.homes, EntryFilter{Subagents: true}), ReadOptions{AllEntries: true})
	for i, a := range scan.adapters {
		records := scan.records[i]
		mains := mainRecords(records)
		tops := topSessions(records, mains)
		for top := range records {
			if tops[top] == top && mains[top] == top && !records[top].IsSubagent() && !filter.matches(&records[top]) {
				left.Sessions++
			}
		}
		homes := slices.DeleteFunc(slices.Clone(scan.homes[a.Name()]), func(h Home) bool { return !h.FilesOnly && !scan.countsHome(i, h.Dir) })
		for u, err := range a.ReadDisk(scan.confine(ctx, a.Name()), homes, records) {
			u.Agent = a.Name()
			var owner *Record
			if err == nil && u.Owner >= 0 {
				owner = &records[tops[u.Owner]]
			}
			switch {
			case err != nil:
				scan.warn(a.Name(), err)
			case filter.matches(owner):
				add(owner, owner != nil && records[u.Owner].IsSubagent(), u)
			default:
				left.Bytes += u.Bytes
				left.Estimated = left.Estimated || u.Estimated
			}
		}
	}
	return left, scan.warnings, ctx.Err()
}

// countsHome reports whether the adapter with this index counts a directory. --home names one for all agents, and it may lie in another home or
// contain some, whatever links lead to it: then those count it that have sessions there, or else the first.
func (scan *Scan) countsHome(index int, dir string) bool {
	stores := func(i int, home string) bool {
		return slices.ContainsFunc(scan.records[i], func(r Record) bool { return r.Home == home })
	}
	real := RealPath(dir)
	for i, a := range scan.adapters {
		for _, h := range scan.homes[a.Name()] {
			other := RealPath(h.Dir)
			overlaps := i != index && !h.FilesOnly && (Within(other, real) || Within(real, other))
			if overlaps && !stores(index, dir) && (stores(i, h.Dir) || other == real && i < index) {
				return false
			}
		}
	}
	return true
}

// topSessions returns, for each record, the index of the session that it works for in the end; its own if that is not stored. What
// belongs to a copy belongs to the session.
func topSessions(records []Record, mains []int) []int {
	byID := map[string]int{}
	for i, r := range records {
		if mains[i] == i {
			byID[r.ID] = i
		}
	}
	tops := make([]int, len(records))
	for i := range records {
		seen := []int{i}
		top := i
		for records[top].IsSubagent() {
			parent, ok := byID[records[top].Parent]
			if !ok || slices.Contains(seen, parent) {
				break
			}
			seen, top = append(seen, parent), parent
		}
		tops[i] = mains[top]
	}
	return tops
}
