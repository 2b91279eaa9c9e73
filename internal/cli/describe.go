package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
		what := "is " + string(l.Session.Status)
		if l.Session.Status == discover.Unknown {
			what = "may be running"
		}
		return fmt.Sprintf("%s %s in %s", DescribeSession(*l.Session), what, l.Dir)
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

// SessionName is [object.Session.Name].
func SessionName(s discover.Session) string {
	obj := object.NewSession(s)
	return obj.Name()
}

// titleShown bounds a candidate's title, in columns.
const titleShown = 60

// maxCandidates bounds the candidates that the error of an ambiguous ID shows. The scanner may return more: it adds all
// live sessions.
const maxCandidates = 10

// ambiguousOf is the error of an argument that means several sessions, which may be of another machine.
func ambiguousOf(arg string, sessions []object.Session) error {
	text := (&discover.AmbiguousError{Arg: arg, Total: len(sessions)}).Error()
	return &Failure{errorNamed("ambiguous"), text, candidatesHint(sessions, len(sessions)), sessions[:min(len(sessions), maxCandidates)]}
}

// candidatesHint lists the sessions that an ID may mean, one a line, each by an argument that means it alone.
func candidatesHint(sessions []object.Session, total int) string {
	names, shown := ArgumentsFor(sessions), sessions[:min(len(sessions), maxCandidates)]
	var lines []string
	for i, s := range shown {
		title := render.Truncate(render.Sanitize(cmp.Or(s.Title, s.Prompt)), titleShown)
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", render.Sanitize(names[i]), s.Adapter, s.Status, title)))
	}
	if more := total - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// ArgumentsFor returns for each session an argument that means it: its ID; ID@DIR with the session's directory if several
// have that ID; with the agent's home if they share the directory too, or the session's file if they share that. Before it is H: of a session on another host. It is ""
// for a session without an ID.
func ArgumentsFor(sessions []object.Session) []string {
	arguments := func(s object.Session) []string {
		id := s.Name()
		return []string{id, id + "@" + s.CWD, id + "@" + s.Home, id + "@" + s.Path}
	}
	meanings := map[string]int{}
	for _, s := range sessions {
		for _, arg := range slices.Compact(arguments(s)) {
			meanings[arg]++
		}
	}
	return convert(sessions, func(s object.Session) string {
		if s.ID == nil {
			return ""
		}
		all := arguments(s)
		if i := slices.IndexFunc(all, func(arg string) bool { return meanings[arg] == 1 }); i >= 0 {
			return all[i]
		}
		return all[len(all)-1]
	})
}
