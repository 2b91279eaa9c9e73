package output

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// Worktree is a git worktree, as JSON has it: git's own facts, and who lives there.
type Worktree struct {
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
	Head   string `json:"head,omitempty"`
	// Main: the repository's own. Bare: it has no files.
	Main     bool `json:"main"`
	Bare     bool `json:"bare"`
	Detached bool `json:"detached"`
	// HalfMade: git has not finished making it; it is at work, or was killed.
	HalfMade    bool   `json:"halfMade"`
	Locked      bool   `json:"locked"`
	LockReason  string `json:"lockReason,omitempty"`
	Prunable    bool   `json:"prunable"`
	PruneReason string `json:"pruneReason,omitempty"`
	// Group is the launch group that its branch was made for.
	Group string `json:"group,omitempty"`
	// Sessions are the live ones in it.
	Sessions []Session `json:"sessions"`
}

// CleanResult is what became of a worktree or a branch that was to be removed, as JSON has it.
type CleanResult struct {
	// Path is "" where there is a branch alone.
	Path   string `json:"path,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Result is removed, planned, refused or failed; of a branch alone too.
	Result string `json:"result"`
	// BranchDeleted: so was the branch.
	BranchDeleted bool `json:"branchDeleted"`
	// Reasons are why it was refused, Message is what failed.
	Reasons []CleanReason `json:"reasons"`
	Message string        `json:"message,omitempty"`
}

// CleanReason is one reason against removing a worktree, in a word and in words.
type CleanReason struct {
	Why     string `json:"why"`
	Message string `json:"message"`
}

// shortHashLen is how many digits of a commit a table shows, as git does in most repositories.
const shortHashLen = 9

// WorktreeTable writes one row a worktree, with a heading.
func WorktreeTable(w io.Writer, list []Worktree, look TextOptions) error {
	g := grid{columns: []column{
		{header: "PATH", keepEnd: true, min: 20},
		{header: "BRANCH", dropOrder: 2, min: 12},
		{header: "HEAD", dropOrder: optional},
		{header: "STATE", dropOrder: 3, min: 20},
		{header: "SESSIONS", dropOrder: 1, min: 30},
	}}
	var full []SessionID
	for _, t := range list {
		for _, s := range t.Sessions {
			full = append(full, newSessionID(s.Adapter, s.ID))
		}
	}
	ids := look.ShortIDs(full)
	for _, t := range list {
		var who []string
		for _, s := range t.Sessions {
			who = append(who, fmt.Sprintf("%s %s %s", s.Adapter, cmp.Or(ids[0], "-"), s.Status))
			ids = ids[1:]
		}
		g.add(row{cells: []string{
			Sanitize(look.shortDir(t.Path)), Sanitize(cmp.Or(t.Branch, "-")), t.Head[:min(len(t.Head), shortHashLen)],
			Sanitize(strings.Join(t.states(), ", ")), strings.Join(who, ", "),
		}})
	}
	return g.flush(w, look)
}

// states are what is special about it, in words.
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
