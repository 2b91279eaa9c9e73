package cmdutil

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"agentctl/discover"
	"agentctl/internal/output"
)

// titleShown bounds a candidate's title, in columns.
const titleShown = 60

// maxCandidates bounds the candidates that the error of an ambiguous ID shows. The scanner may return more: it adds all
// live sessions.
const maxCandidates = 10

// shownCandidates returns the first maxCandidates candidates.
func shownCandidates(e *discover.AmbiguousError) []discover.Session {
	return e.Candidates[:min(len(e.Candidates), maxCandidates)]
}

// ambiguousHint lists the candidates, one a line, each by an argument that means it alone.
func ambiguousHint(e *discover.AmbiguousError) string {
	var b bytes.Buffer
	names, shown := ArgumentsFor(e.Candidates), shownCandidates(e)
	for i, s := range shown {
		fmt.Fprintln(&b, candidateText(s, names[i]))
	}
	if more := e.Total - len(shown); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// candidateText describes a session that an ID may mean, with the argument that means it alone.
func candidateText(s discover.Session, argument string) string {
	title := output.Truncate(output.Sanitize(cmp.Or(s.Title, s.Prompt)), titleShown)
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", output.Sanitize(argument), s.Agent, s.Status, title))
}

// ArgumentsFor returns for each session an argument that means it: its ID; ID@DIR with the session's directory if several
// have that ID; with the agent's home if they share the directory too, or the session's file if they share that. Before it is H: of a session on another host. It is ""
// for a session without an ID.
func ArgumentsFor(sessions []discover.Session) []string {
	ids, places, homes := map[string]int{}, map[string]int{}, map[string]int{}
	name := func(s *discover.Session) string { return output.HostPrefix(s.Host) + s.ID }
	for i := range sessions {
		id := name(&sessions[i])
		ids[id]++
		places[id+"@"+sessions[i].Dir]++
		homes[id+"@"+sessions[i].Home]++
	}
	names := make([]string, len(sessions))
	for i := range sessions {
		s := &sessions[i]
		id := name(s)
		switch place := id + "@" + s.Dir; {
		case s.ID == "":
		case ids[id] == 1:
			names[i] = id
		case places[place] == 1:
			names[i] = place
		case homes[id+"@"+s.Home] == 1:
			names[i] = id + "@" + s.Home
		default:
			names[i] = id + "@" + s.Path
		}
	}
	return names
}
