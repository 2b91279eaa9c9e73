package discover

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"agentctl/discover/storage"
	"agentctl/proc"
)

// Scanner holds the agents' adapters, the settings and the source of the process table. Every list of sessions comes from
// its methods, so that two verbs cannot disagree.
type Scanner struct {
	Adapters []Adapter
	// HomeSources returns where an agent's homes may be looked for.
	HomeSources func(Agent) HomeSources
	// ReadTable reads the process table; true: the locks of its processes will be asked for (proc.ReadTable).
	ReadTable func(context.Context, bool) (*proc.Table, error)
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

// errInSandbox: what runs cannot be told from what does not.
var errInSandbox = errors.New("inside an agent's sandbox other sessions cannot be seen")

// seesSandboxOnly reports whether a table shows the inside of an agent's sandbox only: a pid namespace whose first process
// is the sandbox, or one in which the agent is not visible that has marked our environment as in its sandbox.
func (scanner *Scanner) seesSandboxOnly(table *proc.Table) bool {
	if first, ok := table.ByPID(1); ok && slices.ContainsFunc(scanner.Adapters, func(a Adapter) bool { return a.IsSandbox(first) }) {
		return true
	}
	if !slices.ContainsFunc(scanner.Adapters, func(a Adapter) bool { return a.InSandbox(scanner.HomeSources(a.Name()).Getenv) }) {
		return false
	}
	for p := range table.Ancestors(scanner.PID) {
		if scanner.IsAgent(p) {
			return false
		}
	}
	return true
}

// IsAgent reports whether a process is an agent's program, one that runs no session included.
func (scanner *Scanner) IsAgent(p proc.Process) bool {
	return slices.ContainsFunc(scanner.Adapters, func(a Adapter) bool { return a.IsAgentProcess(p) })
}

// Tried is what an adapter was tried with. The zero value: nothing is known of that.
type Tried struct {
	// Newest is the newest version of the agent in docs/support.md.
	Newest string
	// ReadInSource is a version, of another major one, that was read in the program's source and not seen on the program; "" for none.
	ReadInSource string
	// ProgramVersion returns the version of a program, by its path; "" where that does not show it.
	ProgramVersion func(path string) string
	// UnknownKinds returns the kinds that the adapter does not know among a session's newest records. It reads a bounded part of
	// them. What has vanished is no error; other errors are [Warning]s.
	UnknownKinds func(context.Context, Record) ([]string, error)
}

// NewerVersion returns the version of the agent that runs a live session, if it is newer than the newest tried one; else "". The
// stored version may be that of the program that created the session, so it is the last resort.
func (t Tried) NewerVersion(s Session) string {
	version := s.Version
	for _, p := range s.Processes {
		version = cmp.Or(t.ProgramVersion(p.Exe), version)
	}
	major, _, _ := strings.Cut(t.ReadInSource, ".")
	if major != "" && strings.HasPrefix(version, major+".") {
		return storage.IfNewer(version, t.ReadInSource)
	}
	return storage.IfNewer(version, t.Newest)
}

// UnknownLineKinds is [Tried.UnknownKinds] of sessions that are files of JSON objects. kindOf returns the kind of an object; known are
// the known ones, each between two spaces.
func UnknownLineKinds(known string, kindOf func(storage.Object) string) func(context.Context, Record) ([]string, error) {
	return func(ctx context.Context, r Record) ([]string, error) {
		kinds := storage.Kinds{Known: known}
		if err := kinds.AddLines(ctx, r.Path, kindOf); err != nil {
			return kinds.Unknown, &Warning{Agent: r.Agent, Path: r.Path, Err: storage.WithoutPath(r.Path, err)}
		}
		return kinds.Unknown, nil
	}
}

// UnknownKinds returns the kinds that the session's adapter does not know among the session's newest records. The error is a
// [Warning].
func (scanner *Scanner) UnknownKinds(ctx context.Context, s Session) ([]string, error) {
	tried := AdapterOf(scanner.Adapters, s.Agent).Tried()
	if s.Path == "" || tried.UnknownKinds == nil {
		return nil, nil
	}
	return tried.UnknownKinds(confineToSession(ctx, s), *s.Record)
}
