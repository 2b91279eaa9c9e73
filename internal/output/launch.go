package output

import (
	"cmp"
	"io"
)

// LaunchResult is the JSON object of one launch of a group.
type LaunchResult struct {
	// Name identifies the launch within its group.
	Name    string `json:"name"`
	Adapter string `json:"adapter"`
	Model   string `json:"model,omitempty"`
	Group   string `json:"group"`
	// Branch and CWD describe the worktree that was created for the launch.
	Branch string `json:"branch,omitempty"`
	CWD    string `json:"cwd,omitempty"`
	// Session is absent if no session was proven; Error says why.
	Session *Session `json:"session,omitempty"`
	Error   string   `json:"error,omitempty"`
	// Answer is the answer of the session, as in [Session].
	Answer string `json:"answer,omitempty"`
}

// LaunchTable writes a header, and one row a launch: its name, its session ID or -, its branch and its directory.
func LaunchTable(w io.Writer, launches []LaunchResult, opts TextOptions) error {
	g := grid{columns: []column{
		{header: "NAME", preferred: 20, min: 12}, {header: "ID"}, {header: "BRANCH", dropOrder: 1, preferred: 24, min: 12}, {header: "DIR", keepEnd: true, preferred: 24, min: 12},
	}}
	fullIDs := make([]SessionID, len(launches))
	for i, l := range launches {
		if l.Session != nil {
			fullIDs[i] = newSessionID(l.Adapter, l.Session.ID)
		}
	}
	ids := opts.ShortIDs(fullIDs)
	for i, l := range launches {
		dir := l.CWD
		if opts.Width > 0 {
			dir = opts.shortDir(dir)
		}
		g.add(row{cells: []string{Sanitize(l.Name), cmp.Or(ids[i], "-"), Sanitize(l.Branch), Sanitize(dir)}})
	}
	return g.print(w, opts)
}
