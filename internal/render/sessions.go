package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
)

// SessionTable writes a header, and one row a session, fitted to the width.
func SessionTable(w io.Writer, sessions []object.Session, opts TextOptions) error {
	c := opts.newSessionColumns(sessions)
	return sessionGrid(sessions, c.id, c.agent, c.status, c.pid, c.age, c.last, c.group, c.waitingOn, c.cutIn, c.quiet, c.dir, c.title).print(w, opts)
}

func sessionGrid(sessions []object.Session, columns ...column) *grid {
	g := newGrid(len(sessions), columns...)
	g.color = func(i int) string { return statusColor(&sessions[i]) }
	return g
}

// sessionColumns are the columns that tables of sessions have in common.
type sessionColumns struct{ id, agent, status, pid, age, last, group, waitingOn, cutIn, quiet, dir, title column }

func (to TextOptions) newSessionColumns(sessions []object.Session) sessionColumns {
	ids := shortIDsOf(to, sessions, func(s object.Session) SessionID { return SessionID{s.Adapter, object.Known(s.ID)} })
	cell := func(text func(s *object.Session) string) func(int) string {
		return func(i int) string { return text(&sessions[i]) }
	}
	return sessionColumns{
		id:        column{title: "ID", cell: func(i int) string { return object.HostPrefix(sessions[i].Host) + cmp.Or(ids[i], "-") }},
		agent:     column{title: "AGENT", cell: func(i int) string { return sessions[i].Adapter }, dropLate: 2},
		status:    column{title: "STATUS", cell: cell(to.statusCell), colored: to.Color, preferred: longestStatus, min: 9},
		pid:       column{title: "PID", cell: cell(pidText), dropEarly: rankPID, alignRight: true},
		age:       column{title: "AGE", cell: func(i int) string { return ageText(sessions[i].ProcessStartedAt, to.Now) }, dropEarly: rankAge, alignRight: true},
		last:      column{title: "LAST", cell: func(i int) string { return Age(sessions[i].LastActivity(), to.Now) }, dropEarly: rankLast, alignRight: true},
		group:     column{title: "GROUP", cell: func(i int) string { return Sanitize(sessions[i].Group) }, dropEarly: rankGroup, preferred: 12},
		waitingOn: column{title: "WAITING ON", cell: cell(WaitingOnText), dropLate: 3, preferred: 24, min: 14},
		cutIn:     column{title: "INTERRUPTED IN", cell: cell(interruptedText), dropLate: 3, preferred: 24, min: 14},
		quiet:     column{title: "QUIET", cell: cell(quietText), dropLate: 3, preferred: 24, min: 8},
		dir:       column{title: "DIR", cell: func(i int) string { return Sanitize(to.ShortDir(sessions[i].CWD)) }, dropLate: 5, keepEnd: true, preferred: 16, min: 8},
		title:     column{title: "TITLE", cell: func(i int) string { return Sanitize(cmp.Or(sessions[i].Title, sessions[i].Prompt)) }, dropLate: 4, preferred: 20, min: 8},
	}
}

// Ranks of the columns that are dropped early from tables of sessions. The column with the highest rank is dropped first.
const (
	_ = iota
	rankMemory
	rankCPU
	rankLast
	rankGroup
	rankLastWide
	rankChanges
	rankTerminal
	rankContext
	rankPorts
	rankDoing
	rankPID
	rankAge
)

// longestStatus is the width of the longest text of a status in words of this program. An agent's own word for what it waits for may be longer.
const longestStatus = len("stopped (interrupted)")

// interruptedText formats what a session was doing when its process ended, on one line, safe for a terminal; "" if it was in no turn.
func interruptedText(s *object.Session) string {
	switch in := s.InterruptedIn; {
	case in == nil:
		return ""
	case in.Tool != "":
		return Sanitize(joinKnown(": ", in.Tool, cmp.Or(in.Brief, in.Path)))
	case in.Prompt != "":
		return "the prompt: " + Sanitize(in.Prompt)
	}
	return "a turn"
}

