package output

import (
	"cmp"
	"io"
	"strconv"
	"strings"
	"time"
)

// Lock is a lock in force, as JSON has it.
type Lock struct {
	Directory string `json:"directory"`
	// Kind is session, held or declared.
	Kind  string `json:"type"`
	Since string `json:"lockedAt,omitempty"`
	// Of a live session.
	Adapter   string  `json:"adapter,omitempty"`
	SessionID *string `json:"sessionId,omitempty"`
	Status    string  `json:"status,omitempty"`
	// Of the session's or the holding process.
	PID int `json:"pid,omitempty"`
	// LockedBy is who declared it, or the name of the process that holds it.
	LockedBy string `json:"lockedBy,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Shared, of one held: several processes can hold it at once, and it hinders only who wants to hold it alone.
	Shared bool `json:"shared,omitempty"`
	// Until is when a declared lock ends by itself.
	Until string `json:"expiresAt,omitempty"`
}

// LockTable writes one row a lock, with a heading.
func LockTable(w io.Writer, locks []Lock, look TextOptions) error {
	g := grid{columns: []column{
		{header: "DIR", keepEnd: true, preferred: 20, min: 12},
		{header: "TYPE", dropOrder: 1},
		{header: "BY", min: 30},
		{header: "PID", dropOrder: optional, alignRight: true},
		{header: "SINCE", dropOrder: 4},
		{header: "UNTIL", dropOrder: 3},
		{header: "REASON", dropOrder: 2, preferred: 30, min: 12},
	}}
	full := make([]SessionID, len(locks))
	for i, l := range locks {
		full[i] = newSessionID(l.Adapter, l.SessionID)
	}
	ids := look.ShortIDs(full)
	for i, l := range locks {
		by, pid := l.LockedBy, ""
		if l.Adapter != "" {
			by = strings.TrimSuffix(l.Adapter+" "+ids[i], " ")
		}
		if l.PID > 0 {
			pid = strconv.Itoa(l.PID)
		}
		g.add(row{cells: []string{
			Sanitize(look.shortDir(l.Directory)), l.Kind, Sanitize(cmp.Or(by, "-")), pid, look.localTime(l.Since), look.localTime(l.Until), Sanitize(l.Reason),
		}})
	}
	return g.flush(w, look)
}

// localTime is a time for people, in their zone.
func (l TextOptions) localTime(stamp string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return ""
	}
	return t.In(l.Now.Location()).Format("2006-01-02 15:04")
}
