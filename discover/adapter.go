package discover

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"agentctl/proc"
)

// Adapter is everything that reading needs to know of one agent. What starts, ends and messages its sessions is in launch.Adapter,
// which the agents' packages implement. An adapter embeds [Defaults], which has all methods below the first group: for an agent that
// needs none of them.
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
	// ClaimsOf returns claims about the sessions of these IDs, which are stored and seem stopped: by what processes that were killed have
	// left behind in the homes, and would have removed, or by live processes that Claims did not examine. The table is that of a
	// thorough scan. The errors of what it reads are those of Claims.
	ClaimsOf(ctx context.Context, table *proc.Table, homes []Home, ids map[string]bool) []Claim
	// Entries lists what is stored, by name and time; it opens no session file. Errors are [Warning]s, joined; the entries are valid all
	// the same. A home that does not exist, and what is missing in one, is no error.
	Entries(context.Context, []Home, EntryFilter) ([]Entry, error)
	// Read yields the records of the entries, in any order, as ReadOptions asks. An entry that turns out to be no
	// session yields nothing; one that cannot be read yields a [Warning]. What has vanished is no error.
	Read(context.Context, []Entry, ReadOptions) iter.Seq2[Record, error]

	// Messages yields a stored session's messages, the newest first, each as complete as the storage has it now; of
	// messages that are recorded more than once, one. The cost depends on how many are taken, not on how long the session
	// is. What cannot be read yields a [Warning], and what can be read after it follows. Sub-agents' messages are those of
	// their own sessions. The state of a call without a result is [ToolOpen].
	Messages(context.Context, Record) iter.Seq2[Message, error]
	// FilterContent returns those of the entries, in any order, whose messages may contain what is searched for. match gets the JSON text
	// of messages as it is stored, in pieces of any length, with or without other stored bytes around them. It reports whether a string of
	// the piece, once decoded, may contain a certain word. A word that only several
	// stored strings of a message have together need not be found. FilterContent also returns a session that it cannot read: the later
	// reading of its messages reports why. match is called concurrently.
	FilterContent(ctx context.Context, entries []Entry, match func(json []byte) bool) []Entry
	// ReadUsage yields what the sessions of these entries used, in any order. Each answer counts once: not again in a fork,
	// and that of a sub-agent either for itself or for the session that it works for. A SessionUsage is valid until the next.
	// Errors are [Warning]s; with one, the usage of the session that it is about may be missing.
	ReadUsage(context.Context, []Entry) iter.Seq2[*SessionUsage, error]
	// IncludesSubagents reports whether the totals of a session, tokens and cost, have those of its sub-agents in them, where so much
	// was asked for.
	IncludesSubagents(ReadOptions) bool
	// ReadDisk yields what is stored in these homes, each byte once. The records are all that is stored there. A directory that
	// a link leads to is not followed, except for the homes and their folders. Errors are [Warning]s.
	ReadDisk(context.Context, []Home, []Record) iter.Seq2[DiskUse, error]

	// WatchPaths returns the paths of files and folders whose size, time or existence changes whenever the storage of a session, or what
	// its live process says of itself, does. What is missing here is seen late, not never.
	WatchPaths(context.Context, Session) []string
	// MatchesBinary reports whether a binary can be the agent's, so that a snapshot is worth it when a process of it has begun.
	MatchesBinary(exe string) bool
	// IsAgentProcess reports whether a process is the agent's own program, in whatever role: a daemon or a client that runs no
	// session has the marks of whoever started it, and is no tool.
	IsAgentProcess(proc.Process) bool
	// ReadMarker reads the agent's marker in an environment, as the agent sets it for its tools and hooks.
	ReadMarker(getenv func(string) string) (marker EnvMarker, ok bool)
	// MarkerKeys are the environment variables that ReadMarker reads.
	MarkerKeys() []string
	// HasMarker reports whether the environment of p says that it was started by the session, or by one of the session's
	// processes. The session may be one that has just ended; its processes are those it had.
	HasMarker(p proc.Process, s Session) bool
	// IsSandbox reports whether a process is a sandbox of the agent that may hide every other process: it has the mark of the tool that
	// it was made for.
	IsSandbox(proc.Process) bool
	// InSandbox reports whether an environment is that of a command in such a sandbox.
	InSandbox(getenv func(string) string) bool

	// Program is the name of the agent's program in PATH, "" if it is not known.
	Program() string
	// ShortName is a shorter name than the agent's own, for worktrees and branches; "" if it has none.
	ShortName() string
	// MatchesID reports whether a full ID has the shape of the agent's own. It says only where to look first: an agent may have been
	// given an ID of any shape.
	MatchesID(id string) bool
	// ShortID is the least number of characters by which an ID means one session in the whole store, for all practical
	// purposes: where IDs begin with the time, as many as hold it to the millisecond.
	ShortID(id string) int
	// IsStoreFile reports whether a file of any place may hold sessions, by its name. It may then be named as a home is.
	IsStoreFile(path string) bool
	// Tried is what the adapter was tried with.
	Tried() Tried
}

