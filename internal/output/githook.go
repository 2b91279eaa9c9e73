package output

import (
	"io"
	"strings"
)

// GitHook is a git hook of a repository, as JSON has it.
type GitHook struct {
	Hook string `json:"hook"`
	// State is installed, not_installed, foreign, manual or modified.
	State string `json:"state"`
	Path  string `json:"path"`
	// Program is the agentctl that an installed one calls.
	Program string `json:"program,omitempty"`
	// TrailerMerges: it names the session in merges and squashes too.
	TrailerMerges bool `json:"trailerMerges,omitempty"`
	// Original is the hook that was there before, where ours calls it.
	Original string `json:"original,omitempty"`
	// Manager makes a foreign one; Reason is why it is foreign, manual or modified, Advice what can be done.
	Manager string `json:"manager,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Advice  string `json:"advice,omitempty"`
	// Changed: this command has changed it.
	Changed bool `json:"changed"`
}

// GitHookTable writes one row a hook, with a heading.
func GitHookTable(w io.Writer, list []GitHook, look TextOptions) error {
	g := grid{columns: []column{{header: "HOOK"}, {header: "STATE"}, {header: "PATH", keepEnd: true, dropOrder: optional}, {header: "REASON", preferred: 40, min: 12}}}
	for _, h := range list {
		g.add(row{cells: []string{h.Hook, strings.ReplaceAll(h.State, "_", " "), Sanitize(look.shortDir(h.Path)), Sanitize(h.Reason)}})
	}
	return g.flush(w, look)
}
