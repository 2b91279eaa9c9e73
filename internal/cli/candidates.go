package cli

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
	names, shown := argumentsOf(e.Candidates), shownCandidates(e)
	for i, s := range shown {
		title := output.Truncate(output.Sanitize(cmp.Or(s.Title, s.Prompt)), titleShown)
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", output.Sanitize(names[i]), s.Agent, s.Status, title)))
	}
	if more := e.Total - len(shown); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
