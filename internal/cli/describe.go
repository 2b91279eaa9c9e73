package cli

import (
	"fmt"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/lock"
)

// DescribeLock says who holds a lock, since when and why.
func DescribeLock(l lock.Lock) string {
	switch {
	case l.Session != nil:
		return fmt.Sprintf("%s is running in %s (%s)", DescribeSession(*l.Session), l.Dir, l.Session.Status)
	case len(l.Holders) > 0:
		p := l.Holders[0]
		how := "held"
		if l.Shared {
			how = "held (shared)"
		}
		return fmt.Sprintf("%s is %s by process %d (%s, since %s)", l.Dir, how, p.ID.PID, render.Sanitize(p.Name), FormatTime(p.Started))
	case l.Declared == nil:
		return fmt.Sprintf("%s is held by a process that cannot be seen", l.Dir)
	}
	d := l.Declared
	if d.ReadErr != nil {
		return fmt.Sprintf("%s is locked: %v", l.Dir, d.ReadErr)
	}
	text := fmt.Sprintf("%s is locked by %s since %s", l.Dir, render.Sanitize(d.By), FormatTime(d.Since))
	if !d.Until.IsZero() {
		text += " until " + FormatTime(d.Until)
	}
	if d.Reason != "" {
		text += ": " + render.Sanitize(d.Reason)
	}
	return text
}

// FormatTime formats a time for a message, in the local zone, as tables do.
func FormatTime(t time.Time) string { return t.Local().Format(time.DateTime) }

// DescribeSession names a session in a message: agent, ID, pid and start time.
func DescribeSession(s discover.Session) string {
	name := fmt.Sprintf("an unidentified %s session", s.Agent)
	if s.ID != "" {
		name = fmt.Sprintf("%s %s", s.Agent, render.Sanitize(s.ID))
	}
	all := s.AllProcesses()
	if len(all) == 0 {
		return name
	}
	return fmt.Sprintf("%s (pid %d, since %s)", name, all[0].ID.PID, FormatTime(all[0].Started))
}

// SessionName is the session's ID, H:ID of one on another host, else pid:N of its process, else "-".
func SessionName(s discover.Session) string {
	prefix := object.HostPrefix(s.Host)
	switch {
	case s.ID != "":
		return prefix + s.ID
	case len(s.Processes) > 0:
		return fmt.Sprintf("%spid:%d", prefix, s.Processes[0].ID.PID)
	}
	return prefix + "-"
}
