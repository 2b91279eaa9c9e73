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
	return newGrid(
		len(list),
		column{title: "HOOK", cell: func(i int) string { return list[i].Hook }},
		column{title: "STATE", cell: func(i int) string { return strings.ReplaceAll(list[i].State, "_", " ") }},
		column{title: "PATH", cell: func(i int) string { return Sanitize(opts.shortDir(list[i].Path)) }, dropEarly: 1, keepEnd: true},
		column{title: "REASON", cell: func(i int) string { return Sanitize(list[i].Reason) }, preferred: 40, min: 12},
	).print(w, opts)
}