// quietText says for how long nothing of a session has moved, in which call, and what explains it, on one line, safe for a terminal; ""
// if it is not quiet.
func quietText(s *object.Session) string {
	q := s.Quiet
	if q == nil {
		return ""
	}
	since, _ := object.ParseTimestamp(q.Since)
	text := Age(since, since.Add(time.Duration(q.For)*time.Second))
	if on := q.OpenCall; on != nil {
		text += ", " + joinKnown(": ", on.Tool, cmp.Or(on.Brief, on.Path))
	}
	switch {
	case q.Suspended:
		text += " (suspended)"
	case q.WatchesFiles:
		text += " (watches files)"
	case q.MayAwaitModel:
		text += " (connected)"
	}
	return Sanitize(text)
}

// statusText is the status, followed in parentheses by what qualifies it.
func statusText(s *object.Session) string {
	switch {
	case s.Status == string(discover.Waiting) && s.WaitingFor != "":
		return s.Status + " (" + s.WaitingFor + ")"
	case s.Outcome != "" && s.Outcome != string(discover.Completed):
		return s.Status + " (" + s.Outcome + ")"
	case s.Live() && s.Error != "":
		return s.Status + " (error)"
	}
	return s.Status
}

// From the least width to narrow, in columns, the status does not repeat what WAITING ON or INTERRUPTED IN says. Below, these have no room.
const leastWaitingOn, narrow = 60, 100

func (to TextOptions) statusCell(s *object.Session) string {
	if to.Width >= leastWaitingOn && to.Width < narrow && WaitingOnText(s)+interruptedText(s) != "" {
		return s.Status
	}
	return Sanitize(statusText(s))
}

// pidText lists the pids; "*" marks a process that serves other sessions too.
func pidText(s *object.Session) string {
	text := numbersText(s.AllPIDs())
	if s.Shared() && text != "" {
		text += "*"
	}
	return text
}

// waitingColor is black on yellow: yellow text is unreadable on a white background.
const waitingColor = "30;43"

// statusColor is the ANSI SGR parameter for the status of a session.
func statusColor(s *object.Session) string {
	const red, green, cyan, magenta, faint = "31", "32", "36", "35", "2"
	if s.Outcome == string(discover.Failed) || s.Error != "" {
		return red
	}
	colors := map[discover.Status]string{discover.Running: green, discover.Waiting: waitingColor, discover.Idle: cyan, discover.Unknown: magenta}
	return cmp.Or(colors[discover.Status(s.Status)], faint)
}

// WideSessionTable is [SessionTable] with the resources of each session. If the
// terminal is too narrow, it drops columns by their ranks.
func WideSessionTable(w io.Writer, sessions []object.Session, opts TextOptions) error {
	c := opts.newSessionColumns(sessions)
	for _, narrowed := range []*column{&c.status, &c.dir, &c.title} {
		narrowed.preferred = 11
	}
	c.status.cell = func(i int) string { return Sanitize(statusText(&sessions[i])) } // no other column says what it was interrupted in
	c.last.dropEarly = rankLastWide
	cpu := column{title: "CPU", cell: func(i int) string { return knownText(TotalCPU(sessions[i].Processes), cpuText) }, dropEarly: rankCPU, alignRight: true}
	memory := column{title: "MEMORY", cell: func(i int) string { return knownText(TotalMemory(sessions[i].Processes), ByteSize) }, dropEarly: rankMemory, alignRight: true}
	ports := column{title: "PORTS", cell: func(i int) string { return numbersText(allPorts(sessions[i].Processes)) }, dropEarly: rankPorts, preferred: 9}
	context := column{title: "CONTEXT", cell: func(i int) string { return contextText(sessions[i].Tokens) }, dropEarly: rankContext, alignRight: true}
	changes := column{title: "CHANGES", cell: func(i int) string { return statusLetters(sessions[i].Changes) }, dropEarly: rankChanges}
	terminal := column{title: "TERMINAL", cell: func(i int) string { return terminalCell(&sessions[i]) }, dropEarly: rankTerminal, preferred: 12}
	doing := column{title: "DOING", cell: func(i int) string { return doingText(&sessions[i]) }, dropEarly: rankDoing, preferred: 16}
	return sessionGrid(
		sessions, c.id, c.agent, c.status, c.pid, c.age, c.last, cpu, memory, ports, context, changes, terminal, doing, c.quiet, c.group, c.dir, c.title,
	).print(w, opts)
}

