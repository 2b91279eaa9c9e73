package output

import (
	"cmp"
	"io"
	"strconv"
	"strings"
)

// Lock is the JSON object of a lock that is in force.
type Lock struct {
	Directory string `json:"directory"`
	// Kind is session, held or declared.
	Kind  string `json:"type"`
	Since string `json:"lockedAt,omitempty"`
	// Adapter, SessionID and Status describe the live session of a session lock.
	Adapter   string  `json:"adapter,omitempty"`
	SessionID *string `json:"sessionId,omitempty"`
	Status    string  `json:"status,omitempty"`
	// PID is the process of the session, or the process that holds the lock.
	PID int `json:"pid,omitempty"`
	// LockedBy is who declared the lock, or the name of the process that holds it.
	LockedBy string `json:"lockedBy,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Shared: several processes can hold this held lock at once. It conflicts only with an exclusive lock.
	Shared bool `json:"shared,omitempty"`
	// Until is when a declared lock expires.
	Until string `json:"expiresAt,omitempty"`
}

// LockTable writes a header, and one row a lock.
func LockTable(w io.Writer, locks []Lock, opts TextOptions) error {
	ids := shortIDsOf(opts, locks, func(l Lock) SessionID { return newSessionID(l.Adapter, l.SessionID) })
	return newGrid(
		len(locks),
		column{title: "DIR", cell: func(i int) string { return Sanitize(opts.shortDir(locks[i].Directory)) }, keepEnd: true, preferred: 20, min: 12},
		column{title: "TYPE", cell: func(i int) string { return locks[i].Kind }, dropLate: 1},
		column{title: "BY", cell: func(i int) string { return Sanitize(locks[i].holder(ids[i])) }, min: 30},
		column{title: "PID", cell: func(i int) string { return positiveText(locks[i].PID) }, dropEarly: 1, alignRight: true},
		column{title: "SINCE", cell: func(i int) string { return opts.localTime(locks[i].Since) }, dropLate: 4},
		column{title: "UNTIL", cell: func(i int) string { return opts.localTime(locks[i].Until) }, dropLate: 3},
		column{title: "REASON", cell: func(i int) string { return Sanitize(locks[i].Reason) }, dropLate: 2, preferred: 30, min: 12},
	).print(w, opts)
}

// localTime formats a JSON timestamp in the time zone of the user.
func (o TextOptions) localTime(timestamp string) string {
	t, ok := parseTimestamp(timestamp)
	if !ok {
		return ""
	}
	return t.In(o.Now.Location()).Format("2006-01-02 15:04")
}

// holder is the session with this short ID, or else who locked the directory.
func (l Lock) holder(id string) string {
	if l.Adapter != "" {
		return strings.TrimSuffix(l.Adapter+" "+id, " ")
	}
	return cmp.Or(l.LockedBy, "-")
}

// positiveText formats a number; "" for none.
func positiveText(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
