package output

import (
	"cmp"
	"io"
)

// LaunchResult is the JSON object of one launch of a group.
type LaunchResult struct {
	// Host is the machine of the session; absent for this one.
	Host string `json:"host,omitempty"`
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
	ids := shortIDsOf(opts, launches, func(l LaunchResult) SessionID {
		if l.Session == nil {
			return SessionID{}
		}
		return newSessionID(l.Adapter, l.Session.ID)
	})
	dir := func(dir string) string {
		if opts.Width > 0 {
			return opts.shortDir(dir)
		}
		return dir
	}
	return newGrid(
		len(launches),
		column{title: "NAME", cell: func(i int) string { return Sanitize(launches[i].Name) }, preferred: 20, min: 12},
		column{title: "ID", cell: func(i int) string { return HostPrefix(launches[i].Host) + cmp.Or(ids[i], "-") }},
		column{title: "BRANCH", cell: func(i int) string { return Sanitize(launches[i].Branch) }, dropLate: 1, preferred: 24, min: 12},
		column{title: "DIR", cell: func(i int) string { return Sanitize(dir(launches[i].CWD)) }, keepEnd: true, preferred: 24, min: 12},
	).print(w, opts)
}
