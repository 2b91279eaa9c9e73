package render

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
func OrphanTable(w io.Writer, orphans []Orphan, look Look) error {
	g := grid{columns: []column{
		{head: "PID"},
		{head: "PPID", drop: 6},
		{head: "AGENT", drop: 2},
		{head: "SESSION", drop: 1},
		{head: "AGE", drop: 3},
		{head: "CPU", drop: 5},
		{head: "MEMORY", drop: 4},
		{head: "PORTS"},
		{head: "COMMAND"},
	}}
	full := make([]ID, len(orphans))
	for i, o := range orphans {
		full[i] = idOf(o.Adapter, o.SessionID)
	}
	ids := look.ShortIDs(full)
	for i, o := range orphans {
		g.add(row{cells: []string{
			strconv.Itoa(o.PID), strconv.Itoa(o.PPID), o.Adapter, cmp.Or(ids[i], "-"), ageText(o.StartedAt, look.Now), cpuText(o.CPU),
			memoryText(o.Memory), portsText(o.Ports), o.command(look),
		}})
	}
	return g.print(w, look)
}
