package render

import (
	"bufio"
	"io"
)

// Launch is one launch of a group, as JSON has it.
type Launch struct {
	// Name tells it from the others of the group.
	Name    string `json:"name"`
	Adapter string `json:"adapter"`
	Model   string `json:"model,omitempty"`
	Group   string `json:"group"`
	// Branch and CWD are of the worktree that was made for it.
	Branch string `json:"branch,omitempty"`
	CWD    string `json:"cwd,omitempty"`
	// Session is absent where none was proven; Error says why.
	Session *Session `json:"session,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// LaunchTable writes one line a launch: its name, the ID of its session or -, and where it works.
func LaunchTable(w io.Writer, launches []Launch) error {
	g := grid{columns: []column{{head: "NAME"}, {head: "ID"}, {head: "BRANCH"}, {head: "DIR"}}}
	for _, l := range launches {
		id := "-"
		if l.Session != nil && l.Session.ID != nil {
			id = *l.Session.ID
		}
		g.add(row{cells: []string{Clean(l.Name), Clean(id), Clean(l.Branch), Clean(l.CWD)}})
	}
	out := bufio.NewWriter(w)
	g.write(out, 0)
	return out.Flush()
}
