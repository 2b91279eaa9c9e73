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
func SessionTable(w io.Writer, sessions []discover.Session, opts TextOptions) error {
	return opts.sessionGrid(sessions).print(w, opts)
}

// sessionGrid returns the grid of [SessionTable].
func (o TextOptions) sessionGrid(sessions []discover.Session) *grid {
	g := &grid{columns: []column{
		{header: "ID"},
		{header: "AGENT", dropOrder: optional + 2},
		{header: "STATUS", colored: o.Color, preferred: 20, min: 12},
		{header: "PID", dropOrder: optional + 3, alignRight: true},
		{header: "AGE", dropOrder: optional + 4, alignRight: true},
		{header: "LAST", dropOrder: optional, alignRight: true},
		{header: "GROUP", dropOrder: optional + 1, preferred: 12},
		{header: "DIR", dropOrder: 2, keepEnd: true, preferred: 16, min: 12},
		{header: "TITLE", dropOrder: 1, preferred: 20, min: 12},
	}}
	fullIDs := make([]SessionID, len(sessions))
	for i := range sessions {
		fullIDs[i] = SessionID{string(sessions[i].Agent), sessions[i].ID}
	}
	ids := o.ShortIDs(fullIDs)
	g.rows = make([]row, 0, len(sessions))
	for i := range sessions {
		s := &sessions[i]
		g.add(row{
			cells: []string{
				cmp.Or(ids[i], "-"), string(s.Agent), Sanitize(statusText(s)), pidText(s), processAge(s, o.Now), Age(s.LastActivity(), o.Now),
				Sanitize(s.Group), Sanitize(o.shortDir(s.Dir)), Sanitize(cmp.Or(s.Title, s.Prompt)),
			},
			color: statusColor(s),
		})
	}
	return g
}

// statusText is the status, followed in parentheses by what qualifies it.
func statusText(s *discover.Session) string {
	switch {
	case s.Status == discover.Waiting && s.WaitingFor != "":
		return string(s.Status) + " (" + s.WaitingFor + ")"
	case s.Outcome != "" && s.Outcome != discover.Completed:
		return string(s.Status) + " (" + string(s.Outcome) + ")"
	case s.Status.Live() && s.Error != "":
		return string(s.Status) + " (error)"
	}
	return string(s.Status)
}

// pidText lists the pids; "*" marks a process that serves other sessions too.
func pidText(s *discover.Session) string {
	var pids []string
	for _, p := range s.Processes {
		pids = append(pids, fmt.Sprint(p.ID.PID))
	}
	text := strings.Join(pids, ",")
	if s.Shared && text != "" {
		text += "*"
	}
	return text
}

// processAge is the age of the first process, or "" if there is none.
func processAge(s *discover.Session, now time.Time) string {
	if len(s.Processes) == 0 {
		return ""
	}
	return Age(s.Processes[0].Started, now)
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

// statusColor is the ANSI SGR parameter for the status of a session.
func statusColor(s *discover.Session) string {
	switch {
	case s.Outcome == discover.Failed, s.Error != "":
		return "31" // red
	case s.Status == discover.Running:
		return "32" // green
	case s.Status == discover.Waiting:
		return "30;43" // black on yellow: yellow text is unreadable on a white background
	case s.Status == discover.Idle:
		return "36" // cyan
	case s.Status == discover.Unknown:
		return "35" // magenta
	}
	return "2" // faint
}
