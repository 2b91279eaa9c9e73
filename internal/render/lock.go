package render

import (
	"bufio"
	"cmp"
	"io"
	"strconv"
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
	// Until is when a declared lock ends by itself.
	Until string `json:"expiresAt,omitempty"`
}

// LockTable writes one row a lock, with a heading.
func LockTable(w io.Writer, locks []Lock, look Look) error {
	g := grid{columns: []column{
		{head: "DIR", tail: true, drop: 5},
		{head: "TYPE"},
		{head: "BY"},
		{head: "PID", drop: 1},
		{head: "SINCE", drop: 2},
		{head: "UNTIL", drop: 3},
		{head: "REASON", drop: 4},
	}}
	for _, l := range locks {
		by, pid := l.LockedBy, ""
		if l.Adapter != "" {
			by = l.Adapter
			if l.SessionID != nil {
				by += " " + *l.SessionID
			}
		}
		if l.PID > 0 {
			pid = strconv.Itoa(l.PID)
		}
		g.add(row{cells: []string{
			Clean(look.dir(l.Directory)), l.Kind, Clean(cmp.Or(by, "-")), pid, look.clock(l.Since), look.clock(l.Until), Clean(l.Reason),
		}})
	}
	out := bufio.NewWriter(w)
	g.write(out, look.Width)
	return out.Flush()
}

// clock is a time for people, in their zone.
func (l Look) clock(stamp string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return ""
	}
	return t.In(l.Now.Location()).Format("2006-01-02 15:04")
}
