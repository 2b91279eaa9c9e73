package output

import (
	"cmp"
	"io"
)

// LaunchResult is one launch of a group, as JSON has it.
type LaunchResult struct {
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
func LaunchTable(w io.Writer, launches []LaunchResult, look TextOptions) error {
	g := grid{columns: []column{
		{header: "NAME", preferred: 20, min: 12}, {header: "ID"}, {header: "BRANCH", dropOrder: 1, preferred: 24, min: 12}, {header: "DIR", keepEnd: true, preferred: 24, min: 12},
	}}
	full := make([]SessionID, len(launches))
	for i, l := range launches {
		if l.Session != nil {
			full[i] = newSessionID(l.Adapter, l.Session.ID)
		}
	}
	ids := look.ShortIDs(full)
	for i, l := range launches {
		dir := l.CWD
		if look.Width > 0 {
			dir = look.shortDir(dir)
		}
		g.add(row{cells: []string{Sanitize(l.Name), cmp.Or(ids[i], "-"), Sanitize(l.Branch), Sanitize(dir)}})
	}
	return g.flush(w, look)
}
