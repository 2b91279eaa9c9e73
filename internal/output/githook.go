package output

import (
	"io"
	"strings"
)

// GitHook is the JSON object of a git hook of a repository.
type GitHook struct {
	Hook string `json:"hook"`
	// State is installed, not_installed, foreign, manual or modified.
	State string `json:"state"`
	Path  string `json:"path"`
	// Program is the agentctl that an installed hook runs.
	Program string `json:"program,omitempty"`
	// TrailerMerges: the hook adds the session trailer to merge and squash commits too.
	TrailerMerges bool `json:"trailerMerges,omitempty"`
	// Original is the hook that was installed before, if our hook calls it.
	Original string `json:"original,omitempty"`
	// Manager is the tool that manages a foreign hook. Reason says why the hook is foreign, manual or modified; Advice
	// says what the user can do.
	Manager string `json:"manager,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Advice  string `json:"advice,omitempty"`
	// Changed: this command changed the hook.
	Changed bool `json:"changed"`
}

// GitHookTable writes a header, and one row a hook.
func GitHookTable(w io.Writer, list []GitHook, opts TextOptions) error {
	g := grid{columns: []column{{header: "HOOK"}, {header: "STATE"}, {header: "PATH", keepEnd: true, dropOrder: optional}, {header: "REASON", preferred: 40, min: 12}}}
	for _, h := range list {
		g.add(row{cells: []string{h.Hook, strings.ReplaceAll(h.State, "_", " "), Sanitize(opts.shortDir(h.Path)), Sanitize(h.Reason)}})
	}
	return g.print(w, opts)
}
