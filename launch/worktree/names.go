package worktree

import (
	"crypto/rand"
	"encoding/hex"
	"strings"

	"agentctl/discover"
)

// Dir is where a worktree for a branch goes unless a person says otherwise: beside the main one, with its name and the
// branch's, a - for each /. Two branches may have one directory; [Repo.Create] refuses the second.
func Dir(main Worktree, branch string) string {
	base := main.Path
	if name, ok := strings.CutSuffix(base, ".git"); ok && main.Bare && !strings.HasSuffix(name, "/") {
		base = name
	}
	return base + "-" + strings.ReplaceAll(branch, "/", "-")
}

// NewGroup makes the ID of a group of launches: g- and six hexadecimal digits, at random.
func NewGroup() string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails
	return "g-" + hex.EncodeToString(b[:])
}

// GroupBranch is the branch of one launch of a group. [discover.GroupOfBranch] reads it.
func GroupBranch(group, name string) string {
	return discover.GroupBranches + group + "/" + name
}
