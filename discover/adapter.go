package discover

import (
	"context"
	"iter"
	"slices"
	"time"

	"agentctl/proc"
)

// Adapter is everything that the rest of the program knows of one agent.
type Adapter interface {
	Name() Agent
	// Homes returns the agent's data roots, each with where it comes from: the default one or what the environment names,
	// those of the configuration, and those that live processes of this agent name in their own environment. No root is
	// returned twice; one that does not exist is returned all the same. How far a root is trusted is not the adapter's to
	// say.
	Homes(HomeSources, *proc.Table) []Home
	// Claims returns what the live processes of this agent show. It opens no file of a home that is not among those given.
	// Its cost depends on how many processes there are, never on the size of the store. Errors are [Warning]s, joined; the
	// claims are valid all the same.
	Claims(context.Context, *proc.Table, []Home) ([]Claim, error)
	Store
}

// AdaptersWith yields the adapters that implement T, one of the optional interfaces, with their agents.
func AdaptersWith[T any](adapters []Adapter) iter.Seq2[Agent, T] {
	return func(yield func(Agent, T) bool) {
		for _, a := range adapters {
			if t, ok := a.(T); ok && !yield(a.Name(), t) {
				return
			}
		}
	}
}

// AdapterWith returns the adapter of an agent as T, one of the optional interfaces; false if it does not implement it.
func AdapterWith[T any](adapters []Adapter, agent Agent) (T, bool) {
	for name, t := range AdaptersWith[T](adapters) {
		if name == agent {
			return t, true
		}
	}
	var none T
	return none, false
}

// ShortNamer is implemented by adapters whose agent has a shorter name than its own, for worktrees and branches.
type ShortNamer interface {
	ShortName() string
}

// Store reads an agent's storage, and never changes a byte of it.
type Store interface {
	// Entries lists what is stored, by name and time; it opens no session file. Errors are [Warning]s, joined;
	// the entries are valid all the same. A home that does not exist holds nothing and is no error, unless it was
	// asked for by name.
	Entries(context.Context, []Home, EntryFilter) ([]Entry, error)
	// Read yields the records of the entries, in any order, as ReadOptions asks. An entry that turns out to be no
	// session yields nothing; one that cannot be read yields a [Warning]. What has vanished is no error.
	Read(context.Context, []Entry, ReadOptions) iter.Seq2[Record, error]
}

// HomeSources is where an adapter may look for homes.
type HomeSources struct {
	// Getenv is the environment of this call (os.Getenv).
	Getenv func(string) string
	// Configured are the homes that the user names for this agent: in the configuration file, or by --home.
	Configured []string
}

// Home is one data root of an agent.
type Home struct {
	// Dir is the root: ~/.claude, ~/.codex, ~/.local/share/opencode or what replaces them.
	Dir string
	// Files are further native files that belong to it but live elsewhere (OpenCode: databases named by OPENCODE_DB).
	Files []string
	// FilesOnly: the home is its Files alone, and Dir is another home's.
	FilesOnly bool
	// FromUser: our own environment, the agent's default or the user names this root. Explicit: the user does, so that its
	// absence is worth a warning.
	FromUser, Explicit bool
	// NamedBy are the live processes that name it.
	NamedBy []proc.ID
	// Trust and SeenInPID are set by this package from FromUser and NamedBy; see [Trust]. SeenInPID is the pid of a process that
	// names a [TrustSeen] home, 0 for any other.
	Trust     Trust
	SeenInPID int
}

// Merge adds who names another home with the same root.
func (h *Home) Merge(o Home) {
	h.FromUser, h.Explicit = h.FromUser || o.FromUser, h.Explicit || o.Explicit
	for _, id := range o.NamedBy {
		if !slices.Contains(h.NamedBy, id) {
			h.NamedBy = append(h.NamedBy, id)
		}
	}
}

// same reports whether two homes are read in the same places.
func (h Home) same(o Home) bool {
	return h.Dir == o.Dir && h.FilesOnly == o.FilesOnly && slices.Equal(h.Files, o.Files)
}

// EntryFilter narrows Entries. The zero EntryFilter means everything.
type EntryFilter struct {
	// ID is an exact session id or a prefix of one; stores look it up by name.
	ID string
	// Refs asks for these sessions only; a store looks each up directly, without a scan.
	Refs []Ref
	// Parents asks for the sub-agents that work for one of these sessions only, where they are stored beside it. Whom an
	// entry works for may be known when it is read: there can be others among them.
	Parents []Ref
	// Since leaves out what has not changed since then.
	Since time.Time
	// Subagents asks for sub-agents' sessions too.
	Subagents bool
	// WithoutTimes: nobody asks when the entries changed, nor for their size. A store that would have to look at each file
	// for it may leave that to Read.
	WithoutTimes bool
}

