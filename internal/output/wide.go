package output

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"agentctl/discover"
)

// WideSessionTable is [Table] with what each session does on the machine; machines are in the order of the sessions. Where the
// width does not suffice, the facts go that change least, but what names a session stays.
func WideSessionTable(w io.Writer, sessions []discover.Session, machines []Resources, look TextOptions) error {
	g := look.sessionGrid(sessions)
	at := slices.IndexFunc(g.columns, func(c column) bool { return c.header == "GROUP" })
	g.columns = slices.Insert(g.columns, at, []column{
		{header: "CPU", dropOrder: optional, alignRight: true},
		{header: "MEMORY", dropOrder: optional, alignRight: true},
		{header: "PORTS", dropOrder: optional + 4, preferred: 9},
		{header: "CONTEXT", dropOrder: optional + 3, alignRight: true},
		{header: "CHANGES", dropOrder: optional + 2},
		{header: "DOING", dropOrder: optional + 5, preferred: 16},
	}...)
	for i := range g.columns { // the names of a session go last, what it does before its processes
		switch c := &g.columns[i]; c.header {
		case "STATUS":
			c.preferred = c.min
		case "PID", "AGE":
			c.dropOrder += optional
		case "LAST":
			c.dropOrder++
		case "TITLE", "DIR":
			c.preferred = c.min
		}
	}
	for i, s := range sessions {
		m := machines[i]
		doing := ""
		if s.Status.Live() {
			doing = cmp.Or(WaitingOnText(s.WaitingOn), Sanitize(s.Turn.Detail))
		}
		g.rows[i].cells = slices.Insert(g.rows[i].cells, at,
			cpuText(m.totalCPU()), memoryText(m.totalMemory()), portsText(m.allPorts()), contextText(s.Tokens), m.Changes.statusLetters(), doing)
	}
	return g.flush(w, look)
}

// contextText is how much the context holds, and of what the model takes.
func contextText(t *discover.Tokens) string {
	switch {
	case t == nil || t.Context == 0:
		return ""
	case t.Window > 0:
		return fmt.Sprintf("%s %d%%", thousands(t.Context), 100*t.Context/t.Window)
	}
	return thousands(t.Context)
}

// thousands is a count in the unit that suits it.
func thousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1000_000)
}

// statusLetters says what is not committed as git status does: M what is changed, ? what is untracked.
func (c *Changes) statusLetters() string {
	if c == nil {
		return ""
	}
	return c.countsText("%dM", "%d?", " ")
}
