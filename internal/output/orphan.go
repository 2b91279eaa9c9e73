package output

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
)

// Orphan is the JSON object of one process that a stopped session left running, as list --orphans --json prints
// it. Adapter and SessionID name the session.
type Orphan struct {
	Process
	// SessionID is absent if the environment marker of the agent names a process instead of a session.
	SessionID *string `json:"sessionId,omitempty"`
	// Host is the machine on which it runs; absent for this one.
	Host string `json:"host,omitempty"`
}

// Check returns an error unless the object of another agentctl may be printed.
func (o *Orphan) Check() error {
	if o.Adapter != "" && !isAdapterName(o.Adapter) {
		return fmt.Errorf("no process of an agent: adapter %q", o.Adapter)
	}
	return nil
}

// OrphanTable writes a header, and one row a process.
func OrphanTable(w io.Writer, orphans []Orphan, opts TextOptions) error {
	ids := shortIDsOf(opts, orphans, func(o Orphan) SessionID { return newSessionID(o.Adapter, o.SessionID) })
	return newGrid(
		len(orphans),
		column{title: "PID", cell: func(i int) string { return HostPrefix(orphans[i].Host) + strconv.Itoa(orphans[i].PID) }, alignRight: true},
		column{title: "PPID", cell: func(i int) string { return strconv.Itoa(orphans[i].PPID) }, dropEarly: 4, alignRight: true},
		column{title: "AGENT", cell: func(i int) string { return orphans[i].Adapter }, dropLate: 1},
		column{title: "SESSION", cell: func(i int) string { return cmp.Or(ids[i], "-") }, dropLate: 2},
		column{title: "AGE", cell: func(i int) string { return ageText(orphans[i].StartedAt, opts.Now) }, dropEarly: 1, alignRight: true},
		column{title: "CPU", cell: func(i int) string { return cpuText(orphans[i].CPU) }, dropEarly: 3, alignRight: true},
		column{title: "MEMORY", cell: func(i int) string { return memoryText(orphans[i].Memory) }, dropEarly: 2, alignRight: true},
		column{title: "PORTS", cell: func(i int) string { return portsText(orphans[i].Ports) }, preferred: 14, min: 9},
		column{title: "COMMAND", cell: func(i int) string { return orphans[i].command(opts) }, preferred: 24, min: 12},
	).print(w, opts)
}
