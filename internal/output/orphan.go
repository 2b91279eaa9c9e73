package output

import (
	"cmp"
	"io"
	"strconv"
)

// Orphan is a process that a stopped session has left behind, whose is said by Adapter and SessionID: one element of what
// list --orphans --json prints.
type Orphan struct {
	Process
	// SessionID is absent where the agent marks what it starts with its process only.
	SessionID *string `json:"sessionId,omitempty"`
}

// OrphanTable writes one row a process, with a heading.
func OrphanTable(w io.Writer, orphans []Orphan, look TextOptions) error {
	g := grid{columns: []column{
		{header: "PID", alignRight: true},
		{header: "PPID", dropOrder: optional + 3, alignRight: true},
		{header: "AGENT", dropOrder: 1},
		{header: "SESSION", dropOrder: 2},
		{header: "AGE", dropOrder: optional, alignRight: true},
		{header: "CPU", dropOrder: optional + 2, alignRight: true},
		{header: "MEMORY", dropOrder: optional + 1, alignRight: true},
		{header: "PORTS", preferred: 14, min: 9},
		{header: "COMMAND", preferred: 24, min: 12},
	}}
	full := make([]SessionID, len(orphans))
	for i, o := range orphans {
		full[i] = newSessionID(o.Adapter, o.SessionID)
	}
	ids := look.ShortIDs(full)
	for i, o := range orphans {
		g.add(row{cells: []string{
			strconv.Itoa(o.PID), strconv.Itoa(o.PPID), o.Adapter, cmp.Or(ids[i], "-"), ageText(o.StartedAt, look.Now), cpuText(o.CPU),
			memoryText(o.Memory), portsText(o.Ports), o.command(look),
		}})
	}
	return g.flush(w, look)
}
