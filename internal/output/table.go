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

// Look is how a table or block is to look.
type Look struct {
	// Width is how many columns the terminal has; 0: unlimited, and nothing is shortened.
	Width int
	// Color allows colours.
	Color bool
	// Now is what ages are counted from; times are shown in its zone.
	Now time.Time
	// Home is shown as ~.
	Home string
	// ShortID is the least number of characters by which an agent's ID means one session; nil: [discover.MinShortID].
	ShortID func(agent, id string) int
}

// WaitingFirst puts the sessions that wait for the person before the others, which stay in their order.
func WaitingFirst(sessions []discover.Session) {
	rank := func(s discover.Session) int {
		if s.Status == discover.Waiting {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(sessions, func(a, b discover.Session) int { return rank(a) - rank(b) })
}

// Table writes one row a session, with a heading. It fits the width; into a pipe (Width 0) it shows everything whole.
func Table(w io.Writer, sessions []discover.Session, look Look) error {
	return look.table(sessions).print(w, look)
}

// table is a grid with one row a session.
func (l Look) table(sessions []discover.Session) *grid {
	g := &grid{columns: []column{
		{head: "ID"},
		{head: "AGENT", drop: optional + 2},
		{head: "STATUS", paint: l.Color, comfort: 20, least: 12},
		{head: "PID", drop: optional + 3, right: true},
		{head: "AGE", drop: optional + 4, right: true},
		{head: "LAST", drop: optional, right: true},
		{head: "GROUP", drop: optional + 1, comfort: 12},
		{head: "DIR", drop: 2, tail: true, comfort: 16, least: 12},
		{head: "TITLE", drop: 1, comfort: 20, least: 12},
	}}
	full := make([]ID, len(sessions))
	for i := range sessions {
		full[i] = ID{string(sessions[i].Agent), sessions[i].ID}
	}
	ids := l.ShortIDs(full)
	g.rows = make([]row, 0, len(sessions))
	for i := range sessions {
		s := &sessions[i]
		g.add(row{
			cells: []string{
				cmp.Or(ids[i], "-"), string(s.Agent), Clean(statusText(s)), pidText(s), processAge(s, l.Now), Age(s.Activity(), l.Now),
				Clean(s.Group), Clean(l.dir(s.Dir)), Clean(cmp.Or(s.Title, s.Prompt)),
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

// dir shortens the home directory to ~, whole path elements only.
func (l Look) dir(path string) string {
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
