package lock

import (
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// Kind says what makes a lock.
type Kind string

// The kinds of lock. Only the last is stored anywhere.
const (
	// KindSession: a live session works in the workspace.
	KindSession Kind = "session"
	// KindFlock: a process holds the directory by a kernel lock.
	KindFlock Kind = "held"
	// KindDeclared: a user or script has declared it.
	KindDeclared Kind = "declared"
)

// Lock is one lock in force.
type Lock struct {
	Kind Kind
	// Dir is the top of the workspace.
	Dir string
	// Session is set for [KindSession], Declared for [KindDeclared]. Holders are the processes of a [KindFlock], the oldest first,
	// as far as they can be seen.
	Session *discover.Session
	Holders []proc.Process
	// Shared is for [KindFlock]: it conflicts only with an exclusive lock.
	Shared   bool
	Declared *DeclaredLock
}

// Since returns when the lock came into force, the zero time if that is unknown. For a session it is the start of its process.
func (l Lock) Since() time.Time {
	switch {
	case l.Declared != nil:
		return l.Declared.Since
	case len(l.Holders) > 0:
		return l.Holders[0].Started
	case l.Session != nil:
		return l.Session.ProcessStarted()
	}
	return time.Time{}
}

// SessionDir returns the directory that a session keeps others out of: the one that its record names. A record in a home that
// is not ours is not believed: there it is the working directory of the session's process, by the kernel.
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

// sessionLocks reports whether a live session locks its workspace: its turn is not over, or that is unknown. With strict, an
// idle session does too. A sub-agent counts as its root session, one of all: it locks the workspace only if the root session
// does not, which may be idle while it waits for the sub-agent.
func sessionLocks(s discover.Session, all []discover.Session, strict bool) bool {
	if s.IsSubagent() {
		strict = false
		if root := discover.RootSession(all, s); !root.IsSubagent() && root.Dir == s.Dir && sessionLocks(root, all, false) {
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
