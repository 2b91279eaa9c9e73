package discover

import (
	"maps"
	"time"

	"agentctl/proc"
)

// Strength is how sure a claim is.
type Strength uint8

const (
	// Weak: it fits, but something else may fit as well (same directory). It counts only where it leaves one choice.
	Weak Strength = iota + 1
	// Strong: chance is all but excluded (a tool child of the process runs the command the session recorded).
	Strong
	// Exact: the agent or the kernel confirms it (a validated registry entry, a held lock, a file open for writing).
	Exact
)

// String is the word used in JSON and in --explain.
func (s Strength) String() string {
	return [...]string{"none", Weak: "weak", Strong: "strong", Exact: "exact"}[s]
}

// Claim ties a live process to a session, or says that a live process is an agent whose session is not named.
//
// An adapter makes one claim with an empty Session for every live process that is this agent and could run
// sessions (the process's presence), and one more for every piece of evidence that names a session. A process
// that is known to run none – a wrapper, a helper, an updater, a client of a server – gets no presence.
type Claim struct {
	Agent   Agent
	Process proc.ID
	// Session is the agent's id; "" makes this claim a presence.
	Session string
	// Path is the native file or database with the session's record; "" while it is not on disk.
	Path string
	// Home is the agent's data root, as this process sees it.
	Home string

	Strength Strength
	// Kind is the sort of evidence in a word ("registry", "writer-lock", "rollout-fd", "log-offset", "argv", "cwd");
	// Detail is the evidence itself, as the user can check it.
	Kind, Detail string

	// Turn is what the process shows of the turn right now; nil where only the storage tells. It beats the record's.
	Turn *Turn
	// Since is when the process began to run the session, zero where that is not known: a turn that began before is another
	// process's, however old this one is.
	Since time.Time
	// Source, Dir, Title, Version, Parent and Team fill a row that has no record (yet), and beat the record's while the process
	// lives: they are what is running now.
	Source, Dir, Title, Version, Parent, Team string
	// LeftBehind: the process has ended, and has left behind what it removes when it ends by itself. Such a claim never links. Process
	// may lack the start, or all, of the process. See [Adapter.ClaimsOf].
	LeftBehind bool
	// Client: the process shows the session to a user, and another process, a server, runs it. Such a claim
	// links only where a process runs the session. A session may have several clients.
	Client bool
	// Additional: the process may run the session besides others, so that evidence for one says nothing against another.
	Additional bool
	// Alternative is what may have run the session instead, where that leaves no trace. The claim then shows that the session
	// may be live, and links it to no process.
	Alternative string
	// Shared: the process can serve several sessions (a daemon, a server), even if it serves one now, and must not be signalled to
	// stop one.
	Shared bool
	// HideIfUnlinked, on a presence: the process makes no row of its own if no session is linked to it (an idle daemon or
	// server).
	HideIfUnlinked bool
	// NameOnly, on a presence: nothing but the name of the program says that the process is the agent. It is shown, and never
	// signalled.
	NameOnly bool
	// MayRunAny, on a presence: the process shows not for certain which session it runs. It may run any that is stored in its Home for its
	// Dir, though nothing ties it to that.
	MayRunAny bool
	// Unreadable, on a presence, says what could not be read of the process (another user's, say). Its row is then
	// of unknown status.
	Unreadable string
	// Meta holds extra facts of the running process, such as its ports, merged over the record's. The scan adds "suspended".
	Meta Facts
}

// Facts are an agent's own extra facts of one session or process, by name; each value marshals to JSON. Sessions and claims share them: they
// are never changed once they are made.
type Facts map[string]any

// With returns the facts with one more, or with another value of that name. An empty value, "" or nil, adds nothing.
func (f Facts) With(name string, value any) Facts {
	if value == nil || value == "" {
		return f
	}
	out := maps.Clone(f)
	if out == nil {
		out = Facts{}
	}
	out[name] = value
	return out
}

// WithoutEmpty returns the facts without empty values.
func (f Facts) WithoutEmpty() Facts {
	out := Facts{}
	maps.Copy(out, f)
	maps.DeleteFunc(out, func(_ string, value any) bool { return value == nil || value == "" })
	return out
}
