package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentctl/discover"
)

// Frame returns one frame of `list --watch` as at most that many rows: the number of sessions by status, as many
// sessions as fit, in the given order, and the number of warnings.
func Frame(sessions []Session, warnings []string, opts TextOptions, rows int) []string {
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

// WarningLine says how much could not be read, and why the first of it could not.
func WarningLine(warnings []string) string {
	return fmt.Sprintf("%d could not be read: %s", len(warnings), Sanitize(warnings[0]))
}

func StatusSummary(sessions []Session) string {
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
