package output

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"agentctl/discover"
)

// WideSessionTable is [SessionTable] with the resources of each session, in the order of the sessions. If the
// terminal is too narrow, it drops AGE, PID, DOING, PORTS, CONTEXT, AGENT, CHANGES, LAST, GROUP, CPU and MEMORY, in this order.
func WideSessionTable(w io.Writer, sessions []discover.Session, resources []Resources, opts TextOptions) error {
	g := opts.sessionGrid(sessions)
	at := slices.IndexFunc(g.columns, func(c column) bool { return c.header == "GROUP" })
	g.columns = slices.Insert(g.columns, at, []column{
		{header: "CPU", dropOrder: optional, alignRight: true},
		{header: "MEMORY", dropOrder: optional, alignRight: true},
		{header: "PORTS", dropOrder: optional + 4, preferred: 9},
		{header: "CONTEXT", dropOrder: optional + 3, alignRight: true},
		{header: "CHANGES", dropOrder: optional + 2},
		{header: "DOING", dropOrder: optional + 5, preferred: 16},
	}...)
	for i := range g.columns {
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
		r := resources[i]
		doing := ""
		if s.Status.Live() {
			doing = cmp.Or(WaitingOnText(s.WaitingOn), Sanitize(s.Turn.Detail))
		}
		g.rows[i].cells = slices.Insert(g.rows[i].cells, at,
			cpuText(r.totalCPU()), memoryText(r.totalMemory()), portsText(r.allPorts()), contextText(s.Tokens), r.Changes.statusLetters(), doing)
	}
	return g.print(w, opts)
}

// contextText is the number of tokens in the context, and its share of the context window of the model.
func contextText(t *discover.Tokens) string {
	switch {
	case t == nil || t.Context == 0:
		return ""
	case t.Window > 0:
		return fmt.Sprintf("%s %d%%", thousands(t.Context), 100*t.Context/t.Window)
	}
	return thousands(t.Context)
}

// thousands formats a count: 999, 1.5k, 2.0M.
func thousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1000_000)
}

// statusLetters formats the counts as git status does: M for changed, ? for untracked files.
func (c *Changes) statusLetters() string {
	if c == nil {
		return ""
	}
	return c.countsText("%dM", "%d?", " ")
}
