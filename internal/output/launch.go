package output

import (
	"cmp"
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
	// Answer is that of [Session].
	Answer string `json:"answer,omitempty"`
}

// LaunchTable writes one line a launch: its name, the ID of its session or -, and where it works.
func LaunchTable(w io.Writer, launches []Launch, look Look) error {
	g := grid{columns: []column{
		{head: "NAME", comfort: 20, least: 12}, {head: "ID"}, {head: "BRANCH", drop: 1, comfort: 24, least: 12}, {head: "DIR", tail: true, comfort: 24, least: 12},
	}}
	full := make([]ID, len(launches))
	for i, l := range launches {
		if l.Session != nil {
			full[i] = idOf(l.Adapter, l.Session.ID)
		}
	}
	ids := look.ShortIDs(full)
	for i, l := range launches {
		dir := l.CWD
		if look.Width > 0 {
			dir = look.dir(dir)
		}
		g.add(row{cells: []string{Clean(l.Name), cmp.Or(ids[i], "-"), Clean(l.Branch), Clean(dir)}})
	}
	return g.print(w, look)
}
