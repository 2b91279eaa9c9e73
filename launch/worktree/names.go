package worktree

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"agentctl/discover"
)

// DefaultDir returns the default directory of a branch's worktree: beside the main worktree, with its name and that of the
// branch, a - for each /. Two branches may have one directory; [Repo.Create] refuses the second.
func DefaultDir(main Worktree, branch string) string {
	return basePath(main) + "-" + strings.ReplaceAll(branch, "/", "-")
}

// GroupDir is [DefaultDir] for a member of a launch group whose branch does not name the group, so that the directory does.
func GroupDir(main Worktree, group, branch string) string {
	return discover.GroupWorktreeDir(basePath(main), group, branch)
}

// basePath returns the path of the main worktree, without the .git of a bare repository's.
func basePath(main Worktree) string {
	if name, ok := strings.CutSuffix(main.Path, ".git"); ok && main.Bare && !strings.HasSuffix(name, "/") {
		return name
	}
	return main.Path
}

// NewGroupID makes the ID of a launch group: g- and six random hexadecimal digits.
func NewGroupID() string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails
	return "g-" + hex.EncodeToString(b[:])
}

// GroupBranch returns the branch of a member of a launch group. [discover.GroupOfBranch] reads it.
func GroupBranch(group, name string) string {
	return discover.GroupBranchPrefix + group + "/" + name
}
