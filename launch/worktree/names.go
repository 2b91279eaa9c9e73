package worktree

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"agentctl/discover"
)

// DefaultDir is where a worktree for a branch goes unless the user says otherwise: beside the main one, with its name and the
// branch's, a - for each /. Two branches may have one directory; [Repo.Create] refuses the second.
func DefaultDir(main Worktree, branch string) string {
	return basePath(main) + "-" + strings.ReplaceAll(branch, "/", "-")
}

// GroupDir is [DefaultDir] for a member of a launch group whose branch does not name the group: the directory does.
func GroupDir(main Worktree, group, branch string) string {
	return discover.GroupWorktreeDir(basePath(main), group, branch)
}

// basePath is the main worktree's path, of a bare repository without its .git.
func basePath(main Worktree) string {
	if name, ok := strings.CutSuffix(main.Path, ".git"); ok && main.Bare && !strings.HasSuffix(name, "/") {
		return name
	}
	return main.Path
}

// NewGroupID makes the ID of a group of launches: g- and six hexadecimal digits, at random.
func NewGroupID() string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails
	return "g-" + hex.EncodeToString(b[:])
}

// GroupBranch is the branch of one launch of a group. [discover.GroupOfBranch] reads it.
func GroupBranch(group, name string) string {
	return discover.GroupBranchPrefix + group + "/" + name
}
