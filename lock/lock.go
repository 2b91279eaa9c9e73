package lock

import (
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// Kind is what a lock rests on.
type Kind string

// The kinds of lock. Only the last is stored anywhere.
const (
	// KindSession: a live session is running in the place.
	KindSession Kind = "session"
	// KindFlock: a process holds the directory.
	KindFlock Kind = "held"
	// KindDeclared: somebody has declared it.
	KindDeclared Kind = "declared"
)

// Lock is one lock in force.
type Lock struct {
	Kind Kind
	// Dir is the top of the place.
	Dir string
	// Session is set of a live one, Declared of one declared; Holders are the processes of one held, the eldest first, as far
	// as they can be seen.
	Session *discover.Session
	Holders []proc.Process
	// Shared, of one held: it hinders only who wants to hold the place alone.
	Shared   bool
	Declared *DeclaredLock
}

// Since is when the lock came into force, as far as that is known: of a session, when its process started.
func (l Lock) Since() time.Time {
	switch {
	case l.Declared != nil:
		return l.Declared.Since
	case len(l.Holders) > 0:
		return l.Holders[0].Started
	case l.Session != nil && len(l.Session.Processes) > 0:
		return l.Session.Processes[0].Started
	}
	return time.Time{}
}

// SessionDir is the directory that a session keeps others out of: where it says that it works. What a home says that is not ours
// is not believed: there, it is where the session's process is by the kernel's word.
func SessionDir(s discover.Session) string {
	if s.Trust == discover.TrustOurs {
		return s.Dir
	}
	for _, p := range s.Processes {
		if dir, err := p.Cwd(); err == nil {
			return dir
		}
	}
	return ""
}

// SessionLocks reports whether a live session, one of all those, locks its place: its turn is not over, or it cannot be told. An
// idle one locks only where strict is asked for. A sub-agent counts as the session that it works for: it locks the place
// only where that one does not, which may be idle while it waits for it.
func SessionLocks(s discover.Session, all []discover.Session, strict bool) bool {
	if s.IsSubagent() {
		strict = false
		if eldest := discover.RootSession(all, s); !eldest.IsSubagent() && eldest.Dir == s.Dir && SessionLocks(eldest, all, false) {
			return false
		}
	}
	switch s.Status {
	case discover.Running, discover.Waiting, discover.Unknown:
		return true
	case discover.Idle:
		return strict
	}
	return false
}
