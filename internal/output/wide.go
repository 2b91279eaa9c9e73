package output

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"agentctl/discover"
)

// WideTable is [Table] with what each session does on the machine; machines are in the order of the sessions. Where the
// width does not suffice, the facts go that change least, but what names a session stays.
func WideTable(w io.Writer, sessions []discover.Session, machines []Machine, look Look) error {
	g := look.table(sessions)
	at := slices.IndexFunc(g.columns, func(c column) bool { return c.head == "GROUP" })
	g.columns = slices.Insert(g.columns, at, []column{
		{head: "CPU", drop: optional, right: true},
		{head: "MEMORY", drop: optional, right: true},
		{head: "PORTS", drop: optional + 4, comfort: 9},
		{head: "CONTEXT", drop: optional + 3, right: true},
		{head: "CHANGES", drop: optional + 2},
		{head: "DOING", drop: optional + 5, comfort: 16},
	}...)
	for i := range g.columns { // the names of a session go last, what it does before its processes
		switch c := &g.columns[i]; c.head {
		case "STATUS":
			c.comfort = c.least
		case "PID", "AGE":
			c.drop += optional
		case "LAST":
			c.drop++
		case "TITLE", "DIR":
			c.comfort = c.least
		}
	}
	for i, s := range sessions {
		m := machines[i]
		doing := ""
		if s.Status.Live() {
			doing = cmp.Or(WaitingOnText(s.WaitingOn), Clean(s.Turn.Detail))
		}
		g.rows[i].cells = slices.Insert(g.rows[i].cells, at,
			cpuText(m.cpu()), memoryText(m.memory()), portsText(m.ports()), contextText(s.Tokens), m.Changes.letters(), doing)
	}
	return g.print(w, look)
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

// letters says what is not committed as git status does: M what is changed, ? what is untracked.
func (c *Changes) letters() string {
	if c == nil {
		return ""
	}
	return c.files("%dM", "%d?", " ")
}
