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
	g := grid{columns: []column{
		{header: "DIR", keepEnd: true, preferred: 20, min: 12},
		{header: "TYPE", dropOrder: 1},
		{header: "BY", min: 30},
		{header: "PID", dropOrder: optional, alignRight: true},
		{header: "SINCE", dropOrder: 4},
		{header: "UNTIL", dropOrder: 3},
		{header: "REASON", dropOrder: 2, preferred: 30, min: 12},
	}}
	fullIDs := make([]SessionID, len(locks))
	for i, l := range locks {
		fullIDs[i] = newSessionID(l.Adapter, l.SessionID)
	}
	ids := opts.ShortIDs(fullIDs)
	for i, l := range locks {
		by, pid := l.LockedBy, ""
		if l.Adapter != "" {
			by = strings.TrimSuffix(l.Adapter+" "+ids[i], " ")
		}
		if l.PID > 0 {
			pid = strconv.Itoa(l.PID)
		}
		g.add(row{cells: []string{
			Sanitize(opts.shortDir(l.Directory)), l.Kind, Sanitize(cmp.Or(by, "-")), pid, opts.localTime(l.Since), opts.localTime(l.Until), Sanitize(l.Reason),
		}})
	}
	return g.print(w, opts)
}

// localTime formats a JSON timestamp in the time zone of the user.
func (o TextOptions) localTime(timestamp string) string {
	t, ok := parseTimestamp(timestamp)
	if !ok {
		return ""
	}
	return t.In(o.Now.Location()).Format("2006-01-02 15:04")
}
