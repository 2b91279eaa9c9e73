package output

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// Worktree is the JSON object of a git worktree: what git reports, and the live sessions in it.
type Worktree struct {
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
	Head   string `json:"head,omitempty"`
	// Main: the main worktree of the repository. Bare: the repository has no working files.
	Main     bool `json:"main"`
	Bare     bool `json:"bare"`
	Detached bool `json:"detached"`
	// HalfMade: `git worktree add` has not finished: it is running, or was killed.
	HalfMade    bool   `json:"halfMade"`
	Locked      bool   `json:"locked"`
	LockReason  string `json:"lockReason,omitempty"`
	Prunable    bool   `json:"prunable"`
	PruneReason string `json:"pruneReason,omitempty"`
	// Group is the launch group for which the branch was created.
	Group string `json:"group,omitempty"`
	// Sessions are the live sessions in the worktree.
	Sessions []Session `json:"sessions"`
}

// CleanResult is the JSON object of one worktree or branch that worktree clean considered for removal.
type CleanResult struct {
	// Path is "" for a branch without a worktree.
	Path   string `json:"path,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Result is removed, planned, refused or failed.
	Result string `json:"result"`
	// BranchDeleted: the branch was deleted as well.
	BranchDeleted bool `json:"branchDeleted"`
	// Reasons say why the removal was refused; Message is the error if it failed.
	Reasons []CleanReason `json:"reasons"`
	Message string        `json:"message,omitempty"`
}

// CleanReason is one reason against removal: a code and a sentence.
type CleanReason struct {
	Why     string `json:"why"`
	Message string `json:"message"`
}

// shortHashLen is the number of digits of a commit hash in a table, as in the output of git for most repositories.
const shortHashLen = 9

// WorktreeTable writes a header, and one row a worktree.
func WorktreeTable(w io.Writer, list []Worktree, opts TextOptions) error {
	var fullIDs []SessionID
	for _, t := range list {
		for _, s := range t.Sessions {
			fullIDs = append(fullIDs, newSessionID(s.Adapter, s.ID))
		}
	}
	ids := opts.ShortIDs(fullIDs)
	sessions := make([]string, len(list))
	for i, t := range list {
		var texts []string
		for _, s := range t.Sessions {
			texts = append(texts, fmt.Sprintf("%s %s %s", s.Adapter, cmp.Or(ids[0], "-"), s.Status))
			ids = ids[1:]
		}
		sessions[i] = strings.Join(texts, ", ")
	}
	return newGrid(
		len(list),
		column{title: "PATH", cell: func(i int) string { return Sanitize(opts.shortDir(list[i].Path)) }, keepEnd: true, min: 20},
		column{title: "BRANCH", cell: func(i int) string { return Sanitize(cmp.Or(list[i].Branch, "-")) }, dropLate: 2, min: 12},
		column{title: "HEAD", cell: func(i int) string { return list[i].Head[:min(len(list[i].Head), shortHashLen)] }, dropEarly: 1},
		column{title: "STATE", cell: func(i int) string { return Sanitize(strings.Join(list[i].states(), ", ")) }, dropLate: 3, min: 20},
		column{title: "SESSIONS", cell: func(i int) string { return sessions[i] }, dropLate: 1, min: 30},
	).print(w, opts)
}

// states returns what is special about the worktree, such as "locked (reason)".
func (t Worktree) states() []string {
	var out []string
	for _, state := range []struct {
		is     bool
		name   string
		reason string
	}{
		{t.Main, "main", ""},
		{t.Bare, "bare", ""},
		{t.Detached, "detached", ""},
		{t.HalfMade, "half made", ""},
		{t.Locked && !t.HalfMade, "locked", t.LockReason},
		{t.Prunable, "prunable", t.PruneReason},
	} {
		switch {
		case state.is && state.reason != "":
			out = append(out, fmt.Sprintf("%s (%s)", state.name, state.reason))
		case state.is:
			out = append(out, state.name)
		}
	}
	return out
}
