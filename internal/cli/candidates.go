package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"agentctl/discover"
	"agentctl/internal/render"
)

// titleShown is how much of a candidate's title is shown, in columns.
const titleShown = 60

// ambiguousHint names the candidates as the argument could have named them.
func ambiguousHint(e *discover.AmbiguousError) string {
	var b bytes.Buffer
	for i, name := range argumentsOf(e.Candidates) {
		s := e.Candidates[i]
		title := render.Shortened(render.Clean(cmp.Or(s.Title, s.Prompt)), titleShown)
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", render.Clean(name), s.Agent, s.Status, title)))
	}
	if more := e.Total - len(e.Candidates); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
