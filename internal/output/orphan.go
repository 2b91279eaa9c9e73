package output

import (
	"cmp"
	"io"
	"strconv"
)

// Orphan is the JSON object of one process that a stopped session left running, as list --orphans --json prints
// it. Adapter and SessionID name the session.
type Orphan struct {
	Process
	// SessionID is absent if the environment marker of the agent names a process instead of a session.
	SessionID *string `json:"sessionId,omitempty"`
}

// OrphanTable writes a header, and one row a process.
func OrphanTable(w io.Writer, orphans []Orphan, opts TextOptions) error {
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
	fullIDs := make([]SessionID, len(orphans))
	for i, o := range orphans {
		fullIDs[i] = newSessionID(o.Adapter, o.SessionID)
	}
	ids := opts.ShortIDs(fullIDs)
	for i, o := range orphans {
		g.add(row{cells: []string{
			strconv.Itoa(o.PID), strconv.Itoa(o.PPID), o.Adapter, cmp.Or(ids[i], "-"), ageText(o.StartedAt, opts.Now), cpuText(o.CPU),
			memoryText(o.Memory), portsText(o.Ports), o.command(opts),
		}})
	}
	return g.print(w, opts)
}