// doingText is what the turn of a live session waits for, or else is at.
func doingText(s *object.Session) string { return cmp.Or(WaitingOnText(s), Sanitize(s.TurnDetail())) }

// contextText is the number of tokens in the context, and its share of the context window of the model.
func contextText(t *object.Tokens) string {
	if t == nil || t.Context == 0 {
		return ""
	}
	return joinKnown(" ", Thousands(t.Context), contextShare(t))
}

// contextShare is the share of the context window that is used, in percent; "" if that is not known.
func contextShare(t *object.Tokens) string {
	if t == nil || t.Context == 0 || t.Window <= 0 {
		return ""
	}
	return fmt.Sprintf("%d%%", 100*t.Context/t.Window)
}

// statusLetters formats the counts as git status does: M for changed, ? for untracked files.
func statusLetters(c *object.Changes) string {
	if c == nil {
		return ""
	}
	return countsText(c, "%dM", "%d?", " ")
}

// WaitingOnText formats the call that a session waits on, such as "Bash: rm -rf build" or "Edit: main.go +3 -1", on one line, safe for a
// terminal; "" if there is none. A file below the session's directory is named from there.
func WaitingOnText(s *object.Session) string {
	on := s.WaitingOn
	if on == nil {
		return ""
	}
	brief := on.Brief
	if len(on.Questions) > 0 {
		brief = strings.Join(on.Questions, " ")
	}
	if below, ok := strings.CutPrefix(brief, strings.TrimSuffix(s.CWD, "/")+"/"); ok && brief == on.Path && s.CWD != "" {
		brief = below
	}
	return joinKnown(": ", cmp.Or(Sanitize(on.Tool), "-"), Sanitize(brief)) + diffText(on.Diff)
}

// diffText formats the numbers of lines that are known.
func diffText(d *object.Diff) string {
	switch {
	case d == nil:
		return ""
	case d.Removed == nil:
		return fmt.Sprintf(" +%d", d.Added)
	}
	return fmt.Sprintf(" +%d -%d", d.Added, *d.Removed)
}

// terminalCell is the pane, or else the terminal without /dev/.
func terminalCell(s *object.Session) string {
	if s.Terminal != nil {
		return terminalName(s.Terminal)
	}
	return Sanitize(strings.TrimPrefix(s.TTY, "/dev/"))
}

// Frame returns one frame of `list --watch` as at most that many rows: the number of sessions by status, as many
// sessions as fit, in the given order, and the number of warnings.
func Frame(sessions []object.Session, warnings []string, opts TextOptions, rows int) []string {
	lines := []string{truncate(StatusSummary(sessions)+"  ·  "+opts.Now.Format("15:04:05")+"  ·  q quits", opts.Width, false)}
	var footer []string
	if len(warnings) > 0 {
		footer = append(footer, truncate(WarningLine(warnings), opts.Width, false))
	}
	if rows < len(lines)+len(footer)+2 { // the header and a row
		lines, footer = nil, nil
	}
	var table strings.Builder
	if len(sessions) > 0 {
		_ = SessionTable(&table, sessions, opts) // a builder returns no error
	}
	body := strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")
	if room := max(1, rows-len(lines)-len(footer)); len(body) > room {
		more := fmt.Sprintf("… %d more", len(body)-room+1)
		body = append(body[:room-1:room-1], truncate(more, opts.Width, false))
	}
	return slices.Concat(lines, body, footer)
}

// WarningLine counts the warnings, and shows the first one.
func WarningLine(warnings []string) string {
	return fmt.Sprintf("%d could not be read: %s", len(warnings), Sanitize(warnings[0]))
}

func StatusSummary(sessions []object.Session) string {
	var parts []string
	count := map[string]int{}
	for _, s := range sessions {
		count[s.Status]++
	}
	for _, status := range []discover.Status{discover.Waiting, discover.Running, discover.Idle, discover.Unknown, discover.Stopped} {
		if n := count[string(status)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no sessions")
}
