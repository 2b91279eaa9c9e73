package discover

import (
	"context"
	"slices"

	"agentctl/proc"
)

// Scanner holds the agents' adapters, the settings and the source of the process table. Every list of sessions comes from
// its methods, so that two verbs cannot disagree.
type Scanner struct {
	Adapters []Adapter
	// HomeSources returns where an agent's homes may be looked for.
	HomeSources func(Agent) HomeSources
	// ReadTable reads the process table (proc.ReadTable).
	ReadTable func(context.Context) (*proc.Table, error)
	// PID is this process, UID the effective user that it runs as.
	PID, UID int
	// AllUsers asks for the sessions of other users, and for homes that only processes in other namespaces name.
	AllUsers bool
}

// Result is a list of sessions together with what it was derived from and what was left out.
type Result struct {
	Sessions []Session
	// Warnings name the stores, files and processes that could not be read.
	Warnings []*Warning
	// Table is the process table that the statuses rest on.
	Table *proc.Table
	// ProcessesUnknown: the process table could not be read, and is empty.
	ProcessesUnknown bool
	// AgentProcesses are the live processes that are agents, those that make no row included.
	AgentProcesses map[proc.ID]bool
	// SessionsByProcess are the sessions that each process runs, those too that were not asked for. The key of a session
	// without an ID has the agent only.
	SessionsByProcess map[proc.ID][]Key
}

// ScanLive reads the process table, what every process of our user shows, and the records of what they claim. Its cost depends on
// the live processes, not on the size of the stores.
func (scanner *Scanner) ScanLive(ctx context.Context) (*Scan, error) {
	s := scanner.newScan(nil)
	s.thorough = true
	return s, s.readLive(ctx, ReadOptions{})
}

// MatchesBinary reports whether a binary can be an agent's.
func (scanner *Scanner) MatchesBinary(exe string) bool {
	return slices.ContainsFunc(scanner.Adapters, func(a Adapter) bool { return a.MatchesBinary(exe) })
}

// WatchPaths returns the files and folders that change with a session. There are none for a process with a foreign home,
// since its adapter would have to read the home to find them.
func (scanner *Scanner) WatchPaths(ctx context.Context, s Session) []string {
	if s.Path == "" && s.Trust == TrustForeign {
		return nil
	}
	return AdapterOf(scanner.Adapters, s.Agent).WatchPaths(confineToSession(ctx, s), s)
}
