package discover

import (
	"slices"
	"time"
)

// Entry is one stored session as the store's directory or index shows it, before its content is read.
type Entry struct {
	Agent Agent
	ID    string
	// Path is the native file or database; Home the root it was found under.
	Path, Home string
	// Updated is when the file or row last changed; the newest record inside may be older.
	Updated time.Time
	// Size in bytes, where the store is a file a session.
	Size int64
	// Parent is set where the name alone tells that this is a sub-agent's session.
	Parent string
}

func (e Entry) key() Key { return Key{e.Agent, e.ID, e.Path} }

// dropOlder removes, in place, the entries that have not changed since then, and counts them without those that are known to be
// sub-agents'. It keeps an entry without a time.
func dropOlder(entries []Entry, since time.Time) (kept []Entry, older int) {
	kept = slices.DeleteFunc(entries, func(e Entry) bool {
		if e.Updated.IsZero() || !e.Updated.Before(since) {
			return false
		}
		if e.Parent == "" {
			older++
		}
		return true
	})
	return kept, older
}