// Defaults has the methods of [Adapter] that not every agent needs.
type Defaults struct{}

// ClaimsOf returns none.
func (Defaults) ClaimsOf(context.Context, *proc.Table, []Home, map[string]bool) []Claim { return nil }

// Messages yields a warning: the agent's messages cannot be read.
func (Defaults) Messages(_ context.Context, r Record) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		yield(Message{}, &Warning{Agent: r.Agent, Path: r.Path, Err: errors.New("its transcripts cannot be read")})
	}
}

// FilterContent reads the sessions' files, which are files of lines.
func (Defaults) FilterContent(ctx context.Context, entries []Entry, match func([]byte) bool) []Entry {
	return FilterFiles(ctx, entries, match)
}

// ReadUsage yields nothing.
func (Defaults) ReadUsage(context.Context, []Entry) iter.Seq2[*SessionUsage, error] {
	return func(func(*SessionUsage, error) bool) {}
}

// IncludesSubagents is false: totals are a session's own.
func (Defaults) IncludesSubagents(ReadOptions) bool { return false }

// ReadDisk yields nothing.
func (Defaults) ReadDisk(context.Context, []Home, []Record) iter.Seq2[DiskUse, error] {
	return func(func(DiskUse, error) bool) {}
}

// WatchPaths returns the session's file.
func (Defaults) WatchPaths(_ context.Context, s Session) []string {
	if s.Path == "" {
		return nil
	}
	return []string{s.Path}
}

// MatchesBinary is false: a new process is seen late.
func (Defaults) MatchesBinary(string) bool { return false }

// IsAgentProcess is false.
func (Defaults) IsAgentProcess(proc.Process) bool { return false }

// ReadMarker finds none.
func (Defaults) ReadMarker(func(string) string) (EnvMarker, bool) { return EnvMarker{}, false }

// MarkerKeys returns none.
func (Defaults) MarkerKeys() []string { return nil }

// HasMarker is false.
func (Defaults) HasMarker(proc.Process, Session) bool { return false }

// IsSandbox is false.
func (Defaults) IsSandbox(proc.Process) bool { return false }

// InSandbox is false.
func (Defaults) InSandbox(func(string) string) bool { return false }

// Program is not known.
func (Defaults) Program() string { return "" }

// ShortName is the agent's own name.
func (Defaults) ShortName() string { return "" }

// MatchesID is false.
func (Defaults) MatchesID(string) bool { return false }

// ShortID is enough for random IDs.
func (Defaults) ShortID(string) int { return MinShortID }

// IsStoreFile is false.
func (Defaults) IsStoreFile(string) bool { return false }

// Tried knows no version.
func (Defaults) Tried() Tried { return Tried{} }

// MinShortID is how many characters a shortened ID has at least: those of a random UUID that make it one of four billion.
const MinShortID = 8

// AdapterOf returns the adapter of an agent. Where there is none, it is one that finds nothing.
func AdapterOf(adapters []Adapter, agent Agent) Adapter {
	i := slices.IndexFunc(adapters, func(a Adapter) bool { return a.Name() == agent })
	if i < 0 {
		return noAdapter{agent: agent}
	}
	return adapters[i]
}

// noAdapter stands for an agent that has no adapter.
type noAdapter struct {
	Defaults
	agent Agent
}

func (n noAdapter) Name() Agent { return n.agent }

func (noAdapter) Homes(HomeSources, *proc.Table) []Home { return nil }

func (noAdapter) Claims(context.Context, *proc.Table, []Home) ([]Claim, error) { return nil, nil }

func (noAdapter) Entries(context.Context, []Home, EntryFilter) ([]Entry, error) { return nil, nil }

func (noAdapter) Read(context.Context, []Entry, ReadOptions) iter.Seq2[Record, error] {
	return func(func(Record, error) bool) {}
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
