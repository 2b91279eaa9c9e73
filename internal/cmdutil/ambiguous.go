package cmdutil

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"agentctl/discover"
	"agentctl/internal/output"
)

// titleShown is how much of a candidate's title is shown, in columns.
const titleShown = 60

// maxCandidates bounds the candidates that the error of an ambiguous ID shows. The engine may have read more: it adds all live ones.
const maxCandidates = 10

// shownCandidates returns the first candidates.
func shownCandidates(e *discover.AmbiguousError) []discover.Session {
	return e.Candidates[:min(len(e.Candidates), maxCandidates)]
}

// ambiguousHint names the candidates as the argument could have named them.
func ambiguousHint(e *discover.AmbiguousError) string {
	var b bytes.Buffer
	names, shown := ArgumentsFor(e.Candidates), shownCandidates(e)
	for i, s := range shown {
		title := output.Truncate(output.Sanitize(cmp.Or(s.Title, s.Prompt)), titleShown)
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", output.Sanitize(names[i]), s.Agent, s.Status, title)))
	}
	if more := e.Total - len(shown); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ArgumentsFor names each of the sessions as an argument can: by its ID; where several of them have that ID by ID@DIR, with the
// session's directory, or where they share that with the agent's home. A session without an ID has no name.
func ArgumentsFor(sessions []discover.Session) []string {
	ids, places := map[string]int{}, map[string]int{}
	for i := range sessions {
		ids[sessions[i].ID]++
		places[sessions[i].ID+"@"+sessions[i].Dir]++
	}
	names := make([]string, len(sessions))
	for i := range sessions {
		s := &sessions[i]
		switch place := s.ID + "@" + s.Dir; {
		case s.ID == "", ids[s.ID] == 1:
			names[i] = s.ID
		case places[place] == 1:
			names[i] = place
		default:
			names[i] = s.ID + "@" + s.Home
		}
	}
	return names
}