// Ref names one session and the native file or database it is in.
type Ref struct{ ID, Path string }

// ReadOptions says how much of a record is worth reading.
type ReadOptions struct {
	// Tokens asks for the totals of tokens and cost even where that means reading the whole session.
	Tokens bool
	// Full asks for everything a record can hold, for `status`.
	Full bool
	// Quotas asks for what the agent says of its provider's limits.
	Quotas bool
	// AllEntries: the entries are all that is stored in their homes, so that sub-agents need not be searched for beside them.
	AllEntries bool
	// TurnStart asks for when the newest turn was asked for even where that stands far back.
	TurnStart bool
}

// EnvMarker is what an agent leaves in the environment of the processes that it starts, and these in what they start.
type EnvMarker struct {
	// Session is the ID of the session that the process was started for. Root, if that is a sub-agent's, is the ID of the
	// session that it works for in the end. Each is "" where the agent does not say.
	Session, Root string
	// PID is the agent's process in its own pid namespace; 0 where the agent does not say.
	PID int
	// OutlivesSession: a process with the marker may also serve the sessions that the agent's process goes on to.
	OutlivesSession bool
}

// MarkerReader is implemented by adapters whose agent sets environment markers for the processes that it starts.
type MarkerReader interface {
	// ReadMarker reads the agent's marker in an environment, as the agent sets it for its tools and hooks.
	ReadMarker(getenv func(string) string) (marker EnvMarker, ok bool)
	// MarkerKeys are the environment variables that ReadMarker reads.
	MarkerKeys() []string
	// IsAgentProcess reports whether a process is the agent's own program, in whatever role: a daemon or a client that runs no
	// session has the marks of whoever started it, and is no tool.
	IsAgentProcess(proc.Process) bool
}

// MarkerMatcher is implemented by adapters that can match a process with a session by its environment marker.
type MarkerMatcher interface {
	// HasMarker reports whether the environment of p says that it was started by the session, or by one of the session's
	// processes. The session may be one that has just ended; its processes are those it had.
	HasMarker(p proc.Process, s Session) bool
}

// SubagentTotals is implemented by adapters whose totals of a session, tokens and cost, can have those of its sub-agents in them.
type SubagentTotals interface {
	// IncludesSubagents reports whether they have where so much was asked for.
	IncludesSubagents(ReadOptions) bool
}

// Sandboxer is implemented by adapters whose agent runs its tools in a sandbox that may hide every other process.
type Sandboxer interface {
	MarkerReader
	// IsSandbox reports whether a process is such a sandbox: it has the mark of the tool that it was made for.
	IsSandbox(proc.Process) bool
}

// SandboxDetector is implemented by adapters whose agent marks the environment of what it runs in a sandbox.
type SandboxDetector interface {
	MarkerReader
	// InSandbox reports whether an environment is that of a command in such a sandbox.
	InSandbox(getenv func(string) string) bool
}

// PathWatcher is implemented by adapters that know which files and folders change when a session of theirs does.
type PathWatcher interface {
	// WatchPaths returns their paths: those whose size, time or existence changes whenever the storage, or what a live process
	// says of itself, does. What is missing here is seen late, not never.
	WatchPaths(context.Context, Session) []string
	// MatchesBinary reports whether a binary can be the agent's, so that a snapshot is worth it when a process of it has begun.
	MatchesBinary(exe string) bool
}

// IDMatcher is implemented by adapters whose agent gives its sessions ids of a shape of their own.
type IDMatcher interface {
	// MatchesID reports whether a full id has that shape. It says only where to look first: an agent may have been given
	// an id of any shape.
	MatchesID(id string) bool
}

// IDShortener is implemented by adapters that know how many of the first characters of an ID identify it among the agent's
// IDs. The default is [MinShortID].
type IDShortener interface {
	// ShortID is the least number of characters by which an ID means one session in the whole store, for all practical
	// purposes: where IDs begin with the time, as many as hold it to the millisecond.
	ShortID(id string) int
}

// MinShortID is how many characters a shortened ID has at least: those of a random UUID that make it one of four billion.
const MinShortID = 8

// FileStore is implemented by adapters whose agent can keep its sessions in a file of any place.
type FileStore interface {
	// IsStoreFile reports whether a file may be one, by its name. It may then be named as a home is.
	IsStoreFile(path string) bool
}

// ProgramNamer is implemented by adapters that know under which name their agent's program is installed.
type ProgramNamer interface {
	// Program is the name to look for in PATH.
	Program() string
}
