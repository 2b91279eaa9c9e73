package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentctl/discover"
)

// Frame is a table that is watched, as the lines of a screen of that many rows: how many sessions there are of each
// status, the sessions in their order, as many as there is room for, and how many things could not be read.
func Frame(sessions []discover.Session, warnings []string, look TextOptions, rows int) []string {
	lines := []string{truncate(summary(sessions)+"  ·  "+look.Now.Format("15:04:05")+"  ·  q quits", look.Width, false)}
	var foot []string
	if n := len(warnings); n > 0 {
		foot = append(foot, truncate(fmt.Sprintf("%d could not be read: %s", n, Sanitize(warnings[0])), look.Width, false))
	}
	if rows < len(lines)+len(foot)+2 { // a heading and a row
		lines, foot = nil, nil
	}
	var table strings.Builder
	if len(sessions) > 0 {
		_ = SessionTable(&table, sessions, look) // a builder takes everything
	}
	body := strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")
	if room := max(1, rows-len(lines)-len(foot)); len(body) > room {
		more := fmt.Sprintf("… %d more", len(body)-room+1)
		body = append(body[:room-1:room-1], truncate(more, look.Width, false))
	}
	return slices.Concat(lines, body, foot)
}

// summary counts the sessions by status.
func summary(sessions []discover.Session) string {
	var parts []string
	for _, status := range []discover.Status{discover.Waiting, discover.Running, discover.Idle, discover.Unknown, discover.Stopped} {
		n := 0
		for _, s := range sessions {
			if s.Status == status {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no sessions")
}
