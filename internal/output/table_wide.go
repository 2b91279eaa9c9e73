package output

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// WideSessionTable is [SessionTable] with the resources of each session. If the
// terminal is too narrow, it drops columns by the ranks in table.go.
func WideSessionTable(w io.Writer, sessions []Session, opts TextOptions) error {
	c := opts.newSessionColumns(sessions)
	for _, narrowed := range []*column{&c.status, &c.dir, &c.title} {
		narrowed.preferred = narrowed.min
	}
	c.last.dropEarly = rankLastWide
	cpu := column{title: "CPU", cell: func(i int) string { return cpuText(totalCPU(sessions[i].Processes)) }, dropEarly: rankCPU, alignRight: true}
	memory := column{title: "MEMORY", cell: func(i int) string { return memoryText(totalMemory(sessions[i].Processes)) }, dropEarly: rankMemory, alignRight: true}
	ports := column{title: "PORTS", cell: func(i int) string { return portsText(allPorts(sessions[i].Processes)) }, dropEarly: rankPorts, preferred: 9}
	context := column{title: "CONTEXT", cell: func(i int) string { return contextText(sessions[i].Tokens) }, dropEarly: rankContext, alignRight: true}
	changes := column{title: "CHANGES", cell: func(i int) string { return sessions[i].Changes.statusLetters() }, dropEarly: rankChanges}
	terminal := column{title: "TERMINAL", cell: func(i int) string { return terminalCell(&sessions[i]) }, dropEarly: rankTerminal, preferred: 12}
	doing := column{title: "DOING", cell: func(i int) string { return doingText(&sessions[i]) }, dropEarly: rankDoing, preferred: 16}
	return sessionGrid(
		sessions, c.id, c.agent, c.status, c.pid, c.age, c.last, cpu, memory, ports, context, changes, terminal, doing, c.group, c.dir, c.title,
	).print(w, opts)
}

// doingText is what the turn of a live session waits for, or else is at.
func doingText(s *Session) string {
	if !s.Live() {
		return ""
	}
	return cmp.Or(WaitingOnText(s), Sanitize(s.turnDetail()))
}

// contextText is the number of tokens in the context, and its share of the context window of the model.
func contextText(t *Tokens) string {
	if t == nil || t.Context == 0 {
		return ""
	}
	return strings.TrimRight(Thousands(t.Context)+" "+contextShare(t), " ")
}

// contextShare is the share of the context window that is used, in percent; "" if that is not known.
func contextShare(t *Tokens) string {
	if t == nil || t.Context == 0 || t.Window <= 0 {
		return ""
	}
	return fmt.Sprintf("%d%%", 100*t.Context/t.Window)
}

// Thousands formats a count: 999, 1.5k, 2.0M.
func Thousands(n int64) string {
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
