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
func OrphanTable(w io.Writer, orphans []Orphan, look Look) error {
	g := grid{columns: []column{
		{head: "PID", right: true},
		{head: "PPID", drop: optional + 3, right: true},
		{head: "AGENT", drop: 1},
		{head: "SESSION", drop: 2},
		{head: "AGE", drop: optional, right: true},
		{head: "CPU", drop: optional + 2, right: true},
		{head: "MEMORY", drop: optional + 1, right: true},
		{head: "PORTS", comfort: 14, least: 9},
		{head: "COMMAND", comfort: 24, least: 12},
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
