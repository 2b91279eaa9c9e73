package output

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
)

// TextOptions is how a table or block is to look.
type TextOptions struct {
	// Width is how many columns the terminal has; 0: unlimited, and nothing is shortened.
	Width int
	// Color allows colours.
	Color bool
	// Now is what ages are counted from; times are shown in its zone.
	Now time.Time
	// Home is shown as ~.
	Home string
	// MinShortID is the least number of characters by which an agent's ID means one session; nil: [discover.MinShortID].
	MinShortID func(agent, id string) int
}

// SortWaitingFirst puts the sessions that wait for the person before the others, which stay in their order.
func SortWaitingFirst(sessions []discover.Session) {
	rank := func(s discover.Session) int {
		if s.Status == discover.Waiting {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(sessions, func(a, b discover.Session) int { return rank(a) - rank(b) })
}

// SessionTable writes one row a session, with a heading. It fits the width; into a pipe (Width 0) it shows everything whole.
func SessionTable(w io.Writer, sessions []discover.Session, look TextOptions) error {
	return look.sessionGrid(sessions).flush(w, look)
}

// sessionGrid is a grid with one row a session.
func (l TextOptions) sessionGrid(sessions []discover.Session) *grid {
	g := &grid{columns: []column{
		{header: "ID"},
		{header: "AGENT", dropOrder: optional + 2},
		{header: "STATUS", colored: l.Color, preferred: 20, min: 12},
		{header: "PID", dropOrder: optional + 3, alignRight: true},
		{header: "AGE", dropOrder: optional + 4, alignRight: true},
		{header: "LAST", dropOrder: optional, alignRight: true},
		{header: "GROUP", dropOrder: optional + 1, preferred: 12},
		{header: "DIR", dropOrder: 2, keepEnd: true, preferred: 16, min: 12},
		{header: "TITLE", dropOrder: 1, preferred: 20, min: 12},
	}}
	full := make([]SessionID, len(sessions))
	for i := range sessions {
		full[i] = SessionID{string(sessions[i].Agent), sessions[i].ID}
	}
	ids := l.ShortIDs(full)
	g.rows = make([]row, 0, len(sessions))
	for i := range sessions {
		s := &sessions[i]
		g.add(row{
			cells: []string{
				cmp.Or(ids[i], "-"), string(s.Agent), Sanitize(statusText(s)), pidText(s), processAge(s, l.Now), Age(s.Activity(), l.Now),
				Sanitize(s.Group), Sanitize(l.shortDir(s.Dir)), Sanitize(cmp.Or(s.Title, s.Prompt)),
			},
			color: colorOf(s),
		})
	}
	return g
}

// statusText is the status with the word that qualifies it.
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

// pidText names the processes; "*" marks one that serves other sessions too.
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

// processAge is how long the first of the processes has lived, "" where there is none.
func processAge(s *discover.Session, now time.Time) string {
	if len(s.Processes) == 0 {
		return ""
	}
	return Age(s.Processes[0].Started, now)
}

// shortDir shortens the home directory to ~, whole path elements only.
func (l TextOptions) shortDir(path string) string {
	home := filepath.Clean(l.Home)
	if l.Home == "" || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// colorOf is the ANSI SGR parameter for a session's status.
func colorOf(s *discover.Session) string {
	switch {
	case s.Outcome == discover.Failed, s.Error != "":
		return "31" // red
	case s.Status == discover.Running:
		return "32" // green
	case s.Status == discover.Waiting:
		return "30;43" // black on yellow: on a white background yellow letters cannot be read
	case s.Status == discover.Idle:
		return "36" // cyan
	case s.Status == discover.Unknown:
		return "35" // magenta
	}
	return "2" // faint
}
