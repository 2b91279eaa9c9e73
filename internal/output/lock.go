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
func LockTable(w io.Writer, locks []Lock, look Look) error {
	g := grid{columns: []column{
		{head: "DIR", tail: true, comfort: 20, least: 12},
		{head: "TYPE", drop: 1},
		{head: "BY", least: 30},
		{head: "PID", drop: optional, right: true},
		{head: "SINCE", drop: 4},
		{head: "UNTIL", drop: 3},
		{head: "REASON", drop: 2, comfort: 30, least: 12},
	}}
	full := make([]ID, len(locks))
	for i, l := range locks {
		full[i] = idOf(l.Adapter, l.SessionID)
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
			Clean(look.dir(l.Directory)), l.Kind, Clean(cmp.Or(by, "-")), pid, look.clock(l.Since), look.clock(l.Until), Clean(l.Reason),
		}})
	}
	return g.print(w, look)
}

// clock is a time for people, in their zone.
func (l Look) clock(stamp string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return ""
	}
	return t.In(l.Now.Location()).Format("2006-01-02 15:04")
}
