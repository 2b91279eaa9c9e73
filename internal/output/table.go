package output

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"agentctl/discover"
)

// TextOptions says how tables and blocks of text are formatted.
type TextOptions struct {
	// Width is the width of the terminal in columns; 0: unlimited, and nothing is truncated.
	Width int
	// Color enables ANSI colours.
	Color bool
	// Now is the time from which ages are computed. Times are printed in its time zone.
	Now time.Time
	// Home is the home directory, which is printed as ~.
	Home string
	// MinShortID returns how many characters of an ID agentctl accepts at least as an abbreviation of it; nil:
	// [discover.MinShortID].
	MinShortID func(agent, id string) int
}

// SessionTable writes a header, and one row a session, fitted to the width.
func SessionTable(w io.Writer, sessions []Session, opts TextOptions) error {
	c := opts.newSessionColumns(sessions)
	return sessionGrid(sessions, c.id, c.agent, c.status, c.pid, c.age, c.last, c.group, c.waitingOn, c.dir, c.title).print(w, opts)
}

func sessionGrid(sessions []Session, columns ...column) *grid {
	g := newGrid(len(sessions), columns...)
	g.color = func(i int) string { return statusColor(&sessions[i]) }
	return g
}

// sessionColumns are the columns that tables of sessions have in common.
type sessionColumns struct{ id, agent, status, pid, age, last, group, waitingOn, dir, title column }

// newSessionColumns builds the columns for these sessions.
func (o TextOptions) newSessionColumns(sessions []Session) sessionColumns {
	ids := shortIDsOf(o, sessions, func(s Session) SessionID { return newSessionID(s.Adapter, s.ID) })
	cell := func(text func(s *Session) string) func(int) string {
		return func(i int) string { return text(&sessions[i]) }
	}
	return sessionColumns{
		id:        column{title: "ID", cell: func(i int) string { return HostPrefix(sessions[i].Host) + cmp.Or(ids[i], "-") }},
		agent:     column{title: "AGENT", cell: func(i int) string { return sessions[i].Adapter }, dropEarly: rankAgent},
		status:    column{title: "STATUS", cell: cell(func(s *Session) string { return Sanitize(statusText(s)) }), colored: o.Color, preferred: longestStatus, min: 12},
		pid:       column{title: "PID", cell: cell(pidText), dropEarly: rankPID, alignRight: true},
		age:       column{title: "AGE", cell: func(i int) string { return ageText(sessions[i].ProcessStartedAt, o.Now) }, dropEarly: rankAge, alignRight: true},
		last:      column{title: "LAST", cell: func(i int) string { return Age(sessions[i].lastActivity(), o.Now) }, dropEarly: rankLast, alignRight: true},
		group:     column{title: "GROUP", cell: func(i int) string { return Sanitize(sessions[i].Group) }, dropEarly: rankGroup, preferred: 12},
		waitingOn: column{title: "WAITING ON", cell: cell(WaitingOnText), dropEarly: rankWaitingOn, preferred: 24, min: 12},
		dir:       column{title: "DIR", cell: func(i int) string { return Sanitize(o.shortDir(sessions[i].CWD)) }, dropLate: 2, keepEnd: true, preferred: 16, min: 12},
		title:     column{title: "TITLE", cell: func(i int) string { return Sanitize(cmp.Or(sessions[i].Title, sessions[i].Prompt)) }, dropLate: 1, preferred: 20, min: 12},
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
	rankAgent
	rankContext
	rankWaitingOn
	rankPorts
	rankDoing
	rankPID
	rankAge
)

// longestStatus is the width of the longest text of a status in words of this program. An agent's own word for what it waits for may be longer.
const longestStatus = len("stopped (interrupted)")

// statusText is the status, followed in parentheses by what qualifies it.
func statusText(s *Session) string {
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

// pidText lists the pids; "*" marks a process that serves other sessions too.
func pidText(s *Session) string {
	var pids []string
	for _, pid := range s.AllPIDs() {
		pids = append(pids, fmt.Sprint(pid))
	}
	text := strings.Join(pids, ",")
	if s.is("shared") && text != "" {
		text += "*"
	}
	return text
}

// shortDir replaces the home directory with ~, if it is a whole prefix of path elements.
func (o TextOptions) shortDir(path string) string {
	home := filepath.Clean(o.Home)
	if o.Home == "" || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// waitingColor is black on yellow: yellow text is unreadable on a white background.
const waitingColor = "30;43"

// statusColor is the ANSI SGR parameter for the status of a session.
func statusColor(s *Session) string {
	switch status := discover.Status(s.Status); {
	case s.Outcome == string(discover.Failed), s.Error != "":
		return "31" // red
	case status == discover.Running:
		return "32" // green
	case status == discover.Waiting:
		return waitingColor
	case status == discover.Idle:
		return "36" // cyan
	case status == discover.Unknown:
		return "35" // magenta
	}
	return "2" // faint
}
